"""What the editor's scripts must know of harnesses, in one JSON document, so that no rule is written twice.

The shape of a harness (JSON Schema), what templates may say, and what fits together in a hook. It depends on the code alone.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache

from harnesses.core.checks_hooks import ACTIONS_BY_EVENT, FIELDS_BY_EVENT, SLOTS_BY_EVENT, TOOL_EVENTS
from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import HarnessSpec
from harnesses.core.template_functions import FUNCTION_NAMES
from harnesses.core.template_rules import FILTER_NAMES
from harnesses.core.templates import CONTEXT_SCHEMA, MAX_TEMPLATE_CHARS


def language_document() -> JsonObject:
    """`spec_schema`, `templates` (context schema, functions, filters, longest text in characters) and `hooks` (what fits)."""
    return {
        "spec_schema": HarnessSpec.model_json_schema(),
        "templates": {
            "context": CONTEXT_SCHEMA,
            "functions": dict(FUNCTION_NAMES),
            "filters": list(FILTER_NAMES),
            "max_chars": MAX_TEMPLATE_CHARS,
        },
        "hooks": {
            "actions_by_event": {event: list(items) for event, items in ACTIONS_BY_EVENT.items()},
            "slots_by_event": {event: list(items) for event, items in SLOTS_BY_EVENT.items()},
            "fields_by_event": {event: list(items) for event, items in FIELDS_BY_EVENT.items()},
            "tool_events": list(TOOL_EVENTS),
        },
    }


@lru_cache(maxsize=1)
def language_json() -> tuple[bytes, str]:
    """The document as JSON, and a strong ETag for it."""
    body = json.dumps(language_document(), ensure_ascii=False).encode()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'
