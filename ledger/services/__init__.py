"""All writes of the ledger, by what they write: audit entries, people and their roles, teams, API tokens."""

from ledger.services.audit import (
    MAX_REASON_CHARS,
    SYSTEM_ACTOR,
    AuditObject,
    AuditWriter,
    actor_name,
    audit_record,
    checked_text,
)
from ledger.services.people import user_create, user_set_roles
from ledger.services.teams import team_create, team_delete, team_hold, team_update
from ledger.services.tokens import CreatedToken, token_create, token_revoke, token_touch

__all__ = [
    "MAX_REASON_CHARS",
    "SYSTEM_ACTOR",
    "AuditObject",
    "AuditWriter",
    "CreatedToken",
    "actor_name",
    "audit_record",
    "checked_text",
    "team_create",
    "team_delete",
    "team_hold",
    "team_update",
    "token_create",
    "token_revoke",
    "token_touch",
    "user_create",
    "user_set_roles",
]
