"""Why an engine cannot start, or stopped: read from the model folder, the port, the exit status and the last lines of its log."""

from __future__ import annotations

import json
import re
import signal
import socket
import struct
from dataclasses import dataclass
from pathlib import Path

from inference.engine.config import EngineConfig
from inference.engine.manifest import MANIFEST, read_manifest

REQUIRED_FILES = ("config.json", "tokenizer.json", "tokenizer_config.json")
_HOW_TO_MEND = "Prepare it again: python -m inference.engine.prepare_model --out {path}"

_OUT_OF_MEMORY = re.compile(
    r"out of memory|OutOfMemoryError|MemoryError|Cannot allocate memory|No available memory for the cache blocks"
    r"|std::bad_alloc|less than desired GPU memory utilization|DefaultCPUAllocator: can't allocate",
    re.IGNORECASE,
)
_ADDRESS_IN_USE = re.compile(r"address already in use|Errno 98\b", re.IGNORECASE)
_MISSING_MODULE = re.compile(r"(?:ModuleNotFoundError|ImportError): (?P<what>.+)")
_BAD_ARGUMENT = re.compile(r"error: (?P<what>unrecognized arguments: .+|argument .+)")
_ERROR_LINE = re.compile(r"(?:[A-Za-z_.]*(?:Error|Exception)\b): (?P<what>.+)")


@dataclass(frozen=True)
class Fault:
    """What is wrong and what to do. `is_final`: starting again cannot help."""

    message: str
    is_final: bool


def find_fault_before_start(config: EngineConfig) -> Fault | None:
    """What would keep this engine from starting: a model folder that is not whole, or a taken port."""
    if config.engine == "vllm" and config.model_dir is not None and (problem := model_dir_problem(config.model_dir)):
        return Fault(problem, is_final=True)
    if not is_port_free(config.host, config.port):
        return Fault(
            f"Port {config.port} on {config.host} is taken by another program. Stop that program, or choose another port.",
            is_final=True,
        )
    return None


def is_port_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    try:
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        return False
    with socket.socket(address[0], socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address[4])
        except OSError:
            return False
    return True


def model_dir_problem(path: Path) -> str | None:
    """Why the folder is no complete Hugging Face model; None where it is."""
    mend = _HOW_TO_MEND.format(path=path)
    if not path.is_dir():
        return f"There is no model folder {path}. {mend}"
    missing = [name for name in REQUIRED_FILES if not (path / name).is_file()]
    if missing:
        return f"The model folder {path} is not whole: {', '.join(missing)} missing. {mend}"
    weights = sorted(path.glob("*.safetensors"))
    if not weights:
        return f"The model folder {path} holds no *.safetensors weights. {mend}"
    for file in weights:
        if (expected := safetensors_size(file)) is None:
            return f"{file} is no safetensors file. {mend}"
        if (found := file.stat().st_size) != expected:
            return f"{file} is cut off: {found:,} bytes of {expected:,}. {mend}"
    return _manifest_problem(path, mend)


def _manifest_problem(path: Path, mend: str) -> str | None:
    if not (path / MANIFEST).is_file():
        return None
    manifest = read_manifest(path)
    if manifest is None:
        return f"{path / MANIFEST} cannot be read. {mend}"
    for name, size in manifest.files.items():
        file = path / name
        if not file.is_file() or file.stat().st_size != size:
            return f"{file} is not the file that was written ({size:,} bytes). {mend}"
    return None


def safetensors_size(path: Path) -> int | None:
    """How long the file must be by its own header; None where it has none.

    The format: eight bytes with the header's length (little endian), a JSON header with the offsets of every tensor, the data.
    """
    try:
        with path.open("rb") as file:
            (header_bytes,) = struct.unpack("<Q", file.read(8))
            if not 2 <= header_bytes <= 100_000_000:
                return None
            header = json.loads(file.read(header_bytes))
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    except (struct.error, ValueError, KeyError, TypeError, AttributeError):
        return None
    return 8 + header_bytes + max(ends, default=0)


def explain_exit(returncode: int, log_tail: str) -> Fault:
    """Why the engine's process ended, from its exit status (negative: a signal) and the end of its log."""
    if _OUT_OF_MEMORY.search(log_tail):
        return Fault(
            "The engine ran out of memory. Free some, or set a smaller max_model_len, kv_cache_gib or max_num_seqs.",
            is_final=False,
        )
    if returncode in (-signal.SIGKILL, 128 + signal.SIGKILL):
        return Fault(
            "The engine was killed (SIGKILL), most likely because the machine ran out of memory. Free some, or set a smaller "
            "max_model_len or kv_cache_gib.",
            is_final=False,
        )
    if _ADDRESS_IN_USE.search(log_tail):
        return Fault("The engine's port is taken by another program. Stop it, or choose another port.", is_final=True)
    if match := _MISSING_MODULE.search(log_tail):
        return Fault(
            f"The engine's packages are not complete: {match['what'][:200]}. Run `make install`.", is_final=True
        )
    if match := _BAD_ARGUMENT.search(log_tail):
        return Fault(
            f"The engine refused its options: {match['what'][:200]}. Mend `extra` in its config.", is_final=True
        )
    how = f"signal {signal.Signals(-returncode).name}" if returncode < 0 else f"exit status {returncode}"
    causes = list(_ERROR_LINE.finditer(log_tail))
    cause = f": {causes[-1].group(0)[:300]}" if causes else ""
    return Fault(f"The engine stopped ({how}){cause}. Its log says more.", is_final=False)


def read_log_tail(path: Path, *, start: int = 0, max_bytes: int = 16_384) -> str:
    """The end of a log file as text, from byte `start` on at the earliest; empty where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(start, file.tell() - max_bytes, 0))
            return file.read().decode("utf-8", "replace")
    except OSError:
        return ""
