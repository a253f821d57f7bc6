"""`python -m inference.engine`: run the engine's supervisor in the foreground until SIGTERM, SIGINT or a failure that stays.

    python -m inference.engine --config .tackroom/engine/config.json
    python -m inference.engine --profile cpu --model-dir .tackroom/models/smollm2 --port 8001

Exit status: 0 stopped on request, 1 the engine failed, 2 the config is wrong or a supervisor already runs.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from inference.engine.config import EngineConfig, EngineConfigError, load_config, resolve_config
from inference.engine.status import EngineStatus
from inference.engine.supervisor import Supervisor, SupervisorError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m inference.engine", description="Start and watch the model engine.")
    parser.add_argument("--config", type=Path, help="a saved config.json; other options are then not allowed")
    parser.add_argument("--engine", choices=["vllm", "null"], help="null: a scripted stand-in without a model")
    parser.add_argument("--profile", choices=["cpu", "cuda"], help="default: by what this machine has")
    parser.add_argument("--model-dir", type=Path, help="folder of a Hugging Face model")
    parser.add_argument("--served-name", help="model name that clients ask for (default: base)")
    parser.add_argument("--host", help="default: 127.0.0.1")
    parser.add_argument("--port", type=int, help="default: 8001")
    parser.add_argument("--dtype", choices=["auto", "float32", "bfloat16", "float16"])
    parser.add_argument("--max-model-len", type=int, help="tokens of prompt and reply together (default: 4096)")
    parser.add_argument("--max-num-seqs", type=int, help="requests handled side by side")
    parser.add_argument("--kv-cache-gib", type=float, help="memory for the attention cache")
    parser.add_argument("--threads", type=int, help="compute threads on a CPU (default: all cores but one)")
    parser.add_argument("--run-dir", type=Path, help="where log, state and config go (default: .tackroom/engine)")
    return parser


def _config_from(arguments: argparse.Namespace) -> EngineConfig:
    choices = {key: value for key, value in vars(arguments).items() if value is not None}
    path = choices.pop("config", None)
    if path is None:
        return resolve_config(**choices)
    if choices:
        raise EngineConfigError(f"--config stands alone; drop --{', --'.join(choices).replace('_', '-')}.")
    return load_config(path)


def _say(status: EngineStatus) -> None:
    print(f"engine {status.state}: {status.message}", flush=True)  # noqa: T201 (this is a command)


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    try:
        supervisor = Supervisor(_config_from(_parser().parse_args(argv)), on_progress=_say)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: supervisor.stop())
        return 0 if supervisor.run().state == "stopped" else 1
    except (EngineConfigError, SupervisorError) as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is a command)
        return 2


if __name__ == "__main__":
    sys.exit(main())
