"""Small harnesses over the `demo_catalogue` of the shared fixtures, as plain documents and as specs."""

from __future__ import annotations

import json
from typing import Any

from harnesses.core.parsing import spec_from_document
from harnesses.core.spec import HarnessSpec


def sample_document(*, rules: str = "Answer in one sentence.", tool_name: str = "get_price") -> dict[str, Any]:
    """A harness with one section and one tool bound to `get_price`."""
    return {
        "schema_version": 1,
        "prompt": [{"id": "rules", "title": "Rules", "body": rules}],
        "tools": [
            {
                "id": "price",
                "name": tool_name,
                "description": "Looks up what an item costs.",
                "input_schema": {
                    "type": "object",
                    "properties": {"item_id": {"type": "string", "description": "The item's id."}},
                    "required": ["item_id"],
                    "additionalProperties": False,
                },
                "binding": {
                    "cases": [{"operation": "get_price", "arguments": [{"argument": "item_id", "path": ["item_id"]}]}]
                },
            }
        ],
    }


def sample_spec(**changes: str) -> HarnessSpec:
    """`sample_document` as a spec."""
    return spec_from_document(sample_document(**changes))


def broken_document() -> dict[str, Any]:
    """A well-shaped harness with an error: its tool is bound to an operation that does not exist."""
    document = sample_document()
    document["tools"][0]["binding"]["cases"][0]["operation"] = "no_such_operation"
    return document


def many_tools(count: int) -> dict[str, Any]:
    """A harness with `count` tools that differ in id and name."""
    document = sample_document()
    tool = json.dumps(document["tools"][0])
    document["tools"] = [{**json.loads(tool), "id": f"price-{n}", "name": f"get_price_{n}"} for n in range(count)]
    return document
