"""All writes to harnesses, by what they write: versions, drafts, reviews, labels, members. The only door to change."""

from harnesses.services.drafts import (
    MAX_NAME_CHARS,
    SavedDraft,
    draft_open,
    draft_save,
)
from harnesses.services.labels import (
    MoveResult,
    label_move,
    label_protect,
    label_remove,
    label_undo,
)
from harnesses.services.members import (
    harness_update,
    member_remove,
    member_set,
)
from harnesses.services.releases import (
    freeze_cancel,
    freeze_create,
    may_freeze_all,
    release_cancel,
    release_run_due,
    release_schedule,
)
from harnesses.services.review_threads import (
    thread_open,
    thread_reopen,
    thread_reply,
    thread_resolve,
)
from harnesses.services.reviews import (
    review_decide,
    review_follow_commit,
    review_renew,
    review_request,
    review_withdraw,
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
    "MoveResult",
    "SavedDraft",
    "draft_open",
    "draft_save",
    "freeze_cancel",
    "freeze_create",
    "harness_archive",
    "harness_commit",
    "harness_create",
    "harness_import",
    "harness_import_preview",
    "harness_unarchive",
    "harness_update",
    "label_move",
    "label_protect",
    "label_remove",
    "label_undo",
    "may_freeze_all",
    "member_remove",
    "member_set",
    "release_cancel",
    "release_run_due",
    "release_schedule",
    "review_decide",
    "review_follow_commit",
    "review_renew",
    "review_request",
    "review_withdraw",
    "thread_open",
    "thread_reopen",
    "thread_reply",
    "thread_resolve",
]
