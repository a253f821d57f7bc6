"""A small but whole shop harness for the pages, and the people, versions, engine and sessions that show it.

Everything is made through the services, as in real life.
"""

from __future__ import annotations

from typing import Any

from harnesses.core.spec import (
    AddContext,
    ArgumentMap,
    BindingCase,
    CheckReply,
    Condition,
    Deny,
    HarnessSpec,
    Hook,
    PromptSection,
    ResultField,
    ResultMap,
    RuntimeSettings,
    ScaleConversion,
    Skill,
    Tool,
    ToolBinding,
)
from livestream.operations import CATALOGUE
from livestream.world import DEMO_SHOP

SLUG = "stream-host"
TITLE = "Stream host assistant"
WORLD = DEMO_SHOP
ON_SHOW = "{% if item %}{{ item.name }} ({{ item.id }}){% else %}Nothing{% endif %}"


def bound_tool(
    tool_id: str, name: str, operation: str, description: str, arguments: dict[str, str], **more: Any
) -> Tool:
    """A tool over one operation; `arguments` maps parameter names to operation arguments."""
    source = CATALOGUE[operation]
    properties = {name: source.input_schema["properties"][target] for name, target in arguments.items()}
    required = [name for name, target in arguments.items() if target in source.required_arguments]
    case = BindingCase(
        operation=operation,
        arguments=tuple(ArgumentMap(argument=target, path=(name,)) for name, target in arguments.items()),
        result=more.pop("result", ResultMap()),
    )
    return Tool(
        id=tool_id,
        name=name,
        title=source.title,
        description=description,
        input_schema={"type": "object", "properties": properties, "required": required},
        binding=ToolBinding(cases=(case,)),
        **more,
    )


def price_tool(name: str = "get_price") -> Tool:
    """The price tool, shown in yuan."""
    yuan = ResultField(path=("total_minor",), name="total_yuan", conversion=ScaleConversion(factor="0.01"))
    return bound_tool(
        "price",
        name,
        "get_price",
        "What an item costs after coupons.",
        {"item": "item", "quantity": "quantity"},
        result=ResultMap(fields=(yuan,)),
    )


def sample_spec(
    *, price_name: str = "get_price", greeting: str = "Answer in one or two short sentences."
) -> HarnessSpec:
    """The harness; another `price_name` is a tool renamed, another `greeting` a section reworded."""
    return HarnessSpec(
        prompt=(
            PromptSection(
                id="role",
                title="Your role",
                body=f"You help {{{{ host.name }}}} answer viewers in the live room of {{{{ shop.name }}}}. {greeting}",
            ),
            PromptSection(
                id="rules",
                title="Rules",
                body="Never promise a price that {{ tool('price') }} did not give. Never promise a delivery date.",
                is_policy=True,
            ),
            PromptSection(
                id="now",
                title="On show now",
                body=ON_SHOW,
            ),
        ),
        skills=(
            Skill(
                id="sizing",
                name="size-advice",
                description="Help a viewer to find the right size.",
                body="Ask for height and weight, then read the size chart of the item and name one size.",
                allowed_tools=("details",),
                risk="medium",
            ),
        ),
        tools=(
            price_tool(price_name),
            bound_tool("stock", "check_stock", "get_stock", "Whether an item can be bought now.", {"item": "item"}),
            bound_tool("details", "item_details", "get_item", "Everything about one item.", {"item_id": "item"}),
            bound_tool("card", "show_card", "push_item_card", "Show an item's card to the room.", {"item": "item"}),
        ),
        hooks=(
            Hook(
                id="no-refunds",
                name="Refunds go to a human",
                event="UserPromptSubmit",
                when=(Condition(field="comment", op="contains_any", values=("refund", "money back")),),
                action=Deny(reason="A colleague will help you with that in a moment."),
            ),
            Hook(
                id="fresh-price",
                name="Say that prices may change",
                event="PostToolUse",
                matcher=("price",),
                action=AddContext(
                    text="Prices hold for this stream only.", slot="tool_result_suffix", wrapper="bracket"
                ),
            ),
            Hook(
                id="no-guarantee",
                name="No guarantees",
                event="Stop",
                action=CheckReply(
                    mode="forbid", phrases=("guarantee",), on_violation="revise", message="Do not guarantee anything."
                ),
            ),
        ),
        runtime=RuntimeSettings(call_format="plain", deadline_ms=8_000),
    )
