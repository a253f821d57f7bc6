"""`manage.py harness_variant`: what it prints and writes, and what it says to wrong input."""

from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from console.demo import demo_harness_ensure
from harnesses.augment import draw_variant
from harnesses.formats.folder import import_folder
from ledger.selectors import audit_list
from livestream.demo import demo_harness
from livestream.operations import CATALOGUE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _demo_shop() -> None:
    demo_harness_ensure()


def run(*arguments: str) -> str:
    output = StringIO()
    call_command("harness_variant", *arguments, stdout=output)
    return output.getvalue()


def test_it_tells_what_was_applied_and_what_changed() -> None:
    text = run("--harness", "demo-shop@1", "--transforms", "T1,T3,T6", "--seed", "7", "--set", "T6.what=drop")
    variant = draw_variant(demo_harness(), CATALOGUE, 7, ["T1", "T3", "T6"], {"T6": {"what": "drop"}})
    assert "demo-shop@1, seed 7, train pool" in text
    assert "T1  Rename tools" in text
    assert "T6  could not apply" in text
    assert "Tool renamed: price → " in text
    assert variant.spec.spec_hash in text
    assert "--out DIR" in text


def test_json_holds_the_variant_and_its_prompt_and_nothing_is_written_to_the_database() -> None:
    before = audit_list().count()
    found = json.loads(
        run("--harness", "demo-shop", "--transforms", "T7", "--seed", "1", "--set", "T7.count=3", "--json")
    )
    assert [item["transform"] for item in found["applied"]] == ["T7"]
    assert found["applied"][0]["params"] == {"count": 3}
    assert len(found["document"]["tools"]) == len(demo_harness().tools) + 3
    assert found["verdict"] == "preserving"
    assert "## Tools" in found["prompt"]
    assert audit_list().count() == before


def test_out_writes_a_folder_that_can_be_imported_and_the_prompt(tmp_path) -> None:
    target = tmp_path / "variant"
    text = run("--harness", "demo-shop@1", "--transforms", "T1,P2", "--seed", "3", "--out", str(target))
    assert str(target / "prompt.txt") in text
    files = {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert files.pop("prompt.txt").startswith(b"[system]\n")
    assert import_folder(files) == draw_variant(demo_harness(), CATALOGUE, 3, ["T1", "P2"]).spec
    with pytest.raises(CommandError, match="not an empty folder"):
        run("--harness", "demo-shop@1", "--out", str(target))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--harness", "no-such-shop"], "no harness"),
        (["--harness", "demo-shop@99"], "99"),
        (["--harness", "demo-shop@nightly"], "no label"),
        (["--harness", "demo-shop", "--transforms", "T77"], "no transform"),
        (["--harness", "demo-shop", "--transforms", "T1,T1"], "named twice"),
        (["--harness", "demo-shop", "--transforms", "T1", "--set", "style"], "like T1.style=opaque"),
        (["--harness", "demo-shop", "--transforms", "T1", "--set", "T1.style=latin"], "style is one of"),
    ],
)
def test_wrong_input_is_a_message(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        run(*arguments)
