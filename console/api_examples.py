"""Examples in the API's schema, in the names of the demo: its harness, people and team.

By the name of a part of the address, and by the name of a request's body; a test sees to it that none is left out and that each
has the shape it stands for.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from harnesses.core.jsonvalues import JsonObject, JsonValue

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_SECTION: Final[JsonObject] = {"id": "rules", "title": "Rules", "body": "Answer in one sentence."}
_DOCUMENT: Final[JsonObject] = {"schema_version": 1, "prompt": [_SECTION]}
_TOOL: Final[JsonObject] = {
    "id": "price",
    "name": "get_price",
    "description": "Looks up what an item costs now.",
    "input_schema": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
    "binding": {"cases": [{"operation": "get_price", "arguments": [{"argument": "item_id", "path": ["item"]}]}]},
}
_EDITS: Final[list[JsonObject]] = [
    {"op": "set", "kind": "prompt", "id": "rules", "fields": {"body": "Answer in two sentences at most."}}
]


def _days_ahead(days: int) -> str:
    """A time that is still to come when the page of the API is read, so that the example can be tried out."""
    return (datetime.now(UTC) + timedelta(days=days)).strftime("%Y-%m-%dT08:00:00Z")


PATH_EXAMPLES: Final[dict[str, str]] = {
    "slug": "demo-shop",
    "number": "1",
    "draft_id": "1",
    "review_id": "1",
    "thread_id": "1",
    "release_id": "1",
    "freeze_id": "1",
    "session_id": "6d55536c-8c06-44b1-97ba-96ad0fae0d36",
    "kind": "team",
}
NAMES: Final[dict[str, str]] = {
    "/api/v1/teams/": "night-shift",
    "/api/v1/harnesses/{slug}/members/": "night-shift",
    "/api/v1/harnesses/{slug}/operations/": "get_price",
    "/api/v1/harnesses/{slug}/labels/": "production",
}
"""What `name` is, or the slug of a team, by how the address begins."""

BODY_EXAMPLES: Final[dict[str, JsonValue]] = {
    "Apply": {"document": _DOCUMENT, "edits": _EDITS},
    "CommentRequest": {"body": "Said so in the text now."},
    "Commit": {"spec": _DOCUMENT, "message": "Shorter answers", "expected_number": 1},
    "DecisionRequest": {"verdict": "approve", "reason": "Reads well.", "number": 2},
    "Document": {"document": _DOCUMENT},
    "DraftCommit": {"message": "Shorter answers", "revision": 2},
    "DraftCreate": {"name": "Shorter answers", "from_version": 1},
    "DraftReason": {"reason": "Not this week."},
    "ExampleResultRequest": {"tool": _TOOL, "case": 0},
    "Fork": {"slug": "demo-shop-night", "title": "Demo shop at night", "number": 1},
    "FreezeCreate": {
        "starts_at": _days_ahead(30),
        "ends_at": _days_ahead(32),
        "reason": "No changes during the sale.",
    },
    "HarnessCreate": {
        "slug": "autumn-sale",
        "title": "Autumn sale",
        "world": "demo-shop",
        "description": "For November.",
    },
    "Mentions": {
        "document": {**_DOCUMENT, "tools": [_TOOL]},
        "kind": "tool",
        "component_id": "price",
        "new_name": "ask_price",
    },
    "Merge": {"document": _DOCUMENT, "base_revision": 1},
    "MergeFrom": {"slug": "demo-shop-night", "number": 2},
    "Move": {"number": 2, "reason": "Approved on Monday.", "confirm": "production"},
    "PatchedEdits": {"edits": _EDITS},
    "PatchedHarnessUpdate": {"title": "Demo shop host", "min_approvals": 2},
    "PatchedProtect": {"is_protected": True, "reason": "Customers see it."},
    "PatchedTeamUpdate": {"members": ["operator", "ml"]},
    "Reason": {"reason": "The sale is over."},
    "ReleaseCreate": {
        "label": "production",
        "number": 2,
        "due_at": _days_ahead(7),
        "reason": "Goes live with the morning stream.",
        "confirm": "production",
    },
    "Renew": {"number": 3, "message": "With your remarks."},
    "Restore": {"revision": 1},
    "Revert": {"message": "Back to what worked", "expected_number": 2},
    "ReviewRequest": {"number": 2, "message": "Shorter answers for the sale.", "reviewers": ["reviewer"]},
    "Role": {"role": "operator", "reason": "Works on the night stream."},
    "Search": {"document": _DOCUMENT, "find": "sentence", "is_case_sensitive": False, "kinds": ["prompt", "skill"]},
    "SessionCreate": {"harness": "demo-shop", "viewer": "mia", "seed": 7},
    "TeamCreate": {"slug": "day-shift", "name": "Day shift", "members": ["operator"]},
    "ThreadRequest": {
        "body": "Two sentences are too long on a phone.",
        "component_kind": "prompt",
        "component_id": "rules",
        "field": "body",
        "line": 1,
    },
    "TurnCreate": {"comment": "How much is the rain jacket?"},
    "Undo": {"reason": "Prices were wrong.", "confirm": "production"},
    "Withdraw": {"reason": "Not needed any more."},
}


def add_examples(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A spectacular post-processing hook: every part of an address and every JSON body has an example."""
    schemas = result.get("components", {}).get("schemas", {})
    for name, example in BODY_EXAMPLES.items():
        if name in schemas:
            schemas[name].setdefault("example", example)
    for path, methods in result.get("paths", {}).items():
        for method in _METHODS:
            for parameter in methods.get(method, {}).get("parameters", ()):
                if parameter["in"] == "path":
                    parameter.setdefault("example", path_example(path, parameter["name"]))
    return result


def path_example(path: str, name: str) -> str | None:
    """The example of a part of an address; None where there is none yet."""
    if name == "name" or path.startswith("/api/v1/teams/"):
        return next((example for start, example in NAMES.items() if path.startswith(start)), None)
    return PATH_EXAMPLES.get(name)
