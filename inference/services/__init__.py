"""All writes of serving: checkpoints, deployments, sessions and turns.

Sessions and turns are records of their own (who, when, what) and come by the thousand: they leave no audit rows. Checkpoints
and deployments do.
"""

from inference.services.checkpoints import checkpoint_register
from inference.services.deployments import deployment_probe, deployment_register
from inference.services.sessions import session_close, session_start
from inference.services.turns import turn_take

__all__ = [
    "checkpoint_register",
    "deployment_probe",
    "deployment_register",
    "session_close",
    "session_start",
    "turn_take",
]
