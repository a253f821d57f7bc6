"""All writes to harnesses, by what they write: versions, drafts, reviews, labels, members. The only door to change."""

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
    "CommitResult",
    "ImportOutcome",
    "ImportPreview",
    "harness_archive",
    "harness_commit",
    "harness_create",
    "harness_import",
    "harness_import_preview",
    "harness_unarchive",
]
