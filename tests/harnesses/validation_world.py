"""A sound harness, and the words in which `validation_cases` says what is done to it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from harnesses.core.operations import OperationSpec
from harnesses.core.parsing import spec_from_document
from harnesses.core.validation import Finding, validate

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def an_object(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


CATALOGUE = {
    "price.get": OperationSpec(
        name="price.get",
        title="Price",
        description="Looks up a price.",
        input_schema=an_object(
            {"item_id": TEXT, "size": {"enum": ["S", "M"]}, "count": WHOLE, "since": TEXT}, "item_id"
        ),
        output_schema=an_object(
            {
                "price_fen": WHOLE,
                "name": TEXT,
                "rows": {"type": "array", "items": an_object({"code": TEXT, "left": WHOLE})},
            }
        ),
    ),
    "card.push": OperationSpec(
        name="card.push",
        title="Push",
        description="Pushes a card.",
        input_schema=an_object({"item_id": TEXT}, "item_id"),
        output_schema=an_object({"position": WHOLE}),
        effect="write",
    ),
}


def sound() -> dict[str, Any]:
    """A harness without any finding."""
    return {
        "schema_version": 1,
        "prompt": [{"id": "rules", "title": "Rules", "body": 'Ask {{ tool("price") }} first, see {{ skill("fit") }}.'}],
        "skills": [
            {
                "id": "fit",
                "name": "size-advice",
                "description": "How sizes run.",
                "body": "Ask.",
                "allowed_tools": ["price"],
            }
        ],
        "tools": [
            {
                "id": "price",
                "name": "get_price",
                "description": "What an item costs.",
                "input_schema": an_object({"sku": TEXT, "fit": {"enum": ["small", "medium"]}}, "sku"),
                "parameter_order": ["sku", "fit"],
                "binding": {
                    "cases": [
                        {
                            "operation": "price.get",
                            "arguments": [
                                {"argument": "item_id", "path": "sku"},
                                {
                                    "argument": "size",
                                    "path": "fit",
                                    "recode": [
                                        {"operation": "S", "surface": "small"},
                                        {"operation": "M", "surface": "medium"},
                                    ],
                                },
                            ],
                            "result": {"fields": [{"path": "price_fen", "name": "cost"}]},
                        }
                    ]
                },
            },
            {
                "id": "show",
                "name": "show_item",
                "description": "Shows an item.",
                "input_schema": an_object({"sku": TEXT}, "sku"),
                "binding": {
                    "cases": [{"operation": "card.push", "arguments": [{"argument": "item_id", "path": "sku"}]}]
                },
            },
        ],
        "hooks": [
            {
                "id": "polite",
                "name": "polite",
                "event": "Stop",
                "action": {"type": "check_reply", "mode": "forbid", "phrases": ["damn"], "on_violation": "block"},
            }
        ],
        "examples": [
            {
                "id": "first",
                "comment": "How much?",
                "calls": [{"operation": "price.get", "arguments": {"item_id": "a"}, "result": {"price_fen": 5}}],
                "reply": "It costs 5.",
            }
        ],
    }


Document = dict[str, Any]
Change = Callable[[Document], Any]


def findings_after(change: Change, prompt_tokens: int | None = None) -> tuple[Finding, ...]:
    document = sound()
    change(document)
    return validate(spec_from_document(document), CATALOGUE, prompt_tokens)


def tool(document: Document) -> Document:
    return document["tools"][0]


def case(document: Document) -> Document:
    return tool(document)["binding"]["cases"][0]


def argument(document: Document, index: int = 0) -> Document:
    return case(document)["arguments"][index]


def put(owner: Callable[[Document], Any], **values: Any) -> Change:
    """Set fields of one part of the document."""
    return lambda document: owner(document).update(values)


def schema_of(document: Document) -> Document:
    return tool(document)["input_schema"]


def add_parameter(name: str, schema: Document, *, is_required: bool = False) -> Change:
    def change(document: Document) -> None:
        schema_of(document)["properties"][name] = schema
        schema_of(document)["required"] += [name] if is_required else []

    return change


def all_of(*changes: Change) -> Change:
    def change(document: Document) -> None:
        for one in changes:
            one(document)

    return change


def runtime(**values: Any) -> Change:
    return lambda document: document.update(runtime=values)


def body(text: str) -> Change:
    return put(lambda d: d["prompt"][0], body=text)


def add_hook(event: str, action: Document, hook_id: str = "h", **fields: Any) -> Change:
    hook = {"id": hook_id, "name": hook_id, "event": event, "action": action, **fields}
    return lambda document: document["hooks"].append(copy.deepcopy(hook))


def check(mode: str, *phrases: str, then: str = "block", **fields: Any) -> Document:
    return {"type": "check_reply", "mode": mode, "phrases": list(phrases), "on_violation": then, **fields}


def rewrite(**values: Any) -> Document:
    return {"type": "rewrite_input", "set": values}


def when(event: str, **condition: Any) -> Change:
    deny, note = {"type": "deny", "reason": "No."}, {"type": "add_context", "text": "x", "slot": "system_tail"}
    return add_hook(event, deny if event in ("UserPromptSubmit", "PreToolUse") else note, when=[condition])


def a_map(name: str, path: Any, **fields: Any) -> Change:
    return lambda document: case(document)["arguments"].append({"argument": name, "path": path, **fields})


def switched(**fields: Any) -> Change:
    """The first tool with a switch over both operations."""

    def change(document: Document) -> None:
        tool(document)["input_schema"] = an_object({"do": {"enum": ["price", "push"]}, "sku": TEXT}, "do")
        tool(document)["parameter_order"] = []
        cases = [
            {"operation": name, "when": value, "arguments": [{"argument": "item_id", "path": "sku"}]}
            for name, value in (("price.get", "price"), ("card.push", "push"))
        ]
        tool(document)["binding"] = {"switch": "do", "cases": cases, **fields}
        document["examples"] = []

    return change


def shown(*fields: Document, **rest: Any) -> Change:
    return lambda document: case(document).update(result={"fields": list(fields), **rest})


def example(**fields: Any) -> Change:
    return put(lambda d: d["examples"][0], **fields)


def example_call(**fields: Any) -> Change:
    return put(lambda d: d["examples"][0]["calls"][0], **fields)
