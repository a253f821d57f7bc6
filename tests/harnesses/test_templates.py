"""Templates: what they can say, what they cannot, and that a rename is followed everywhere."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harnesses.core.spec import HarnessSpec
from harnesses.core.templates import (
    CONTEXT_SCHEMA,
    MAX_OUTPUT_CHARS,
    MAX_TEMPLATE_CHARS,
    SAMPLE_CONTEXT,
    Reference,
    TemplateError,
    check_template,
    render_template,
    template_references,
)
from tests.harnesses.runtime_worlds import price_tool, renamed_spec, shop_spec

SPEC = shop_spec()


def codes(text: str, spec: HarnessSpec = SPEC) -> list[str]:
    return [problem.code for problem in check_template(text, spec)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No marks at all, {not one}.", "No marks at all, {not one}."),
        ("{{ room.title }} with {{ host.name }}", "Autumn knits with Mara"),
        ('{{ room["title"] | upper }}', "AUTUMN KNITS"),
        ("{% if item %}{{ item.id }}{% else %}nothing{% endif %}", "K07"),
        ("{% if clock.time > '18:00' and not room.title == 'K11' %}evening{% endif %}", "evening"),
        ("{% for one in items %}{{ loop.index }} {{ one.id }}{{ ', ' if not loop.last }}{% endfor %}", "1 K07, 2 K11"),
        ("{{ items | join('; ', attribute='name') }}", "Merino cardigan; Ribbed beanie"),
        ("{{ items | length }} items", "2 items"),
        ("{% if 'wool' in room.topic %}wool{% endif %}", "wool"),
        ("{{ 'a' ~ room.title ~ 'b' }}", "aAutumn knitsb"),
        ("{{ '{{' }}", "{{"),
        (
            '{{ tool("price") }} / {{ skill("sizing") }} / {{ param("price", "item_id") }}',
            "get_price / size-advice / item",
        ),
    ],
)
def test_what_a_template_can_say(text: str, expected: str) -> None:
    assert check_template(text, SPEC) == ()
    assert render_template(text, SPEC, SAMPLE_CONTEXT) == expected


def test_an_example_call_goes_through_the_binding_and_the_call_format() -> None:
    text = '{{ call("price", item_id="K07", currency="USD") }}'
    assert render_template(text, SPEC, SAMPLE_CONTEXT) == "CALL get_price; item: K07; money: dollar"
    hermes = shop_spec(call_format="hermes")
    wanted = '<tool_call>{"name": "get_price", "arguments": {"item": "K07", "money": "dollar"}}</tool_call>'
    assert render_template(text, hermes, SAMPLE_CONTEXT) == wanted


def test_an_example_call_follows_a_rename_and_leaves_out_what_the_tool_fixes() -> None:
    text = '{{ call("price", item_id="K07", currency="CNY") }} {{ param("price", "item_id") }}'
    assert render_template(text, renamed_spec(), SAMPLE_CONTEXT) == "CALL kosten_abfragen; artikel: K07 artikel"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{{ room.title", "template_syntax"),
        ("{{ rooom.title }}", "template_unknown_variable"),
        ("{{ room.colour }}", "template_unknown_variable"),
        ("{{ x }}", "template_unknown_variable"),
        ("{{ room }}", "template_whole_object"),
        ("{{ items }}", "template_whole_object"),
        ("{{ item.name }}", "template_missing_value"),
        ("{{ items[0].name }}", "template_missing_value"),
        ('{{ tool("nothing") }}', "template_unknown_tool"),
        ('{{ skill("nothing") }}', "template_unknown_skill"),
        ('{{ param("price", "nothing") }}', "template_unknown_argument"),
        ('{{ call("price", nothing=1) }}', "template_bad_call"),
        ('{{ call("price") }}', "template_bad_call"),
        ("{{ tool }}", "template_bad_call"),
        ("{{ tool(room.title) }}", "template_bad_call"),
        ('{{ tool("price", "x", "y") }}', "template_bad_call"),
        ('{% if room.title == "never" %}{{ tool("nothing") }}{% endif %}', "template_unknown_tool"),
        ("x" * (MAX_TEMPLATE_CHARS + 1), "template_too_long"),
        ("{{ room.title }}" * 2_001, "template_too_long"),
        ("{% if room.title %}" * 60 + "{% endif %}" * 60, "template_too_deep"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "template_too_deep"),
    ],
)
def test_what_is_wrong_is_named(text: str, code: str) -> None:
    assert codes(text) == [code]
    problem = check_template(text, SPEC)[0]
    assert problem.message
    assert problem.mend


@pytest.mark.parametrize(
    "text",
    [
        "{{ room.__class__ }}",
        "{{ room['__class__'] }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ room.title.upper() }}",
        "{{ room.title|attr('upper') }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ self }}",
        "{{ range(999999999) }}",
        "{{ 'a' * 999999999 }}",
        "{{ 9 ** 999999999 }}",
        "{{ 1|round(999999999) }}",
        "{{ '%999999999d'|format(1) }}",
        "{{ items|map('upper') }}",
        "{{ items|join(room.title) }}",
        "{% set x = 1 %}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% call tool('price') %}{% endcall %}",
        "{% filter upper %}x{% endfilter %}",
        "{% block b %}{% endblock %}",
        "{% for a in items %}{% for b in items %}x{% endfor %}{% endfor %}",
        "{% for a in items recursive %}{{ loop(items) }}{% endfor %}",
        "{% for a in room %}x{% endfor %}",
        "{% for room in items %}x{% endfor %}",
        "{% for a, b in items %}x{% endfor %}",
        "{{ tool(*items) }}",
        "{{ tool(**room) }}",
    ],
)
def test_injection_and_endless_templates_are_refused_before_they_run(text: str) -> None:
    problems = check_template(text, SPEC)
    assert problems
    with pytest.raises(TemplateError):
        render_template(text, SPEC, SAMPLE_CONTEXT)


def test_values_are_never_read_as_templates() -> None:
    context = {**SAMPLE_CONTEXT, "viewer": {"name": '{{ tool("price") }}{% for %}'}}
    assert render_template("Hi {{ viewer.name }}", SPEC, context) == 'Hi {{ tool("price") }}{% for %}'


def test_output_is_limited() -> None:
    context = {**SAMPLE_CONTEXT, "items": [{"id": "x" * 1000, "name": ""}] * (MAX_OUTPUT_CHARS // 1000 + 1)}
    with pytest.raises(TemplateError, match="characters"):
        render_template("{% for one in items %}{{ one.id }}{% endfor %}", SPEC, context)


def test_a_missing_context_value_is_an_error_not_an_empty_string() -> None:
    with pytest.raises(TemplateError, match="clock"):
        render_template("{{ clock.time }}", SPEC, {"room": {"title": "a"}})


def test_references_are_listed_once_in_order() -> None:
    text = '{{ tool("price") }}{{ call("card", item_id="K07") }}{{ tool("price") }}{% if false %}{{ skill("s") }}{% endif %}'
    assert template_references(text) == (Reference("tool", "price"), Reference("call", "card"), Reference("skill", "s"))
    assert template_references("{{ broken") == ()


def test_a_tool_that_covers_several_operations_needs_the_operation_named() -> None:
    first = price_tool().binding.cases[0]  # type: ignore[union-attr]
    both = price_tool(
        input_schema={
            "type": "object",
            "properties": {"do": {"enum": ["ask", "show"]}, "item": {"type": "string"}, "money": {"type": "string"}},
            "required": ["do", "item"],
        },
        binding={
            "switch": "do",
            "cases": [
                first.model_copy(update={"when": "ask"}),
                {"operation": "push_card", "when": "show", "arguments": [{"argument": "item_id", "path": "item"}]},
            ],
        },
    )
    spec = HarnessSpec(tools=(both,))
    assert codes('{{ call("price", item_id="K07") }}', spec) == ["template_bad_call"]
    written = render_template('{{ call("price", "push_card", item_id="K07") }}', spec, SAMPLE_CONTEXT)
    assert written == "CALL get_price; do: show; item: K07"


def test_the_sample_context_fits_the_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(SAMPLE_CONTEXT, CONTEXT_SCHEMA)


_PIECES = [
    "{{ ", " }}", "{% ", " %}", "if ", "else", "endif", "for ", "x", " in ", "items", "endfor", "room", ".title", "|upper",
    "(", ")", "tool", '"price"', "1", " + ", "[", "]", "text", "set ", "=", "{#", "#}", ".__class__", "\n", "loop",
]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=14).map("".join))
def test_any_text_is_checked_without_a_crash_and_a_clean_one_renders(text: str) -> None:
    if not check_template(text, SPEC):
        render_template(text, SPEC, SAMPLE_CONTEXT)
        render_template(text, SPEC, {**SAMPLE_CONTEXT, "item": None, "items": []})
