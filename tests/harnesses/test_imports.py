"""Skills and tools in public formats are taken into a harness; what they stand for is kept, and guesses are said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from harnesses.core.diff import diff_specs
from harnesses.core.risk import assess
from harnesses.core.spec import HarnessSpec
from harnesses.formats.agent_skills import import_skills
from harnesses.formats.archive import export_zip, write_zip
from harnesses.formats.detect import import_upload
from harnesses.formats.outcome import FormatError, ImportResult
from tests.harnesses.small_specs import CATALOGUE, shop

SKILL = b"---\nname: gifts\ndescription: Wrap gifts.\nallowed-tools: send_coupon\n---\n\nAsk first.\n"


def upload(content: Any, base: HarnessSpec | None = None, name: str = "upload") -> ImportResult:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return import_upload(name, data, base, CATALOGUE)


def refusal(content: Any, base: HarnessSpec | None = None, name: str = "upload") -> tuple[tuple[str, str], ...]:
    with pytest.raises(FormatError) as caught:
        upload(content, base, name)
    return caught.value.problems


def mcp_tools(spec: HarnessSpec, **new_names: str) -> dict[str, Any]:
    return {
        "tools": [
            {
                "name": new_names.get(tool.name, tool.name),
                "description": tool.description,
                "inputSchema": tool.input_schema,
            }
            for tool in spec.tools
        ]
    }


def openai_tools(spec: HarnessSpec, *, is_flat: bool) -> list[dict[str, Any]]:
    functions: list[dict[str, Any]] = [
        {"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in spec.tools
    ]
    if is_flat:
        return [{"type": "function", "strict": True, **function} for function in functions]
    return [{"type": "function", "function": function} for function in functions]


# --- MCP and OpenAI ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "listing",
    [
        mcp_tools(shop()),
        {"jsonrpc": "2.0", "id": 1, "result": mcp_tools(shop())},
        openai_tools(shop(), is_flat=False),
        openai_tools(shop(), is_flat=True),
        {"model": "m", "messages": [], "tools": openai_tools(shop(), is_flat=False)},
    ],
    ids=["mcp", "mcp json-rpc", "openai chat", "openai responses", "openai request"],
)
def test_a_list_of_the_tools_that_are_there_changes_nothing(listing: Any) -> None:
    result = upload(listing, shop())
    assert result.spec.spec_hash == shop().spec_hash
    assert upload(listing, result.spec).spec.spec_hash == shop().spec_hash


@pytest.mark.parametrize("is_mcp", [True, False])
def test_a_tool_renamed_in_a_list_is_known_to_be_the_one_it_was(is_mcp: bool) -> None:
    listing: Any = mcp_tools(shop(), get_price="fetch_price")
    if not is_mcp:
        listing = openai_tools(shop(), is_flat=True)
        listing[0]["name"] = "fetch_price"
    result = upload(listing, shop())
    (item,) = assess(shop(), result.spec, CATALOGUE).changes
    assert item.headline == "Tool renamed: get_price → fetch_price (T1, preserving)"
    assert any('"fetch_price" was taken as the new name of "get_price"' in note for note in result.notes)
    assert upload(listing, result.spec).spec.spec_hash == result.spec.spec_hash


def test_a_rename_that_could_be_two_tools_is_not_guessed() -> None:
    twins = shop(tools=(shop().tools[1], shop().tools[1].model_copy(update={"id": "other", "name": "other_coupon"})))
    result = upload(mcp_tools(twins, send_coupon="give", other_coupon="hand_out"), twins)
    assert {tool.id for tool in result.spec.tools}.isdisjoint({"coupon", "other"})
    assert any("could be the new name of" in note for note in result.notes)


def test_new_tools_are_bound_where_they_are_an_operation_and_said_to_be_unbound_where_not() -> None:
    listing = {
        "tools": [
            {"name": "send_coupon", "inputSchema": {"type": "object", "properties": {"code": {"type": "string"}}}},
            {"name": "get_price", "inputSchema": {"type": "object", "properties": {"sku": {"type": "string"}}}},
            {"name": "Wähle größe!", "inputSchema": {"type": "object"}},
            {"name": "waehle", "inputSchema": {"type": "object"}},
            {"name": "尺码", "inputSchema": {"type": "object"}},
        ]
    }
    result = upload(listing)
    bindings = [tool.binding.cases[0].operation if tool.binding else None for tool in result.spec.tools]
    assert bindings == ["send_coupon", None, None, None, None]
    assert [tool.id for tool in result.spec.tools] == ["send_coupon", "get_price", "wahle-groe", "waehle", "item"]
    assert any("named like an operation" in note for note in result.notes)
    assert upload(listing, result.spec).spec.spec_hash == result.spec.spec_hash


def test_a_partial_list_says_so_and_removes_nothing() -> None:
    listing = {"tools": mcp_tools(shop())["tools"][1:], "nextCursor": "abc"}
    listing["tools"][0]["description"] = "Send it."
    result = upload(listing, shop())
    assert [tool.name for tool in result.spec.tools] == ["get_price", "send_coupon"]
    assert [change.field for change in diff_specs(shop(), result.spec).changes] == ["description"]
    assert any("partial" in note for note in result.notes)


def test_a_full_list_removes_what_it_does_not_hold_and_says_so() -> None:
    result = upload({"tools": mcp_tools(shop())["tools"][1:]}, shop(skills=()))
    assert [tool.name for tool in result.spec.tools] == ["send_coupon"]
    assert any("removed" in note and "get_price" in note for note in result.notes)


@pytest.mark.parametrize(
    ("listing", "where", "words"),
    [
        ({"jsonrpc": "2.0", "error": {"code": 1, "message": "no"}}, "error", "answered with an error (no)"),
        ({"jsonrpc": "2.0", "result": {}}, "result.tools", "Expected"),
        ({"tools": [3]}, "tools[0]", "name"),
        ({"tools": [{"name": "a"}]}, "tools[0].inputSchema", "JSON Schema"),
        ({"tools": [{"name": "a", "inputSchema": {}}] * 2}, "tools[1]", "also used at tools[0]"),
        ({"tools": [{"name": "a", "inputSchema": {}, "description": 3}]}, "tools[0]: description", ""),
        ([{"type": "function", "function": {}}], "tools[0]", "no name"),
        ([{"type": "function", "name": "a", "parameters": 3}], "tools[0].parameters", "JSON Schema"),
        ([{"type": "function", "name": "a"}, 3], "tools[1]", "Expected"),
    ],
)
def test_a_bad_list_is_refused_with_the_place(listing: Any, where: str, words: str) -> None:
    found = refusal(listing, shop())
    assert any(place == where and words in message for place, message in found), found


def test_tools_that_only_their_vendor_runs_are_left_out_with_a_note() -> None:
    result = upload([{"type": "web_search"}, *openai_tools(shop(), is_flat=True)], shop())
    assert result.spec.spec_hash == shop().spec_hash
    assert any("web_search" in note for note in result.notes)


# --- skills --------------------------------------------------------------------------------------------------------------


def test_skills_are_added_replaced_by_name_and_importing_twice_changes_nothing() -> None:
    files = {
        "gifts/SKILL.md": SKILL.replace(b"\n", b"\r\n"),
        "other/SKILL.md": b"---\nname: sizing\ndescription: Sizes.\nmetadata:\n  version: 1.10\nlicense: MIT\nmodel: x\n---\nText",
        "gifts/scripts/run.py": b"print()",
    }
    result = upload(write_zip(files), shop(), "skills.zip")
    assert [(skill.id, skill.name) for skill in result.spec.skills] == [
        ("sizing", "sizing"),
        ("prices", "prices"),
        ("gifts", "gifts"),
    ]
    sizing, _, gifts = result.spec.skills
    assert (sizing.risk, dict(sizing.metadata)) == ("medium", {"version": "1.10", "license": "MIT"})
    assert (gifts.body, gifts.allowed_tools) == ("Ask first.", ("coupon",))
    notes = "\n".join(result.notes)
    for words in (
        "gifts/scripts/run.py was left out",
        'the folder is called "other"',
        "the field model",
        "replaced",
        "added",
    ):
        assert words in notes
    assert upload(write_zip(files), result.spec).spec.spec_hash == result.spec.spec_hash


def test_a_lone_skill_file_and_a_single_folder_are_taken_and_unknown_tools_said() -> None:
    assert upload(SKILL, name="SKILL.md").spec.skills[0].name == "gifts"
    result = upload(write_zip({"gifts/SKILL.md": SKILL}))
    assert result.spec.skills[0].allowed_tools == ()
    assert any("no tools called send_coupon" in note for note in result.notes)


@pytest.mark.parametrize(
    ("content", "where", "words"),
    [
        (b"# Gifts", "a/SKILL.md", "no front matter"),
        (b"---\nname: gifts\n", "a/SKILL.md", "not closed"),
        (b"---\ndescription: x\n---\n", "a/SKILL.md: name", "has no name"),
        (b"---\nname: gifts\n---\n", "a/SKILL.md: description", "has no description"),
        (b"---\nname: gifts\ndescription: ''\n---\n", "a/SKILL.md: description", "expected 1 to 1,024"),
        (b"---\nname: gifts\ndescription: " + b"x" * 1025 + b"\n---\n", "a/SKILL.md: description", "1,025"),
        (b"---\nname: Gift Wrapping\ndescription: x\n---\n", "a/SKILL.md: name", "lower-case"),
        (b"---\nname: ../../etc\ndescription: x\n---\n", "a/SKILL.md: name", "lower-case"),
        (b"---\nname: gifts\nname: b\ndescription: x\n---\n", "a/SKILL.md", "appears twice"),
        (b"---\nname: [a]\ndescription: x\n---\n", "a/SKILL.md: name", "has no name"),
        (b"---\nname: gifts\ndescription: x\nmetadata: 3\n---\n", "a/SKILL.md: metadata", "key: text"),
        (b"---\nname: gifts\ndescription: x\nallowed-tools: {a: b}\n---\n", "a/SKILL.md: allowed-tools", "names"),
        (b"---\nname: gifts\ndescription: &a x\n---\n", "a/SKILL.md", "anchor"),
        (b"---\nname: gifts\ndescription: x\nmetadata:\n  tackroom-risk: dire\n---\n", "a/SKILL.md: risk", ""),
        ("---\nname: gifts\ndescription: é\n---\n".encode("latin-1"), "a/SKILL.md", "not UTF-8"),
        (b"---\nname: gifts\ndescription: x\n---\na\x00b", "a/SKILL.md", "control character"),
    ],
)
def test_a_bad_skill_is_refused_with_the_field(content: bytes, where: str, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        import_skills({"a/SKILL.md": content, "gifts2/SKILL.md": SKILL.replace(b"gifts", b"gifts2")}, shop())
    found = caught.value.problems
    assert any(place == where and words in message for place, message in found), found


def test_two_skills_of_one_name_are_refused() -> None:
    found = refusal(write_zip({"a/SKILL.md": SKILL, "b/SKILL.md": SKILL}))
    assert "also used in a/SKILL.md" in found[0][1]


# --- recognising ---------------------------------------------------------------------------------------------------------


def test_our_own_forms_are_recognised_whatever_their_name() -> None:
    assert upload(export_zip(shop()), name="x.bin").spec.spec_hash == shop().spec_hash
    assert upload(shop().document()).spec.spec_hash == shop().spec_hash
    wrapped = write_zip({"my harness/" + "x": b""})
    assert "neither harness.yaml nor any SKILL.md" in refusal(wrapped)[0][1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        ({}, "none of the known forms"),
        ([], "none of the known forms"),
        ({"a": 1}, "none of the known forms"),
        (3, "none of the known forms"),
        (b"hello", "Expected one of"),
        (b"\x89PNG\r\n", "Expected one of"),
        (b'{"schema_version": 1, "schema_version": 1}', "appears twice"),
        (b'{"schema_version": NaN}', "NaN"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"a": ' + b'"' + b"x" * 5_000_001 + b'"}', "limit is 5,000,000"),
        ({"schema_version": 99}, ""),
        ({"schema_version": 1, "tools": [{"name": 3}]}, ""),
    ],
)
def test_what_is_none_of_them_is_refused_with_what_was_expected(content: Any, words: str) -> None:
    found = refusal(content, shop())
    assert any(words in message for _, message in found), found
