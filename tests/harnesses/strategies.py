"""Hypothesis strategies for catalogues, valid harnesses over them, and calls that such a harness can make.

`harness_specs` makes bindings of every kind: renames, nesting, recodes, scales, numbers as text, times as epoch seconds, constants
(one operation split among tools), defaults, dictated and ignored parameters, several operations behind a switch, result maps.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from harnesses.core.operations import OperationCall, OperationCatalogue, OperationSpec
from harnesses.core.spec import (
    AddContext,
    ArgumentMap,
    BindingCase,
    CheckReply,
    Condition,
    Deny,
    EpochConversion,
    Example,
    ExampleCall,
    HarnessSpec,
    Hook,
    PromptSection,
    RecodePair,
    ReplaceOutput,
    ResultField,
    ResultMap,
    RewriteInput,
    RuntimeSettings,
    ScaleConversion,
    Skill,
    SurfaceConstant,
    TextConversion,
    Tool,
    ToolBinding,
)

TIME = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"
ENUM_VALUES: tuple[Any, ...] = ("red", "blue", "green", 1, True, 0, False, 2.5)
SURFACE_VALUES: tuple[Any, ...] = ("A", "B", "C", 7, True, False, 1, 0)
FACTORS = ("0.01", "100", "0.5", "60", "0.001")
KINDS = ("text", "enum", "integer", "number", "boolean", "time", "list")

_letters = st.sampled_from("abcdefghijkmnopqrstuvwxyz")
_words = st.text(_letters, min_size=3, max_size=6)
_clean_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12).map(
    lambda text: unicodedata.normalize("NFC", text)
)
"""Any text as it is stored."""
_prose = st.lists(_words, min_size=1, max_size=6).map(" ".join)


def _property_schema(kind: str, options: list[Any]) -> dict[str, Any]:
    schemas: dict[str, dict[str, Any]] = {
        "text": {"type": "string"},
        "enum": {"enum": options},
        "integer": {"type": "integer"},
        "number": {"type": "number"},
        "boolean": {"type": "boolean"},
        "time": {"type": "string", "pattern": TIME},
        "list": {"type": "array", "items": {"enum": options}},
    }
    return schemas[kind]


def kind_of(schema: dict[str, Any]) -> str:
    """Which of `KINDS` a property schema of a generated operation is."""
    if "enum" in schema:
        return "enum"
    if "pattern" in schema:
        return "time"
    return {"string": "text", "array": "list"}.get(schema["type"], schema["type"])


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of one property of a generated operation."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    times = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
    by_kind: dict[str, st.SearchStrategy[Any]] = {
        "text": _clean_texts,
        "integer": st.integers(-(10**9), 10**9),
        "number": st.integers(-(10**6), 10**6).map(lambda cents: cents / 100),
        "boolean": st.booleans(),
        "time": times.map(lambda time: time.strftime("%Y-%m-%dT%H:%M:%SZ")),
    }
    kind = kind_of(schema)
    return st.lists(values(schema["items"]), max_size=3) if kind == "list" else by_kind[kind]


@st.composite
def _object_schemas(draw: st.DrawFn, *, with_required: bool) -> dict[str, Any]:
    names = draw(st.lists(_words, min_size=1, max_size=4, unique=True))
    properties = {}
    for name in names:
        options = draw(st.lists(st.sampled_from(ENUM_VALUES), min_size=2, max_size=4, unique_by=json.dumps))
        properties[name] = _property_schema(draw(st.sampled_from(KINDS)), options)
    required = [name for name in names if with_required and draw(st.booleans())]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@st.composite
def operation_catalogues(draw: st.DrawFn) -> OperationCatalogue:
    """One to three operations with flat arguments and results of every kind; one result may hold a list of objects."""
    names = draw(st.lists(_words, min_size=1, max_size=3, unique=True))
    catalogue = {}
    for name in names:
        output = draw(_object_schemas(with_required=False))
        output["properties"]["rows"] = {"type": "array", "items": draw(_object_schemas(with_required=False))}
        catalogue[f"op.{name}"] = OperationSpec(
            name=f"op.{name}",
            title=name,
            description=draw(_prose),
            input_schema=draw(_object_schemas(with_required=True)),
            output_schema=output,
            effect=draw(st.sampled_from(("read", "write"))),
        )
    return catalogue


# --- tools ---------------------------------------------------------------------------------------------------------------


@dataclass
class _Surface:
    """The input schema of a tool in the making; hands out free parameter paths."""

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    nested: dict[str, Any] = field(default_factory=dict)
    count: int = 0

    def add(self, schema: dict[str, Any], *, stem: str, is_required: bool, is_nested: bool) -> tuple[str, ...]:
        self.count += 1
        name = f"{stem}{self.count}"
        if not is_nested:
            self.properties[name] = schema
            self.required += [name] if is_required else []
            return (name,)
        self.nested.setdefault("properties", {})[name] = schema
        if is_required:
            self.nested.setdefault("required", []).append(name)
        return ("group", name)

    def schema(self) -> dict[str, Any]:
        properties, required = dict(self.properties), list(self.required)
        if self.nested:
            properties["group"] = {"type": "object", "additionalProperties": False, **self.nested}
            required += ["group"] if self.nested.get("required") else []
        return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


@st.composite
def _recodes(draw: st.DrawFn, options: list[Any]) -> tuple[RecodePair, ...]:
    targets = draw(st.permutations(SURFACE_VALUES))[: len(options)]
    return tuple(RecodePair(operation=one, surface=other) for one, other in zip(options, targets, strict=True))


@st.composite
def _mapped(draw: st.DrawFn, surface: _Surface, name: str, inner: dict[str, Any], *, is_required: bool) -> ArgumentMap:
    """One operation argument, put on the surface in one of the ways that suit its kind."""
    kind = kind_of(inner)
    recode: tuple[RecodePair, ...] = ()
    conversion: Any = None
    schema = dict(inner)
    if draw(st.booleans()):
        if kind in ("integer", "number"):
            conversion = draw(st.sampled_from([TextConversion(), *(ScaleConversion(factor=f) for f in FACTORS)]))
            schema = {"type": "string" if conversion.kind == "text" else "number"}
        elif kind == "time":
            conversion, schema = EpochConversion(), {"type": "integer"}
        elif kind == "enum":
            recode = draw(_recodes(inner["enum"]))
            schema = {"enum": [pair.surface for pair in recode]}
        elif kind == "list":
            recode = draw(_recodes(inner["items"]["enum"]))
            schema = {"type": "array", "items": {"enum": [pair.surface for pair in recode]}}
    default = draw(st.none() | values(inner))
    must_give = is_required and default is None
    path = surface.add(
        schema,
        stem=draw(st.sampled_from([name, "p", "x_"])),
        is_required=must_give or draw(st.booleans()),
        is_nested=draw(st.booleans()),
    )
    return ArgumentMap(argument=name, path=path, recode=recode, conversion=conversion, default=default)


@st.composite
def _cases(
    draw: st.DrawFn, surface: _Surface, operation: OperationSpec, constants: dict, *, may_require: bool
) -> BindingCase:
    maps = []
    for name, inner in operation.input_schema["properties"].items():
        if name not in constants:
            is_required = may_require and name in operation.required_arguments
            argument = draw(_mapped(surface, name, inner, is_required=is_required))
            maps.append(argument)
    return BindingCase(
        operation=operation.name,
        arguments=tuple(draw(st.permutations(maps))),
        constants=constants,
        result=draw(_result_maps(operation)),
    )


@st.composite
def _result_maps(draw: st.DrawFn, operation: OperationSpec) -> ResultMap:
    fields = []
    output = operation.output_schema["properties"]
    inside = output["rows"]["items"]["properties"]
    paths: list[tuple[tuple[str, ...], Any]] = [((name,), schema) for name, schema in output.items()]
    paths += [(("rows", name), schema) for name, schema in inside.items()]
    for path, schema in paths:
        name = f"shown_{path[-1]}" if draw(st.booleans()) else None
        recode: tuple[RecodePair, ...] = ()
        conversion: Any = None
        kind = kind_of(schema) if path != ("rows",) else "rows"
        if kind == "enum" and draw(st.booleans()):
            recode = draw(_recodes(schema["enum"]))
        elif kind in ("integer", "number") and draw(st.booleans()):
            conversion = draw(st.sampled_from([TextConversion(), ScaleConversion(factor="0.01")]))
        elif kind == "time" and draw(st.booleans()):
            conversion = EpochConversion()
        if name or recode or conversion:
            fields.append(ResultField(path=path, name=name, recode=recode, conversion=conversion))
    wrap = tuple(draw(st.lists(st.sampled_from(["data", "result"]), max_size=2)))
    format_ = draw(st.sampled_from(["json", "lines", "table", "prose"]))
    return ResultMap(fields=tuple(fields), wrap=wrap, format=format_)


@st.composite
def _dressings(draw: st.DrawFn, surface: _Surface) -> dict[str, Any]:
    """Parameters that reach no operation: dictated ones and ignored ones."""
    binding: dict[str, Any] = {}
    if draw(st.booleans()):
        value = draw(st.sampled_from(["live", True, 1]))
        path = surface.add({"const": value}, stem="must_", is_required=True, is_nested=draw(st.booleans()))
        binding["surface_constants"] = (SurfaceConstant(path=path, value=value),)
    if draw(st.booleans()):
        binding["ignored"] = (surface.add({"type": "string"}, stem="note_", is_required=False, is_nested=False),)
    return binding


def _tool(index: int, surface: _Surface, binding: ToolBinding, description: str) -> Tool:
    schema = surface.schema()
    order = tuple(sorted(schema["properties"], reverse=index % 2 == 0))
    return Tool(
        id=f"t{index}",
        name=f"do_{index}",
        description=description,
        input_schema=schema,
        parameter_order=order if index % 3 else (),
        binding=binding,
    )


@st.composite
def _tools(draw: st.DrawFn, catalogue: OperationCatalogue) -> tuple[Tool, ...]:
    """Tools that reach every operation: each by one tool, split among several, or together behind a switch."""
    tools: list[Tool] = []
    operations = list(catalogue.values())
    if len(operations) > 1 and draw(st.booleans()):
        together, operations = operations[:2], operations[2:]
        surface = _Surface()
        whens: list[Any] = draw(st.permutations(["look", "push", 1, True]))[:2]
        switch = surface.add({"enum": whens}, stem="action_", is_required=True, is_nested=False)
        dressing = draw(_dressings(surface))
        cases = tuple(
            draw(_optional_cases(surface, operation)).model_copy(update={"when": when})
            for operation, when in zip(together, whens, strict=True)
        )
        tools.append(_tool(0, surface, ToolBinding(cases=cases, switch=switch, **dressing), draw(_prose)))
    for operation in operations:
        for constants in draw(_splits(operation)):
            surface = _Surface()
            case = draw(_cases(surface, operation, constants, may_require=True))
            binding = ToolBinding(cases=(case,), **draw(_dressings(surface)))
            tools.append(_tool(len(tools), surface, binding, draw(_prose)))
    return tuple(draw(st.permutations(tools)))


@st.composite
def _optional_cases(draw: st.DrawFn, surface: _Surface, operation: OperationSpec) -> BindingCase:
    """A case of a switched tool: its parameters cannot be required by the tool's schema."""
    required, nested = list(surface.required), list(surface.nested.get("required", []))
    case = draw(_cases(surface, operation, {}, may_require=False))
    surface.required = required
    if "properties" in surface.nested:
        surface.nested["required"] = nested
    return case


@st.composite
def _splits(draw: st.DrawFn, operation: OperationSpec) -> list[dict[str, Any]]:
    """The constants of the tools that share an operation: none for a single tool, one per value of an enum for a split one."""
    enums = [name for name in operation.required_arguments if "enum" in operation.input_schema["properties"][name]]
    if not enums or draw(st.booleans()):
        return [{}]
    name = draw(st.sampled_from(enums))
    return [{name: value} for value in operation.input_schema["properties"][name]["enum"]]


# --- the rest of a harness -------------------------------------------------------------------------------------------------


@st.composite
def _bodies(draw: st.DrawFn, tool_ids: list[str], skills: list[str]) -> str:
    parts = [draw(_prose)]
    has_tool, has_skill = draw(st.booleans()), draw(st.booleans())
    if has_tool:
        parts.append('{{ tool("' + draw(st.sampled_from(tool_ids)) + '") }}')
    if skills and has_skill:
        parts.append('{{ skill("' + draw(st.sampled_from(skills)) + '") }}')
    if draw(st.booleans()):
        parts.append("{{ host.name }} {% if item %}{{ item.name }}{% endif %}")
    return " ".join([*parts, draw(_prose)])


@st.composite
def _hooks(
    draw: st.DrawFn, catalogue: OperationCatalogue, tools: tuple[Tool, ...], bodies: st.SearchStrategy[str]
) -> tuple[Hook, ...]:
    hooks = [
        Hook(
            id="greet",
            name="greet",
            event="SessionStart",
            action=AddContext(text=draw(bodies), slot="system_tail", wrapper="tag"),
        ),
        Hook(
            id="refuse",
            name="refuse",
            event="UserPromptSubmit",
            when=(Condition(field="comment", op="contains_any", values=(draw(_words),)),),
            action=Deny(reason=draw(bodies)),
        ),
        Hook(
            id="check",
            name="check",
            event="Stop",
            action=CheckReply(mode="forbid", phrases=("ZZZ",), on_violation="revise", message=draw(bodies)),
        ),
    ]
    tool = draw(st.sampled_from(tools))
    assert tool.binding is not None
    if len(tool.binding.cases) == 1:
        operation = catalogue[tool.binding.cases[0].operation]
        name, schema = draw(st.sampled_from(sorted(operation.input_schema["properties"].items())))
        output = draw(st.sampled_from(sorted(operation.output_schema["properties"])))
        rewrite = RewriteInput(set={name: draw(values(schema))})
        hooks += [
            Hook(id="rewrite", name="rewrite", event="PreToolUse", matcher=(tool.id,), action=rewrite),
            Hook(id="hide", name="hide", event="PostToolUse", matcher=(tool.id,), action=ReplaceOutput(drop=(output,))),
        ]
    return tuple(draw(st.lists(st.sampled_from(hooks), unique_by=lambda hook: hook.id)))


@st.composite
def harness_specs(draw: st.DrawFn, catalogue: OperationCatalogue) -> HarnessSpec:
    """A valid harness that reaches every operation of the catalogue."""
    tools = draw(_tools(catalogue))
    skill_ids = [f"s{index}" for index in range(draw(st.integers(0, 2)))]
    tool_ids = [tool.id for tool in tools]
    bodies = _bodies(tool_ids, skill_ids)
    skills = tuple(
        Skill(
            id=skill_id,
            name=f"skill-{skill_id}",
            description=draw(_prose),
            body=draw(bodies),
            allowed_tools=tuple(draw(st.lists(st.sampled_from(tool_ids), unique=True))),
            metadata=draw(st.dictionaries(_words, _prose, max_size=2)),
        )
        for skill_id in skill_ids
    )
    prompt = tuple(
        PromptSection(id=f"p{index}", title=f"Part {index}", body=draw(bodies), is_policy=draw(st.booleans()))
        for index in range(draw(st.integers(1, 3)))
    )
    runtime = RuntimeSettings(
        disclosure=draw(st.sampled_from(["inline", "on_demand"])),
        call_format=draw(st.sampled_from(["hermes", "plain"])),
        tool_document_format=draw(st.sampled_from(["json", "lines"])),
        heading_style=draw(st.sampled_from(["markdown", "plain", "numbered", "bracketed"])),
        temperature=draw(st.sampled_from([0.0, 0.7, 1.0])),
    )
    hooks = draw(_hooks(catalogue, tools, bodies))
    spec = HarnessSpec(prompt=prompt, skills=skills, tools=tools, hooks=hooks, runtime=runtime)
    return spec.model_copy(update={"examples": draw(_examples(spec, catalogue))})


@st.composite
def _examples(draw: st.DrawFn, spec: HarnessSpec, catalogue: OperationCatalogue) -> tuple[Example, ...]:
    """At most one worked example, with a call that the harness can make."""
    if draw(st.integers(0, 2)):
        return ()
    call = draw(operation_calls(spec, catalogue))
    example_call = ExampleCall(operation=call.operation, arguments=call.arguments)
    return (Example(id="e0", comment=draw(_prose), calls=(example_call,), reply=draw(_prose)),)


# --- calls and results -------------------------------------------------------------------------------------------------------


@st.composite
def operation_calls(draw: st.DrawFn, spec: HarnessSpec, catalogue: OperationCatalogue) -> OperationCall:
    """A call that some tool of a generated harness can make: required arguments always, optional ones now and then.

    Where a binding has a default, the operation always receives something, so the call holds that argument.
    """
    tool = draw(st.sampled_from([tool for tool in spec.tools if tool.binding is not None]))
    assert tool.binding is not None
    case = draw(st.sampled_from(tool.binding.cases))
    operation = catalogue[case.operation]
    arguments: dict[str, Any] = dict(case.constants)
    for argument in case.arguments:
        schema = operation.input_schema["properties"][argument.argument]
        must_be_given = argument.argument in operation.required_arguments or _insists(tool, argument.path)
        if argument.default is not None:
            arguments[argument.argument] = draw(st.just(argument.default) | values(schema))
        elif must_be_given or draw(st.booleans()):
            arguments[argument.argument] = draw(values(schema))
    return OperationCall(operation=operation.name, arguments=arguments)


def _insists(tool: Tool, path: tuple[str, ...]) -> bool:
    """Whether the tool's schema requires the last key of a path in its parent."""
    parent = tool.input_schema
    for key in path[:-1]:
        parent = parent["properties"][key]
    return path[-1] in parent.get("required", [])


@st.composite
def operation_results(draw: st.DrawFn, operation: OperationSpec) -> dict[str, Any]:
    """A result of a generated operation; fields are left out or null now and then."""
    schemas = dict(operation.output_schema["properties"])
    rows = schemas.pop("rows")["items"]["properties"]
    result = draw(_objects(schemas))
    if draw(st.booleans()):
        result["rows"] = draw(st.lists(_objects(rows), max_size=3))
    return result


@st.composite
def _objects(draw: st.DrawFn, schemas: dict[str, Any]) -> dict[str, Any]:
    names = [name for name in schemas if draw(st.integers(0, 3))]
    return {name: draw(values(schemas[name])) if draw(st.integers(0, 4)) else None for name in names}
