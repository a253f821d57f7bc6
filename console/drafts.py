"""Uploads that were looked at but not committed yet: kept for an hour, each for the one person who made it.

They live in Redis, not in the page, so that a preview can be reloaded and a large file travels once.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.core.cache import cache

DRAFT_TTL_S = 3600


@dataclass(frozen=True)
class ImportDraft:
    """What was uploaded, for which harness, on top of which version (0: none yet), with the message typed so far."""

    harness_slug: str
    filename: str
    data: bytes
    message: str
    base_number: int


def draft_save(user_id: int, draft: ImportDraft) -> str:
    """Keep a draft; the key that is returned finds it again, for this user alone."""
    key = secrets.token_urlsafe(16)
    cache.set(_cache_key(user_id, key), draft, DRAFT_TTL_S)
    return key


def draft_load(user_id: int, key: str, harness_slug: str) -> ImportDraft | None:
    """The draft, or None where it is gone, somebody else's, or another harness's."""
    draft = cache.get(_cache_key(user_id, key)) if key.replace("-", "").replace("_", "").isalnum() else None
    return draft if isinstance(draft, ImportDraft) and draft.harness_slug == harness_slug else None


def draft_drop(user_id: int, key: str) -> None:
    """Forget a draft that was committed."""
    cache.delete(_cache_key(user_id, key))


def _cache_key(user_id: int, key: str) -> str:
    return f"import-draft:{user_id}:{key[:64]}"
