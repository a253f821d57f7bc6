"""Families of tools besides renames: T2 paraphrase, T4 order, T5 recode, T6 optional parameters, T7 distractors, T8 strip."""

from __future__ import annotations

from harnesses.augment.enums import recode_tool
from harnesses.augment.naming import is_speaking
from harnesses.augment.parameters import is_plain, parameter_paths, with_schema
from harnesses.augment.renames import shared
from harnesses.augment.rewording import reworded
from harnesses.augment.texts import is_mentioned
from harnesses.augment.transform import Changed, NotApplicable, Scene, with_components
from harnesses.core.checks_names import twin_key
from harnesses.core.editing.copies import fresh_id, fresh_name
from harnesses.core.parameters import parameter_names
from harnesses.core.spec import HarnessSpec, Tool

# --- T2, T8: texts -----------------------------------------------------------------------------------------------------


def paraphrase_tools(spec: HarnessSpec, scene: Scene) -> Changed:
    """T2: descriptions of tools and parameters in other words."""
    tools = shared(spec.tools, [_paraphrased(tool, scene) for tool in spec.tools], scene)
    return with_components(spec, "tool", tools, "No tool has a description to put into other words.")


def _paraphrased(tool: Tool, scene: Scene) -> Tool:
    update: dict[str, object] = {}
    description = reworded(tool.description, scene, "tool")
    if description is not None:
        update["description"] = description
    schema = tool.input_schema
    for path, inner in parameter_paths(tool):
        text = inner.get("description")
        other = reworded(text, scene) if isinstance(text, str) else None
        if other is not None and "properties" not in inner:
            schema = with_schema(schema, path, {**inner, "description": other})
    if schema is not tool.input_schema:
        update["input_schema"] = schema
    return tool.model_copy(update=update) if update else tool


def strip_descriptions(spec: HarnessSpec, scene: Scene) -> Changed:
    """T8: descriptions go. What has no speaking name, or values that only its description explains, keeps them (law 6)."""
    tools = shared(spec.tools, [_stripped(tool) for tool in spec.tools], scene)
    return with_components(
        spec, "tool", tools, "Nothing can lose its description: there is none, or the names alone would say nothing."
    )


def _stripped(tool: Tool) -> Tool:
    update: dict[str, object] = {}
    if tool.description.strip() and is_speaking(tool.name):
        update = {"description": "", "title": ""}
    schema = tool.input_schema
    for path, inner in parameter_paths(tool):
        if "properties" not in inner and inner.get("description") and is_speaking(path[-1]) and _values_speak(inner):
            schema = with_schema(schema, path, {key: value for key, value in inner.items() if key != "description"})
    if schema is not tool.input_schema:
        update["input_schema"] = schema
    return tool.model_copy(update=update) if update else tool


def _values_speak(schema: dict[str, object]) -> bool:
    items = schema.get("items")
    values = schema.get("enum", items.get("enum", ()) if isinstance(items, dict) else ())
    return isinstance(values, list | tuple) and all(isinstance(value, str) and is_speaking(value) for value in values)


# --- T4: order ---------------------------------------------------------------------------------------------------------


def reorder_tools(spec: HarnessSpec, scene: Scene) -> Changed:
    """T4: tools, or the parameters of each, in another order."""
    what = scene.text("what")
    changed: list[str] = []
    tools = list(spec.tools)
    if what in ("parameters", "both"):
        for index, tool in enumerate(tools):
            names = list(parameter_names(tool)) if is_plain(tool) else []
            if len(names) > 1:
                order = _other_order(names, scene)
                tools[index] = tool.model_copy(update={"parameter_order": tuple(order)})
                changed.append(f"tool:{tool.id}")
    if what in ("tools", "both") and len(tools) > 1 and _is_order_free(spec):
        order = _other_order([str(index) for index in range(len(tools))], scene)
        tools = [tools[int(index)] for index in order]
        changed = [f"tool:{tool.id}" for tool in tools]
    if not changed:
        raise NotApplicable("There are not two tools, or not two parameters, whose order could change.")
    return Changed(spec.model_copy(update={"tools": tuple(tools)}), tuple(changed))


def _other_order(items: list[str], scene: Scene) -> list[str]:
    """A permutation that is not the identity. At least two items."""
    order = scene.rng.sample(items, len(items))
    return order if order != items else [*items[1:], items[0]]


def _is_order_free(spec: HarnessSpec) -> bool:
    """Whether no two tools reach one operation: of such, the first is the one that examples are shown with."""
    operations = [
        name for tool in spec.tools if tool.binding for name in {case.operation for case in tool.binding.cases}
    ]
    return len(operations) == len(set(operations))


# --- T5: values --------------------------------------------------------------------------------------------------------


def recode_values(spec: HarnessSpec, scene: Scene) -> Changed:
    """T5: listed values get other labels; the binding recodes them, and a legend explains labels that do not speak."""
    tools = shared(spec.tools, [recode_tool(tool, spec, scene) for tool in spec.tools], scene)
    return with_components(
        spec,
        "tool",
        tools,
        f'No tool has a list of values that can be relabelled in the style "{scene.text("style")}".',
    )


# --- T6: optional parameters -------------------------------------------------------------------------------------------


def optional_parameters(spec: HarnessSpec, scene: Scene) -> Changed:
    """T6: tools get optional parameters with a default that reach no operation, or lose such ones."""
    is_adding = scene.text("what") == "add"
    change = _with_parameters if is_adding else _without_parameters
    tools = shared(spec.tools, [change(tool, spec, scene) for tool in spec.tools], scene)
    reason = (
        "No tool has a schema that can take another parameter."
        if is_adding
        else "No tool has an optional parameter that reaches no operation; dropping any other would take something away."
    )
    return with_components(spec, "tool", tools, reason)


def _with_parameters(tool: Tool, spec: HarnessSpec, scene: Scene) -> Tool:
    if tool.binding is None or not is_plain(tool) or tool.input_schema.get("type") != "object":
        return tool
    taken = {twin_key(name) for name in parameter_names(tool)}
    free = [item for item in scene.banks.optional_parameters[scene.pool] if twin_key(item.name) not in taken]
    added = scene.rng.sample(free, min(scene.count("count"), len(free)))
    if not added:
        return tool
    properties = {**tool.input_schema.get("properties", {}), **{item.name: dict(item.schema) for item in added}}
    names = tuple(item.name for item in added)
    return tool.model_copy(
        update={
            "input_schema": {**tool.input_schema, "properties": properties},
            "parameter_order": (*tool.parameter_order, *names) if tool.parameter_order else (),
            "binding": tool.binding.model_copy(
                update={"ignored": (*tool.binding.ignored, *((name,) for name in names))}
            ),
        }
    )


def _without_parameters(tool: Tool, spec: HarnessSpec, scene: Scene) -> Tool:
    if tool.binding is None or not is_plain(tool):
        return tool
    required = tool.input_schema.get("required", [])
    free = [
        path[0]
        for path in tool.binding.ignored
        if len(path) == 1 and path[0] not in required and not is_mentioned(spec, "example", path[0])
    ]
    gone = set(scene.rng.sample(free, min(scene.count("count"), len(free))))
    if not gone:
        return tool
    properties = {name: inner for name, inner in tool.input_schema["properties"].items() if name not in gone}
    ignored = tuple(path for path in tool.binding.ignored if path[0] not in gone)
    return tool.model_copy(
        update={
            "input_schema": {**tool.input_schema, "properties": properties},
            "parameter_order": tuple(name for name in tool.parameter_order if name not in gone),
            "binding": tool.binding.model_copy(update={"ignored": ignored}),
        }
    )


# --- T7: distractors ---------------------------------------------------------------------------------------------------


def distractor_tools(spec: HarnessSpec, scene: Scene) -> Changed:
    """T7: tools of other trades that are connected to nothing, put among the harness's own."""
    known = {tool.id for tool in spec.tools}
    free = [tool for tool in scene.banks.tools[scene.pool] if tool.id not in known]
    count = scene.count("count")
    if len(free) < count:
        raise NotApplicable("The harness has these tools already.")
    tools, names = list(spec.tools), []
    for tool in scene.rng.sample(free, count):
        place = HarnessSpec(tools=tuple(tools), skills=spec.skills, runtime=spec.runtime)
        added = tool.model_copy(
            update={"id": fresh_id(tool.id, {item.id for item in tools}), "name": fresh_name("tool", tool.name, place)}
        )
        tools.insert(scene.rng.randint(0, len(tools)), added)
        names.append(f"tool:{added.id}")
    return Changed(spec.model_copy(update={"tools": tuple(tools)}), tuple(names))
