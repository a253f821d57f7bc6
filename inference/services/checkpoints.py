"""Writing checkpoints."""

from __future__ import annotations

from pathlib import Path

from django.contrib.auth.models import AbstractUser
from django.db import transaction

from inference.engine.diagnosis import model_dir_problem
from inference.engine.manifest import file_hash, folder_size, read_manifest, weights_hash
from inference.models import Checkpoint
from ledger.errors import Conflict, Invalid
from ledger.services import audit_record, checked_text


@transaction.atomic
def checkpoint_register(
    *,
    name: str,
    served_name: str,
    path: str | Path | None = None,
    kind: str = Checkpoint.Kind.BASE,
    base: Checkpoint | None = None,
    notes: str = "",
    acting_user: AbstractUser | None,
) -> Checkpoint:
    """Make a checkpoint known. `path` is its folder on this machine; None: the weights are elsewhere, behind an engine's URL.

    The same name with the same weights is the same checkpoint: it is returned, its path brought up to date. Raises Invalid for a
    folder that is no whole model, Conflict for a name that stands for other weights.
    """
    name = checked_text("name", name, max_chars=120, is_required=True)
    served_name = checked_text("served_name", served_name, max_chars=200, is_required=True)
    notes = checked_text("notes", notes, max_chars=10_000)
    if kind not in Checkpoint.Kind.values:
        raise Invalid.field("kind", f'There is no kind "{kind}".', f"Choose among {', '.join(Checkpoint.Kind.values)}.")
    if (kind == Checkpoint.Kind.BASE) != (base is None):
        raise Invalid.field("base", "Adapters and merged checkpoints have a base checkpoint, base models have none.")
    weights = _Weights.of(Path(path), kind) if path is not None else _Weights()
    existing = Checkpoint.objects.select_for_update().filter(name=name).first()
    if existing is not None:
        return _renewed(existing, served_name, weights, acting_user)
    checkpoint = Checkpoint.objects.create(
        name=name, kind=kind, served_name=served_name, base=base, notes=notes, **weights.columns()
    )
    audit_record(
        action="checkpoint.registered",
        acting_user=acting_user,
        object_type="checkpoint",
        object_id=checkpoint.pk,
        object_label=name,
        after={"kind": kind, "served_name": served_name, **weights.columns()},
    )
    return checkpoint


class _Weights:
    """Where the weights lie and what they are; all empty for weights that are elsewhere."""

    def __init__(self, path: str = "", content_hash: str = "", tokenizer_hash: str = "", size_bytes: int = 0) -> None:
        self.path = path
        self.content_hash = content_hash
        self.tokenizer_hash = tokenizer_hash
        self.size_bytes = size_bytes

    @classmethod
    def of(cls, folder: Path, kind: str) -> _Weights:
        folder = folder.absolute()
        if kind != Checkpoint.Kind.ADAPTER and (problem := model_dir_problem(folder)):
            raise Invalid.field("path", problem)
        if not folder.is_dir() or not any(folder.glob("*.safetensors")):
            raise Invalid.field("path", f"{folder} holds no *.safetensors weights.", "Name the checkpoint's folder.")
        manifest = read_manifest(folder)
        content_hash = manifest.content_hash if manifest else weights_hash(folder)
        tokenizer = folder / "tokenizer.json"
        tokenizer_hash = manifest.tokenizer_hash if manifest else file_hash(tokenizer) if tokenizer.is_file() else ""
        return cls(str(folder), content_hash, tokenizer_hash, folder_size(folder))

    def columns(self) -> dict[str, str | int]:
        return {
            "path": self.path,
            "content_hash": self.content_hash,
            "tokenizer_hash": self.tokenizer_hash,
            "size_bytes": self.size_bytes,
        }


def _renewed(
    checkpoint: Checkpoint, served_name: str, weights: _Weights, acting_user: AbstractUser | None
) -> Checkpoint:
    if checkpoint.content_hash and weights.content_hash and checkpoint.content_hash != weights.content_hash:
        raise Conflict(
            f'"{checkpoint.name}" stands for other weights ({checkpoint.content_hash[:12]}, not '
            f"{weights.content_hash[:12]}). Register these under another name."
        )
    wanted: dict[str, str | int] = {"served_name": served_name}
    if weights.path:
        wanted |= weights.columns()
    before = {key: getattr(checkpoint, key) for key in wanted}
    if before == wanted:
        return checkpoint
    for key, value in wanted.items():
        setattr(checkpoint, key, value)
    checkpoint.save(update_fields=list(wanted))
    audit_record(
        action="checkpoint.updated",
        acting_user=acting_user,
        object_type="checkpoint",
        object_id=checkpoint.pk,
        object_label=checkpoint.name,
        before=before,
        after=wanted,
    )
    return checkpoint
