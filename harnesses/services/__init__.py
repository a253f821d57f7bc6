"""All writes to harnesses, by what they write: versions, drafts, reviews, labels, members. The only door to change."""

from harnesses.services.drafts import (
    MAX_NAME_CHARS,
    SavedDraft,
    draft_open,
    draft_save,
)
from harnesses.services.versions import (
    CommitResult,
    ImportOutcome,
    ImportPreview,
    harness_archive,
    harness_commit,
    harness_create,
    harness_import,
    harness_import_preview,
    harness_unarchive,
)

__all__ = [
    "MAX_NAME_CHARS",
    "CommitResult",
    "ImportOutcome",
    "ImportPreview",
    "SavedDraft",
    "draft_open",
    "draft_save",
    "harness_archive",
    "harness_commit",
    "harness_create",
    "harness_import",
    "harness_import_preview",
    "harness_unarchive",
]
