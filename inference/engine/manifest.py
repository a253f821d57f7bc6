"""`tackroom.json`: what a prepared model folder was made from, and what it must hold."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

MANIFEST = "tackroom.json"


class ModelManifest(BaseModel):
    """Provenance of a model folder.

    Hashes are SHA-256 in hex: of the source file, of the weights (`content_hash`), of tokenizer.json. `files` maps every file of
    the folder to its size in bytes. `converter` changes whenever the conversion does, so that old folders are made anew.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    converter: str
    source: str
    source_hash: str
    content_hash: str
    tokenizer_hash: str
    dtype: str
    license: str
    files: dict[str, int]


def read_manifest(folder: Path) -> ModelManifest | None:
    """The manifest of a model folder; None where it has none or one that cannot be read."""
    try:
        return ModelManifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValidationError):
        return None


def file_hash(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def weights_hash(folder: Path) -> str:
    """SHA-256 over the weight files of a model folder: the file's own for one file, else over names and hashes in order."""
    files = sorted(folder.glob("*.safetensors"))
    if len(files) == 1:
        return file_hash(files[0])
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name} {file_hash(file)}\n".encode())
    return digest.hexdigest()


def folder_size(folder: Path) -> int:
    """Bytes of all files of a model folder, sub-folders included."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
