"""Small harnesses to compare, import and export: one written out, and arbitrary ones for hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from harnesses.core.operations import OperationSpec
from harnesses.core.spec import (
    AddContext,
    ArgumentMap,
    BindingCase,
    CheckReply,
    Deny,
    Example,
    ExampleCall,
    HarnessSpec,
    Hook,
    PromptSection,
    RecodePair,
    ResultField,
    ResultMap,
    RuntimeSettings,
    ScaleConversion,
    Skill,
    SurfaceConstant,
    Tool,
    ToolBinding,
)

CATALOGUE = {
    "get_price": OperationSpec(
        name="get_price",
        title="Look up a price",
        description="The price of an item.",
        input_schema={
            "type": "object",
            "properties": {
                "item": {"type": "string"},
                "currency": {"type": "string", "enum": ["CNY", "USD"]},
                "quantity": {"type": "integer", "minimum": 1, "default": 1},
            },
            "required": ["item"],
        },
        output_schema={"type": "object", "properties": {"price": {"type": "number"}}},
    ),
    "send_coupon": OperationSpec(
        name="send_coupon",
        title="Send a coupon",
        description="Send a coupon to the viewer.",
        input_schema={"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        output_schema={"type": "object", "properties": {"sent": {"type": "boolean"}}},
        effect="write",
    ),
}


def price_tool(**changes: Any) -> Tool:
    """The price tool of the small shop, with fields replaced."""
    fields: dict[str, Any] = {
        "id": "price",
        "name": "get_price",
        "description": "Look up the price of an item.",
        "input_schema": {
            "type": "object",
            "properties": {
                "item": {"type": "string", "description": "Id of the item."},
                "currency": {"type": "string", "enum": ["CNY", "USD"]},
            },
            "required": ["item"],
        },
        "binding": ToolBinding(
            cases=(
                BindingCase(
                    operation="get_price",
                    arguments=(
                        ArgumentMap(argument="item", path="item"),
                        ArgumentMap(argument="currency", path="currency"),
                    ),
                ),
            )
        ),
    }
    return Tool(**fields | changes)


def coupon_tool(**changes: Any) -> Tool:
    """The coupon tool of the small shop, with fields replaced."""
    fields: dict[str, Any] = {
        "id": "coupon",
        "name": "send_coupon",
        "description": "Send the viewer a coupon.",
        "input_schema": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        "binding": ToolBinding(
            cases=(BindingCase(operation="send_coupon", arguments=(ArgumentMap(argument="code", path="code"),)),)
        ),
    }
    return Tool(**fields | changes)


def shop(**changes: Any) -> HarnessSpec:
    """A small complete harness over `CATALOGUE`, with fields replaced."""
    fields: dict[str, Any] = {
        "prompt": (
            PromptSection(id="persona", title="Who you are", body="You help the host of a live stream."),
            PromptSection(id="policy", title="Rules", body="Never promise a discount over 10 %.", is_policy=True),
        ),
        "skills": (
            Skill(id="sizing", name="sizing", description="Choose a size.", body="Ask for the height.", risk="medium"),
            Skill(id="prices", name="prices", description="Quote.", body="Look it up.", allowed_tools=("price",)),
        ),
        "tools": (price_tool(), coupon_tool()),
        "hooks": (
            Hook(
                id="clock",
                name="clock",
                event="UserPromptSubmit",
                action=AddContext(text="It is evening.", slot="user_prefix"),
            ),
            Hook(
                id="no-promise",
                name="no-promise",
                event="Stop",
                action=CheckReply(mode="forbid", phrases=("guaranteed",), on_violation="block"),
            ),
        ),
    }
    return HarnessSpec(**fields | changes)


# --- arbitrary harnesses -------------------------------------------------------------------------------------------------

texts = st.text(alphabet="ab -\n:#'\"é中{}", max_size=8) | st.sampled_from(
    ["---", "---\na: 1\n---\n", "yes", "1.0", "\n"]
)
keys = st.sampled_from(["a", "b", "c", "d"])
scalars = st.none() | st.booleans() | st.integers(0, 2) | st.sampled_from(["x", "y"])
paths = st.lists(keys, min_size=1, max_size=2).map(tuple)


def schemas(depth: int = 2) -> st.SearchStrategy[dict[str, Any]]:
    """Object schemas with nested parameters and lists of objects."""
    leaf = st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer"])},
        optional={"description": texts, "enum": st.lists(scalars, min_size=1, max_size=3)},
    )
    child = leaf if depth == 0 else leaf | schemas(depth - 1) | st.builds(lambda s: {"items": s}, schemas(depth - 1))
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(keys, child, max_size=3)},
        optional={"required": st.lists(keys, max_size=3, unique=True), "additionalProperties": st.booleans()},
    )


recodes = st.lists(st.builds(RecodePair, operation=scalars, surface=scalars), max_size=2).map(tuple)
conversions = st.none() | st.builds(ScaleConversion, factor=st.sampled_from(["0.01", "100"]))
arguments = st.builds(ArgumentMap, argument=keys, path=paths, recode=recodes, conversion=conversions, default=scalars)
result_fields = st.builds(
    ResultField, path=paths, name=st.none() | keys, recode=recodes, conversion=conversions, is_hidden=st.booleans()
)
cases = st.builds(
    BindingCase,
    operation=st.sampled_from(["op1", "op2", "op3"]),
    when=scalars,
    arguments=st.lists(arguments, max_size=3, unique_by=lambda item: item.argument).map(tuple),
    constants=st.dictionaries(keys, scalars, max_size=2),
    result=st.builds(
        ResultMap,
        fields=st.lists(result_fields, max_size=2, unique_by=lambda item: item.path).map(tuple),
        wrap=st.lists(keys, max_size=1).map(tuple),
        format=st.sampled_from(["json", "lines"]),
    ),
)
bindings = st.builds(
    ToolBinding,
    cases=st.lists(cases, min_size=1, max_size=3).map(tuple),
    switch=st.none() | paths,
    surface_constants=st.lists(st.builds(SurfaceConstant, path=paths, value=scalars), max_size=2).map(tuple),
    ignored=st.lists(paths, max_size=2).map(tuple),
)
ids = st.sampled_from(["a", "b", "c", "d.1"])
tools = st.builds(
    Tool,
    id=ids,
    name=texts | st.sampled_from(["get", "Get", "send"]),
    title=texts,
    description=texts,
    input_schema=schemas(),
    output_schema=st.none() | schemas(0),
    annotations=st.dictionaries(keys, scalars, max_size=2),
    parameter_order=st.lists(keys, max_size=2, unique=True).map(tuple),
    binding=st.none() | bindings,
)
skills = st.builds(
    Skill,
    id=ids,
    name=texts,
    description=texts,
    body=texts,
    allowed_tools=st.lists(ids, max_size=2).map(tuple),
    risk=st.sampled_from(["low", "high"]),
    metadata=st.dictionaries(texts, texts, max_size=2),
)
sections = st.builds(PromptSection, id=ids, title=texts, body=texts, is_policy=st.booleans())
hooks = st.builds(
    Hook,
    id=ids,
    name=texts,
    event=st.sampled_from(["SessionStart", "PreToolUse", "Stop"]),
    matcher=st.lists(ids, max_size=2).map(tuple),
    action=st.builds(AddContext, text=texts, slot=st.sampled_from(["system_tail", "user_prefix"]))
    | st.builds(Deny, reason=texts),
)


examples = st.builds(
    Example,
    id=ids,
    comment=texts,
    calls=st.lists(
        st.builds(ExampleCall, operation=texts, arguments=st.dictionaries(keys, scalars, max_size=2)), max_size=2
    ).map(tuple),
    reply=texts,
)


def _components(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3, unique_by=lambda item: item.id).map(tuple)


specs = st.builds(
    HarnessSpec,
    prompt=_components(sections),
    skills=_components(skills),
    tools=_components(tools),
    hooks=_components(hooks),
    examples=_components(examples),
    runtime=st.builds(RuntimeSettings, max_tool_rounds=st.integers(0, 3), temperature=st.sampled_from([0.0, 0.5])),
)
