"""Harnesses to transform: both that ship with Tackroom, and generated ones whose texts mention names by hand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st

from harnesses.core.operations import OperationCall, OperationCatalogue
from harnesses.core.sample_values import sample_value
from harnesses.core.spec import AddContext, HarnessSpec
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE
from livestream.retail import retail_harness
from livestream.retail.operations import CATALOGUE as RETAIL_CATALOGUE
from tests.harnesses.strategies import harness_specs, operation_catalogues

World = tuple[HarnessSpec, OperationCatalogue]
SHIPPED = ("demo", "retail")
_FORMS = st.sampled_from(
    ["BODY", "1. BODY\n2. Do not stop.", "- BODY\n- It is done.", "## Look\n\nBODY\n\n## Say\n\nYou are done."]
)
"""Forms that a skill's body may have."""


@cache
def shipped(name: str) -> World:
    """One of the harnesses of SHIPPED, with its operations."""
    return (demo_harness(), CATALOGUE) if name == "demo" else (retail_harness(), RETAIL_CATALOGUE)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A generated harness over generated operations; some of its texts name tools, skills, parameters or hooks by hand."""
    catalogue = draw(operation_catalogues())
    spec = draw(harness_specs(catalogue))
    names = [
        *(tool.name for tool in spec.tools),
        *(skill.name for skill in spec.skills),
        *(f'the hook "{hook.name}"' for hook in spec.hooks),
        *(f"`{name}`" for tool in spec.tools for name in tool.input_schema["properties"]),
    ]
    sentences = st.lists(st.sampled_from(names), max_size=2).map(lambda found: "".join(f" See {it}." for it in found))
    prompt = tuple(
        item.model_copy(update={"body": draw(_FORMS).replace("BODY", item.body + draw(sentences))})
        for item in spec.prompt
    )
    skills = tuple(
        item.model_copy(update={"body": item.body + draw(sentences), "description": item.description + draw(sentences)})
        for item in spec.skills
    )
    tools = tuple(item.model_copy(update={"description": item.description + draw(sentences)}) for item in spec.tools)
    hooks = tuple(
        item.model_copy(update={"action": item.action.model_copy(update={"text": item.action.text + draw(sentences)})})
        if isinstance(item.action, AddContext)
        else item
        for item in spec.hooks
    )
    update = {"prompt": prompt, "skills": skills, "tools": tools, "hooks": hooks}
    return spec.model_copy(update=update), catalogue


def calls_of(spec: HarnessSpec, catalogue: OperationCatalogue) -> Iterator[OperationCall]:
    """For every tool and case the smallest call, the largest one, and one for every listed value of an argument."""
    for tool in spec.tools:
        for case in tool.binding.cases if tool.binding else ():
            operation = catalogue[case.operation]
            schemas = {item.argument: operation.input_schema["properties"][item.argument] for item in case.arguments}
            every = {name: sample_value(schema, name) for name, schema in schemas.items()}
            needed = {name: value for name, value in every.items() if name in operation.required_arguments}
            yield OperationCall(operation=case.operation, arguments={**case.constants, **needed})
            yield OperationCall(operation=case.operation, arguments={**case.constants, **every})
            for name, schema in schemas.items():
                for value in schema.get("enum", ()):
                    yield OperationCall(operation=case.operation, arguments={**case.constants, **every, name: value})
