"""API tokens: what they look like, what they may open, and how they are kept.

A token is `tkr_` + 8 characters that may be shown + `_` + 43 characters of secret (256 random bits). Only its SHA-256 is kept.
A plain hash is right here: slow, salted hashes protect secrets that people choose and others guess; 256 random bits cannot
be guessed, and a fast hash can be looked up through an index.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ledger.core.roles import Permission

_ALPHABET = "abcdefghijkmnpqrstuvwxyz23456789"
_PREFIX_LENGTH = 8
_SECRET_BYTES = 32
TOKEN_PATTERN = re.compile(r"^tkr_[a-z0-9]{8}_[A-Za-z0-9_-]{43}$")


class Scope(StrEnum):
    """What a token opens."""

    HARNESSES_READ = "harnesses:read"
    HARNESSES_WRITE = "harnesses:write"
    REVIEWS_WRITE = "reviews:write"
    LABELS_WRITE = "labels:write"
    SESSIONS_READ = "sessions:read"
    SESSIONS_WRITE = "sessions:write"
    AUDIT_READ = "audit:read"


SCOPE_PERMISSIONS: Mapping[Scope, Permission] = {
    Scope.AUDIT_READ: Permission.VIEW_AUDIT,
}
"""What the owner of a token must be allowed to do for the scope to open anything: a token never exceeds its owner.

Scopes of harnesses and their sessions are not here: what a person may do differs from harness to harness, and is asked of each
(`harnesses.policy`).
"""


@dataclass(frozen=True)
class TokenSecret:
    """A fresh token. `text` is shown once and never stored; `prefix` may be shown; `secret_hash` is 64 hex digits."""

    text: str = field(repr=False)
    prefix: str
    secret_hash: str


def make_token() -> TokenSecret:
    """A new random token."""
    prefix = "tkr_" + "".join(secrets.choice(_ALPHABET) for _ in range(_PREFIX_LENGTH))
    text = f"{prefix}_{secrets.token_urlsafe(_SECRET_BYTES)}"
    return TokenSecret(text=text, prefix=prefix, secret_hash=hash_token(text))


def hash_token(text: str) -> str:
    """SHA-256 of a whole token, as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
