"""The demo harness that ships with the demo shop: what an operator sees first must be in order."""

import pytest

from harnesses.core.operations import OperationCall
from harnesses.core.spec import HarnessSpec
from harnesses.core.validation import validate
from harnesses.formats.folder import export_folder
from harnesses.runtime.render import render_prompt
from livestream.demo import demo_harness, harness_files
from livestream.operations import CATALOGUE
from livestream.world import demo_world


@pytest.fixture(scope="module")
def spec() -> HarnessSpec:
    return demo_harness()


def test_it_has_no_findings(spec):
    assert validate(spec, CATALOGUE) == ()


def test_its_files_are_what_the_exporter_writes(spec):
    assert export_folder(spec, "Demo shop") == harness_files()


def test_every_operation_of_the_shop_has_a_tool(spec):
    reached = {case.operation for tool in spec.tools if tool.binding for case in tool.binding.cases}
    assert reached == set(CATALOGUE)


def test_its_examples_are_calls_the_shop_would_understand(spec):
    world = demo_world()
    codes = set()
    for example in spec.examples:
        for call in example.calls:
            _, result = world.execute(world.open(0), OperationCall(call.operation, call.arguments))
            codes.add(result.error.code if result.error else "ok")
    # The examples speak of items that no shop has, so that no real price stands in the prompt.
    assert codes <= {"ok", "not_found"}


def test_the_prompt_names_what_is_on_the_shelf(spec):
    world = demo_world()
    room = world.open(3)
    text = render_prompt(spec, world.context(room, "Kim")).text
    assert all(item["name"] in text for item in world.context(room, "Kim")["items"])
