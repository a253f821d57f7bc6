"""What a harness is.

A `HarnessSpec` is the whole surface around a model: prompt sections, skills, tools with their bindings, hooks and runtime
settings. It is immutable and identified by the SHA-256 of its canonical JSON. Every component has a stable `id`, which no
model ever sees, and a `name`, which it does: that is how a rename is known to be a rename.

These classes check shape only. What makes a well-shaped harness wrong (an unknown operation, a name used twice) is found by
`harnesses.core.validation`, which reports instead of raising.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from harnesses.core.jsonvalues import JsonObject, JsonValue, Text, content_hash

SCHEMA_VERSION = 1

ComponentId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,63}$")]


def _as_path(value: Any) -> Any:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


Path = Annotated[
    tuple[Annotated[str, StringConstraints(min_length=1)], ...], BeforeValidator(_as_path), Field(min_length=1)
]
"""Keys from the outside in; a lone string is short for a path of one key. Lists on the way are passed through."""


class Frozen(BaseModel):
    """Base of every specification class: immutable, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")


# --- prompt and skills -----------------------------------------------------------------------------------------------


class PromptSection(Frozen):
    """One titled part of the system prompt. `body` is a template over the declared context (`harnesses.core.templates`).

    `is_policy` marks text that sets rules (prices, promises, what must be refused): changing it changes the right answer.
    """

    id: ComponentId
    title: Text
    body: Text
    is_policy: bool = False


class Skill(Frozen):
    """A skill in the Agent Skills format. `allowed_tools` holds tool ids; `body` is a template like a prompt section's."""

    id: ComponentId
    name: Text
    description: Text
    body: Text
    allowed_tools: tuple[ComponentId, ...] = ()
    risk: Literal["low", "medium", "high"] = "low"
    metadata: dict[str, Text] = Field(default_factory=dict)


# --- tools and bindings ----------------------------------------------------------------------------------------------


class RecodePair(Frozen):
    """One value on both sides."""

    operation: JsonValue
    surface: JsonValue


class ScaleConversion(Frozen):
    """surface = operation × factor, exactly (decimal). `factor` is a decimal string such as "0.01" (fen → yuan)."""

    kind: Literal["scale"] = "scale"
    factor: Annotated[str, StringConstraints(pattern=r"^\d{0,9}[1-9]\d{0,9}$|^\d{1,9}\.\d{0,8}[1-9]$")]


class TextConversion(Frozen):
    """The operation's integer or number is written as a string on the surface."""

    kind: Literal["text"] = "text"


class EpochConversion(Frozen):
    """The operation's ISO 8601 UTC time is Unix epoch seconds on the surface."""

    kind: Literal["epoch"] = "epoch"


Conversion = Annotated[ScaleConversion | TextConversion | EpochConversion, Field(discriminator="kind")]


class ArgumentMap(Frozen):
    """Where one operation argument comes from.

    `path` is where it lies in the tool's arguments. The value passes `recode` (pairs, one to one) or `conversion`. If the
    model leaves the argument out, the operation receives `default` (None: it receives nothing).
    """

    argument: Text
    path: Path
    recode: tuple[RecodePair, ...] = ()
    conversion: Conversion | None = None
    default: JsonValue = None


class SurfaceConstant(Frozen):
    """A tool argument that must have this very value and reaches no operation."""

    path: Path
    value: JsonValue


class ResultField(Frozen):
    """How one field of an operation's result looks to the model. `path` names it in the operation's own keys.

    `name` replaces the last key of the path; `recode` and `conversion` change the value (element by element in a list).
    `is_hidden` keeps the field from the model: a short result is easier to read, and what is hidden cannot be said.
    """

    path: Path
    name: Text | None = None
    recode: tuple[RecodePair, ...] = ()
    conversion: Conversion | None = None
    is_hidden: bool = False


class ResultMap(Frozen):
    """How an operation's result is shown: field by field, wrapped in outer keys, in a format."""

    fields: tuple[ResultField, ...] = ()
    wrap: tuple[Text, ...] = ()
    format: Literal["json", "lines", "table", "prose"] = "json"


class BindingCase(Frozen):
    """One operation a tool can stand for.

    `when` is the value of the binding's switch that selects this case (None in a tool with one case). `constants` are
    operation arguments fixed by the tool, so that one operation can be split among several tools.
    """

    operation: Text
    when: JsonValue = None
    arguments: tuple[ArgumentMap, ...] = ()
    constants: JsonObject = Field(default_factory=dict)
    result: ResultMap = ResultMap()


class ToolBinding(Frozen):
    """Which operation a tool stands for, and how arguments and results map.

    With `switch`, a path in the tool's arguments, one tool covers several operations. `surface_constants` are dictated
    values; `ignored` are tool arguments that reach nothing.
    """

    cases: Annotated[tuple[BindingCase, ...], Field(min_length=1)]
    switch: Path | None = None
    surface_constants: tuple[SurfaceConstant, ...] = ()
    ignored: tuple[Path, ...] = ()


class Tool(Frozen):
    """A tool in the MCP shape, plus its binding.

    The order in which the model reads the parameters is `parameter_order`, then those named in the schema's `required`, then
    the rest by name: the order of JSON keys never matters. `binding` is None for a tool that is not connected yet.
    """

    id: ComponentId
    name: Text
    title: Text = ""
    description: Text = ""
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    annotations: JsonObject = Field(default_factory=dict)
    parameter_order: tuple[Text, ...] = ()
    binding: ToolBinding | None = None


# --- hooks -----------------------------------------------------------------------------------------------------------

HookEvent = Literal["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]


class Condition(Frozen):
    """One test on what a hook sees. All conditions of a hook must hold.

    `field`: the viewer's `comment`, the model's `reply`, one operation `argument` (PreToolUse, PostToolUse; `path` names it),
    one field of the `result` (PostToolUse), or one value of the room `context`. `op` compares with `values`; text is compared
    without regard to case. `contains_any` looks for a substring.
    """

    field: Literal["comment", "reply", "argument", "result", "context"]
    path: Path | None = None
    op: Literal["contains_any", "contains_none", "equals_any", "equals_none", "above", "below", "exists", "missing"]
    values: tuple[JsonValue, ...] = ()


class AddContext(Frozen):
    """Put a text before the model. Slots: end of the system prompt, before or after the comment, after the tool result."""

    type: Literal["add_context"] = "add_context"
    text: Text
    slot: Literal["system_tail", "user_prefix", "user_suffix", "tool_result_suffix"]
    wrapper: Literal["none", "tag", "bracket", "quote"] = "none"


class Deny(Frozen):
    """PreToolUse: the call is not made, the model is told why. UserPromptSubmit: no model call, `reason` is the reply."""

    type: Literal["deny"] = "deny"
    reason: Text


class RewriteInput(Frozen):
    """PreToolUse: set operation arguments before the call (in the operation's own names, so that renames do not matter)."""

    type: Literal["rewrite_input"] = "rewrite_input"
    set: JsonObject


class ReplaceOutput(Frozen):
    """PostToolUse: set or drop fields of the operation's result before the model sees it."""

    type: Literal["replace_output"] = "replace_output"
    set: JsonObject = Field(default_factory=dict)
    drop: tuple[Text, ...] = ()


class CheckReply(Frozen):
    """Stop: the reply must (or must not) hold one of the phrases.

    On violation: `block` sends the harness's fallback reply, `replace` sends `replacement`, `revise` tells the model `message`
    and asks again, at most `RuntimeSettings.max_revisions` times; then the fallback reply is sent.
    """

    type: Literal["check_reply"] = "check_reply"
    mode: Literal["require", "forbid"]
    phrases: Annotated[tuple[Text, ...], Field(min_length=1)]
    on_violation: Literal["block", "replace", "revise"]
    replacement: Text = ""
    message: Text = ""


HookAction = Annotated[AddContext | Deny | RewriteInput | ReplaceOutput | CheckReply, Field(discriminator="type")]


class Hook(Frozen):
    """When `event` happens (to one of the tools in `matcher`, if given) and every condition in `when` holds, do `action`.

    `matcher` holds tool ids. Hooks of one event run in the order of the harness.
    """

    id: ComponentId
    name: Text
    event: HookEvent
    matcher: tuple[ComponentId, ...] = ()
    when: tuple[Condition, ...] = ()
    action: HookAction


# --- examples --------------------------------------------------------------------------------------------------------


class ExampleCall(Frozen):
    """One operation the example makes, in the operation's own terms: `arguments` in, `result` out.

    The runtime shows both through the bindings, so an example follows every rename, recode and change of format by itself.
    """

    operation: Text
    arguments: JsonObject = Field(default_factory=dict)
    result: JsonObject = Field(default_factory=dict)


class Example(Frozen):
    """A worked turn the model reads before the conversation: a viewer's comment, the calls it needs, the reply (few-shot)."""

    id: ComponentId
    comment: Text
    calls: tuple[ExampleCall, ...] = ()
    reply: Text


# --- runtime ---------------------------------------------------------------------------------------------------------


class RuntimeSettings(Frozen):
    """How the agent loop runs this harness.

    `disclosure`: `inline` puts skill bodies into the prompt; `on_demand` shows names and descriptions, and the model loads a
    body through the built-in tool named `skill_tool_name`. `call_format`: `hermes` is JSON between <tool_call> tags; `plain` is one
    line, `CALL name; key: value`, which small tokenizers spell better. `heading_style` is how section titles are written.
    """

    disclosure: Literal["inline", "on_demand"] = "inline"
    skill_tool_name: Text = "load_skill"
    call_format: Literal["hermes", "plain"] = "plain"
    tool_document_format: Literal["json", "lines"] = "lines"
    tool_document_order: Literal["description_first", "name_first"] = "description_first"
    heading_style: Literal["markdown", "plain", "numbered", "bracketed"] = "markdown"
    max_tool_rounds: Annotated[int, Field(ge=0, le=20)] = 4
    max_revisions: Annotated[int, Field(ge=0, le=5)] = 1
    deadline_ms: Annotated[int, Field(ge=100, le=600_000)] = 8_000
    max_reply_tokens: Annotated[int, Field(ge=1, le=8_192)] = 160
    context_budget_tokens: Annotated[int, Field(ge=128, le=1_000_000)] = 3_072
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    fallback_reply: Text = "Sorry, I could not look that up just now. Please ask me again in a moment."


class HarnessSpec(Frozen):
    """The whole harness. Order of components is the order the model reads them in."""

    schema_version: Literal[1] = 1
    prompt: tuple[PromptSection, ...] = ()
    skills: tuple[Skill, ...] = ()
    tools: tuple[Tool, ...] = ()
    hooks: tuple[Hook, ...] = ()
    examples: tuple[Example, ...] = ()
    runtime: RuntimeSettings = RuntimeSettings()

    def document(self) -> JsonObject:
        """The spec as plain JSON, defaults included, key order as written."""
        return self.model_dump(mode="json")

    @property
    def spec_hash(self) -> str:
        """SHA-256 (64 hex digits) of the canonical JSON: the identity of this harness."""
        return content_hash(self.document())

    def section(self, section_id: str) -> PromptSection | None:
        return next((item for item in self.prompt if item.id == section_id), None)

    def skill(self, skill_id: str) -> Skill | None:
        return next((item for item in self.skills if item.id == skill_id), None)

    def tool(self, tool_id: str) -> Tool | None:
        return next((item for item in self.tools if item.id == tool_id), None)

    def tool_named(self, name: str) -> Tool | None:
        return next((item for item in self.tools if item.name == name), None)
