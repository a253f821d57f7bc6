"""A small shop behind two harnesses with different faces, for the tests of templates and runtime."""

from __future__ import annotations

from typing import Any

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.operations import OperationError, OperationSpec
from harnesses.core.spec import (
    ArgumentMap,
    BindingCase,
    HarnessSpec,
    Hook,
    PromptSection,
    RecodePair,
    ResultField,
    ResultMap,
    RuntimeSettings,
    Skill,
    Tool,
    ToolBinding,
)
from harnesses.core.templates import SAMPLE_CONTEXT
from harnesses.runtime.loop import run_turn
from harnesses.runtime.testing import MemoryOperations, ScriptedChatClient
from harnesses.runtime.trace import Conversation, Trace, TurnInput

PRICE = OperationSpec(
    name="look_up_price",
    title="Look up a price",
    description="Price and stock of one item.",
    input_schema={
        "type": "object",
        "properties": {"item_id": {"type": "string"}, "currency": {"type": "string", "enum": ["CNY", "USD"]}},
        "required": ["item_id"],
    },
    output_schema={"type": "object"},
)
CARD = OperationSpec(
    name="push_card",
    title="Push an item card",
    description="Shows the card of an item to everyone in the room.",
    input_schema={"type": "object", "properties": {"item_id": {"type": "string"}}, "required": ["item_id"]},
    output_schema={"type": "object"},
    effect="write",
)


def _price(arguments: JsonObject) -> JsonObject | OperationError:
    if arguments["item_id"] != "K07":
        return OperationError("not_found", "There is no such item.", "item_id")
    return {"stock": 3, "price": 129, "currency": arguments.get("currency", "CNY")}


def _card(arguments: JsonObject) -> JsonObject | OperationError:
    if arguments["item_id"] == "BROKEN":
        raise RuntimeError("the card service fell over")
    return {"is_pushed": True}


def shop_operations(delay_s: float = 0.0) -> MemoryOperations:
    """Prices for K07 alone; cards for any item, except that BROKEN makes the operation crash."""
    return MemoryOperations.of((PRICE, _price), (CARD, _card), delay_s=delay_s)


def price_tool(**changes: Any) -> Tool:
    fields: dict[str, Any] = {
        "id": "price",
        "name": "get_price",
        "description": "Looks up price and stock of one item.",
        "input_schema": {
            "type": "object",
            "properties": {
                "item": {"type": "string", "description": "The item's id."},
                "money": {"type": "string", "enum": ["yuan", "dollar"]},
            },
            "required": ["item"],
        },
        "binding": ToolBinding(
            cases=(
                BindingCase(
                    operation="look_up_price",
                    arguments=(
                        ArgumentMap(argument="item_id", path=("item",)),
                        ArgumentMap(
                            argument="currency",
                            path=("money",),
                            recode=(
                                RecodePair(operation="CNY", surface="yuan"),
                                RecodePair(operation="USD", surface="dollar"),
                            ),
                            default="CNY",
                        ),
                    ),
                    result=ResultMap(
                        fields=(
                            ResultField(path=("price",), name="cost"),
                            ResultField(
                                path=("currency",),
                                recode=(
                                    RecodePair(operation="CNY", surface="yuan"),
                                    RecodePair(operation="USD", surface="dollar"),
                                ),
                            ),
                        )
                    ),
                ),
            )
        ),
    }
    return Tool(**(fields | changes))


def card_tool(**changes: Any) -> Tool:
    fields: dict[str, Any] = {
        "id": "card",
        "name": "show_card",
        "description": "Shows an item to the room.",
        "input_schema": {
            "type": "object",
            "properties": {"item": {"type": "string"}},
            "required": ["item"],
        },
        "binding": ToolBinding(
            cases=(BindingCase(operation="push_card", arguments=(ArgumentMap(argument="item_id", path=("item",)),)),)
        ),
    }
    return Tool(**(fields | changes))


def shop_spec(*hooks: Hook, **runtime: Any) -> HarnessSpec:
    """The shop's harness; keyword arguments are runtime settings."""
    return HarnessSpec(
        prompt=(
            PromptSection(id="role", title="Role", body="You help viewers of {{ room.title }}."),
            PromptSection(
                id="now", title="Now", body="{% if item %}On show: {{ item.name }} ({{ item.id }}).{% endif %}"
            ),
        ),
        skills=(
            Skill(
                id="sizing",
                name="size-advice",
                description="How to advise on sizes.",
                body='Ask for the height. Then use {{ tool("price") }}.',
            ),
        ),
        tools=(price_tool(), card_tool()),
        hooks=hooks,
        runtime=RuntimeSettings(**runtime),
    )


def renamed_spec(**runtime: Any) -> HarnessSpec:
    """The same shop with another face: other tool and parameter names, other values."""
    spec = shop_spec(**runtime)
    tool = price_tool(
        name="kosten_abfragen",
        input_schema={
            "type": "object",
            "properties": {"artikel": {"type": "string"}},
            "required": ["artikel"],
        },
        binding=ToolBinding(
            cases=(
                BindingCase(
                    operation="look_up_price",
                    arguments=(ArgumentMap(argument="item_id", path=("artikel",)),),
                    constants={"currency": "CNY"},
                ),
            )
        ),
    )
    return spec.model_copy(update={"tools": (tool, card_tool())})


async def answer(
    spec: HarnessSpec,
    *outputs: Any,
    comment: str = "How much is K07?",
    conversation: Conversation | None = None,
    operations: MemoryOperations | None = None,
    client: ScriptedChatClient | None = None,
    context: JsonObject | None = None,
    **options: Any,
) -> Trace:
    """Run one turn with a scripted model."""
    return await run_turn(
        spec,
        conversation or Conversation(),
        TurnInput(comment=comment, context=SAMPLE_CONTEXT if context is None else context),
        chat_client=client or ScriptedChatClient(outputs),
        operations=operations or shop_operations(),
        **options,
    )
