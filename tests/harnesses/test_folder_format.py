"""A harness survives being written to a folder or zip and read back, and a bad folder says what is wrong where."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harnesses.core.spec import HarnessSpec, PromptSection, Skill
from harnesses.formats.archive import export_zip, read_zip
from harnesses.formats.folder import export_folder, import_folder
from harnesses.formats.outcome import FormatError
from harnesses.formats.safe_yaml import YamlInputError, dump_yaml, parse_yaml
from tests.harnesses.small_specs import coupon_tool, price_tool, shop, specs

YAML_TRAPS = [
    "yes", "on", "1:30", "0x1f", "1e5", "12", "1.", "null", "~", "---", "- a", "a: b", "a #b", "2026-01-01",
    "a\n\nb\n", " a\nb", "a\n b", "\ta", "<<", "=", "a\nb  ", "1_000", "a\u2028b", "%a", "a\n---\nb",
    "a\n...\nb", "0o14", "N",
]  # fmt: skip
HARD_TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(YAML_TRAPS)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | HARD_TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HARD_TEXTS, inner, max_size=3),
    max_leaves=8,
)


def problems_of(files: dict[str, bytes]) -> list[tuple[str, str]]:
    with pytest.raises(FormatError) as caught:
        import_folder(files)
    return [(where, message) for where, message in caught.value.problems]


@given(specs)
@example(shop())
@settings(max_examples=40, deadline=None)
def test_export_and_import_give_back_the_same_harness_and_the_same_bytes(spec: HarnessSpec) -> None:
    files = export_folder(spec, "Demo")
    once = import_folder(files)
    assert once.spec_hash == spec.spec_hash
    assert export_folder(once, "Demo") == files
    assert import_folder(export_folder(once)).spec_hash == spec.spec_hash


def test_the_zip_is_the_folder_and_the_same_every_time() -> None:
    data = export_zip(shop(), "Demo")
    assert data == export_zip(import_folder(read_zip(data)), "Demo")
    assert import_folder(read_zip(data)).spec_hash == shop().spec_hash


def test_equal_hashes_give_equal_bytes_whatever_the_order_of_json_keys() -> None:
    schema = price_tool().input_schema
    turned = {key: schema[key] for key in reversed(list(schema))}
    other = shop(tools=(price_tool(input_schema=turned), coupon_tool()))
    assert export_zip(other) == export_zip(shop())


@pytest.mark.parametrize(
    "body",
    ["---\nname: x\n---\n", "---", "no line end", "one line end\n", "\n\nempty lines\n\n", "", "\n", "中文 😀 عربي"],
)
def test_a_body_survives_to_the_letter(body: str) -> None:
    spec = HarnessSpec(
        prompt=(PromptSection(id="a", title="---", body=body),),
        skills=(Skill(id="a", name="a", description=body, body=body),),
    )
    assert import_folder(export_folder(spec)) == spec


def test_the_layout_is_the_documented_one() -> None:
    assert list(export_folder(shop())) == [
        "harness.yaml",
        "prompt/01-persona.md",
        "prompt/02-policy.md",
        "skills/sizing/SKILL.md",
        "skills/prices/SKILL.md",
        "tools/get_price.json",
        "tools/send_coupon.json",
        "hooks.yaml",
    ]
    text = export_folder(shop())["skills/prices/SKILL.md"].decode()
    assert "allowed-tools: get_price\n" in text
    assert "tackroom-id: prices\n" in text


def test_names_that_are_no_file_names_fall_back_to_ids_and_twins_get_numbers() -> None:
    names = ["../../etc/passwd", "con/aux", "Sizing", "sizing", "尺码"]
    skills = tuple(Skill(id=f"s{i}", name=name, description="", body="") for i, name in enumerate(names))
    files = export_folder(HarnessSpec(skills=skills))
    paths = [path.split("/")[1] for path in files if path.startswith("skills/")]
    assert paths == ["s0", "s1", "Sizing", "sizing-2", "s4"]


def test_written_by_hand_a_folder_needs_little_and_may_have_crlf_and_a_byte_order_mark() -> None:
    files = {
        "harness.yaml": b"\xef\xbb\xbfschema_version: 1\r\n",
        "prompt/10-rules.md": b"---\r\ntitle: Rules\r\nis_policy: true\r\n---\r\nBe kind.\r\nBe brief.\r\n",
        "prompt/9-persona.md": b"---\ntitle: Who\n---\nHello",
        "skills/fit/SKILL.md": b"---\nname: fit\ndescription: yes\nallowed-tools: look\n---\nText\n",
        "tools/look.json": b'{"name": "look", "inputSchema": {"type": "object"}}',
        "README.md": b"for people",
        ".gitignore": b"",
    }
    spec = import_folder(files)
    assert [section.id for section in spec.prompt] == ["persona", "rules"]
    assert spec.prompt[1].body == "Be kind.\nBe brief."
    assert spec.prompt[1].is_policy
    assert spec.skills[0].description == "yes"
    assert spec.skills[0].allowed_tools == (spec.tools[0].id,) == ("look",)


@pytest.mark.parametrize(
    ("path", "content", "where", "words"),
    [
        ("harness.yaml", b"- a", "harness.yaml", "key: value"),
        ("harness.yaml", b"prompt: [persona, policy]", "harness.yaml", "schema_version is missing"),
        ("harness.yaml", b"schema_version: 1\ncolour: red", "harness.yaml", 'field "colour"'),
        ("harness.yaml", b"schema_version: 1\ntools: [price]", "harness.yaml: tools", '"coupon"'),
        ("harness.yaml", b"schema_version: 1\ntools: [price, coupon, gone]", "harness.yaml: tools", '"gone"'),
        ("harness.yaml", b"schema_version: 1\ntools: [price, price, coupon]", "harness.yaml: tools", "twice"),
        ("harness.yaml", b"schema_version: 1\nruntime: {temperature: hot}", "harness.yaml: runtime.temperature", ""),
        ("harness.yaml", b"a: &a [1]\nb: *a", "harness.yaml", "anchor or alias"),
        ("harness.yaml", b"a: 1\na: 2", "harness.yaml", "appears twice"),
        ("harness.yaml", b"1: 2", "harness.yaml", "not text"),
        ("harness.yaml", b"a: !!python/name:os.system x", "harness.yaml", "tag"),
        ("harness.yaml", b"a: [", "harness.yaml", "Not valid YAML at line"),
        ("harness.yaml", b"\xff\xfe", "harness.yaml", "not UTF-8"),
        ("harness.yaml", b"a: \x00", "harness.yaml", "control character"),
        ("hooks.yaml", b"hooks: 3", "hooks.yaml", "list of hooks"),
        ("hooks.yaml", b"hooks: [{id: a}]", "hooks.yaml: hook 1: name", ""),
        ("prompt/01-persona.md", b"Hello", "prompt/01-persona.md", "no front matter"),
        ("prompt/01-persona.md", b"---\ntitle: a\n", "prompt/01-persona.md", "not closed"),
        ("prompt/01-persona.md", b"---\ntext\n---\n", "prompt/01-persona.md", "holds no fields"),
        ("prompt/01-persona.md", b"---\ntitle: a\ntitel: b\n---\n", "prompt/01-persona.md", '"titel"'),
        ("prompt/persona.md", b"---\ntitle: a\n---\n", "prompt/persona.md", "not part of a harness folder"),
        ("skills/sizing/SKILL.md", b"# Sizing", "skills/sizing/SKILL.md", "no front matter"),
        ("skills/sizing/SKILL.md", b"---\nname: x\n---\n", "skills/sizing/SKILL.md: description", "no description"),
        (
            "skills/sizing/SKILL.md",
            b"---\nname: x\ndescription: y\nallowed-tools: nope\n---\n",
            "skills/sizing/SKILL.md: allowed-tools",
            "nope",
        ),
        ("tools/get_price.json", b'{"id": "price", "id": "b"}', "tools/get_price.json", "appears twice"),
        ("tools/get_price.json", b'{"id": NaN}', "tools/get_price.json", "NaN"),
        ("tools/get_price.json", b"[]", "tools/get_price.json", "JSON object"),
        ("tools/get_price.json", b"[" * 100, "tools/get_price.json", "nested deeper"),
        ("tools/get_price.json", b'{"id": "price", "name": "get_price"}', "tools/get_price.json: input_schema", ""),
        ("tools/again.json", b'{"id": "price", "name": "a", "inputSchema": {}}', "tools/get_price.json", "also used in"),
        ("tools/x/y.json", b"{}", "tools/x/y.json", "not part of a harness folder"),
    ],
)  # fmt: skip
def test_a_bad_file_is_named_with_what_is_wrong(path: str, content: bytes, where: str, words: str) -> None:
    found = problems_of(export_folder(shop()) | {path: content})
    assert any(place == where and words in message for place, message in found), found


def test_a_folder_without_a_manifest_and_many_problems_at_once() -> None:
    assert problems_of({"tools/a.json": b"{}"})[0][0] == "harness.yaml"
    bad = export_folder(shop()) | {"prompt/01-persona.md": b"", "tools/get_price.json": b"{", "hooks.yaml": b"["}
    assert {"prompt/01-persona.md", "tools/get_price.json", "hooks.yaml"} <= {place for place, _ in problems_of(bad)}


def test_ids_used_twice_are_refused_before_a_file_is_overwritten() -> None:
    twins = tuple(Skill(id="a", name=name, description="", body="") for name in ("x", "y"))
    with pytest.raises(FormatError, match='"a" is used twice'):
        export_folder(HarnessSpec(skills=twins))


@given(JSON_VALUES)
@settings(max_examples=100, deadline=None)
def test_yaml_gives_back_the_value_it_was_written_from(value: Any) -> None:
    assert parse_yaml(dump_yaml(value)) == value


@pytest.mark.parametrize(
    "text",
    ["[" * 100, "---\na\n---\nb", "a: 1e999", "a: " + "9" * 10_000, "<<: {a: 1}\n<<: {b: 2}", "? [a]\n: 1", "\x07"],
)
def test_yaml_that_is_no_plain_json_is_refused(text: str) -> None:
    with pytest.raises(YamlInputError):
        parse_yaml(text)
