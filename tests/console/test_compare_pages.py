"""Comparing on the pages: any two versions, labels, drafts, forks; meaning first, then the prompt, then the texts."""

from __future__ import annotations

import re
from html import unescape

import pytest

from console.component_diffs import component_changes
from console.text_diff import MAX_HIDDEN_ROWS, text_diff
from harnesses.core.editing import apply_edits
from harnesses.core.spec import HarnessSpec
from harnesses.models import HarnessVersion
from harnesses.services import draft_open, draft_save, harness_commit, harness_create, harness_fork, label_move
from ledger.core.roles import Role
from tests.console import sample
from tests.console.conftest import SignIn

COMPARE = f"/harnesses/{sample.SLUG}/compare/"


def version(harness, number: int) -> HarnessVersion:
    return HarnessVersion.objects.select_related("harness").get(harness=harness, number=number)


def edited(spec: HarnessSpec, *edits: dict) -> HarnessSpec:
    return apply_edits(spec, list(edits)).spec


def shown(client, query: str = "", status: int = 200) -> str:
    response = client.get(f"{COMPARE}{query}")
    assert response.status_code == status
    return unescape(response.content.decode())


# --- what can be compared ------------------------------------------------------------------------------------------------


def test_without_a_choice_the_newest_version_is_compared_with_the_one_before(operator, sign_in: SignIn, harness):
    page = shown(sign_in(operator))
    assert re.search(r'<option value="1" selected>', page)
    assert re.search(r'<option value="2" selected>', page)


def test_meaning_comes_first_then_the_prompt_then_the_components(operator, sign_in: SignIn, harness):
    page = shown(sign_in(operator), "?old=1&new=2")
    places = [
        page.index(words)
        for words in (
            "Tool renamed: get_price → fetch_price (T1, preserving)",
            "What the model reads",
            "Component by component",
            'id="c-prompt-role"',
            'id="c-tool-price"',
        )
    ]
    assert places == sorted(places)
    assert re.search(r"\d+ → \d+ tokens, \d+ tokens? (longer|shorter)", page)
    assert f"/harnesses/{sample.SLUG}/versions/2/#tool-price" in page


def test_a_draft_is_compared_with_its_base_or_with_any_version(operator, sign_in: SignIn, harness):
    draft = draft_open(harness=harness, acting_user=operator, name="Warmer")
    edit = {"op": "set", "kind": "prompt", "id": "role", "fields": {"body": "Be warm."}}
    draft_save(draft=draft, revision=1, edits=[edit], acting_user=operator)
    client = sign_in(operator)
    for query in (f"?draft={draft.pk}", f"?new=draft:{draft.pk}"):
        page = shown(client, query)
        assert "draft “Warmer”" in page
        assert "<ins>warm" in page or "Be warm." in page
        assert f"/harnesses/{sample.SLUG}/drafts/{draft.pk}/#prompt/role" in page
        assert "Tool renamed" not in page
    assert "Tool renamed" in shown(client, f"?old=1&new=draft:{draft.pk}")


def test_a_first_draft_is_compared_with_an_empty_harness(operator, sign_in: SignIn):
    made = harness_create(slug=sample.SLUG, title="New", world=sample.WORLD, acting_user=operator)
    draft = draft_open(harness=made, acting_user=operator)
    section = {"id": "role", "title": "Role", "body": "Help."}
    draft_save(
        draft=draft, revision=1, edits=[{"op": "add", "kind": "prompt", "component": section}], acting_user=operator
    )
    page = shown(sign_in(operator), f"?draft={draft.pk}")
    assert "an empty harness" in page
    assert "Section added: Role" in page


def test_a_label_stands_for_its_version(operator, sign_in: SignIn, harness):
    label_move(harness=harness, name="staging", version=version(harness, 1), reason="", acting_user=operator)
    page = shown(sign_in(operator), "?old=staging&new=2")
    assert "v1 (staging)" in page
    assert "Tool renamed" in page


def test_a_harness_is_compared_with_its_fork_from_either_side(operator, sign_in: SignIn, harness):
    fork = harness_fork(version=version(harness, 1), slug="night", title="Night", acting_user=operator)
    client = sign_in(operator)
    page = shown(client, "?old=2&new=night@1")
    assert "Tool renamed: fetch_price → get_price" in page
    assert "night v1" in page
    assert "night, newest version" in shown(client)
    other = unescape(client.get(f"/harnesses/{fork.slug}/compare/?old={sample.SLUG}@newest&new=1").content.decode())
    assert "Tool renamed: fetch_price → get_price" in other


def test_another_harness_that_one_may_not_see_is_not_there(operator, make_user, sign_in: SignIn, harness):
    owner = make_user(Role.OPERATOR, username="owner")
    secret = harness_create(slug="secret", title="Secret", world=sample.WORLD, acting_user=owner)
    harness_commit(harness=secret, spec=sample.sample_spec(), message="", acting_user=owner)
    secret.access = "members"
    secret.save()
    page = shown(sign_in(operator), "?old=1&new=secret@1", 422)
    assert "There is no version 'secret@1'" in page


@pytest.mark.parametrize(
    "query",
    [
        "?new=draft:99",
        "?new=draft:x",
        "?old=draft:1@2",
        "?new=nowhere@1",
        "?new=@",
        "?old=v0",
        "?new=" + "9" * 400,
    ],
)
def test_a_side_that_is_not_there_is_told_at_its_field(operator, sign_in: SignIn, harness, query):
    page = shown(sign_in(operator), query, 422)
    assert 'role="alert"' in page


def test_equal_sides_say_so(operator, sign_in: SignIn, harness):
    page = shown(sign_in(operator), "?old=2&new=2")
    assert "Nothing changed: both have the same content." in page
    assert "Component by component" not in page


def test_a_prompt_that_cannot_be_rendered_is_told_and_the_rest_is_shown(operator, sign_in: SignIn, harness):
    draft = draft_open(harness=harness, acting_user=operator)
    edit = {"op": "set", "kind": "prompt", "id": "role", "fields": {"body": "{{ weather }}"}}
    draft_save(draft=draft, revision=1, edits=[edit], acting_user=operator)
    page = shown(sign_in(operator), f"?draft={draft.pk}")
    assert 'cannot be rendered: Prompt section "role": There is no variable "weather"' in page
    assert 'id="c-prompt-role"' in page


# --- how it is shown -----------------------------------------------------------------------------------------------------


def test_the_layout_is_remembered(operator, sign_in: SignIn, harness):
    client = sign_in(operator)
    assert "diff--unified" not in shown(client, "?old=1&new=2")
    assert "diff--unified" in shown(client, "?old=1&new=2&layout=unified")
    assert "diff--unified" in shown(client, "?old=2&new=1")
    assert "diff--unified" in shown(client, "?old=2&new=1&layout=sideways")
    assert "diff--unified" not in shown(client, "?old=2&new=1&layout=side")


def test_who_made_a_component_what_it_is_is_linked(operator, sign_in: SignIn, harness):
    third = sample.sample_spec(price_name="fetch_price", greeting="Answer briefly.")
    harness_commit(harness=harness, spec=third, message="Shorter", acting_user=operator)
    page = shown(sign_in(operator), "?old=1&new=3")
    assert re.search(
        rf'href="/harnesses/{sample.SLUG}/compare/\?new=2#c-tool-price"[^>]*>made in v2 by Olga Operator', page
    )
    assert "#c-prompt-role" not in page


def test_keys_that_only_moved_are_no_change_and_the_authors_order_is_kept():
    spec = sample.sample_spec()
    document = spec.document()
    schema = document["tools"][0]["input_schema"]
    document["tools"][0]["input_schema"] = {key: schema[key] for key in reversed(schema)}
    moved = HarnessSpec.model_validate(document)
    assert component_changes(spec, moved, old_label="a", new_label="b") == ()
    edit = {
        "op": "set",
        "kind": "tool",
        "id": "price",
        "fields": {"input_schema.properties.item.description": "Other."},
    }
    (change,) = component_changes(spec, edited(moved, edit), old_label="a", new_label="b")
    (field,) = change.fields
    assert sum(bool(row.new_class) for row in field.diff.rows) == 1
    assert [line.new_pieces[0][1] for line in field.diff.rows[0].hidden][:2] == ["{", '  "required": [']


def test_added_removed_and_reordered_components_are_told():
    spec = sample.sample_spec()
    section = {"id": "gifts", "title": "Gifts", "body": "Wrap them."}
    other = edited(
        spec,
        {"op": "add", "kind": "prompt", "component": section, "after": "role"},
        {"op": "remove", "kind": "tool", "id": "stock"},
        {"op": "move", "kind": "hook", "id": "no-guarantee", "after": None},
        {"op": "set", "kind": "runtime", "fields": {"deadline_ms": 900}},
    )
    changes = component_changes(spec, other, old_label="a", new_label="b")
    assert [(item.key, item.state.label) for item in changes] == [
        ("c-prompt-gifts", "Added"),
        ("c-tool-stock", "Removed"),
        ("c-hook-order", "Changed"),
        ("c-runtime-runtime", "Changed"),
    ]


# --- texts ---------------------------------------------------------------------------------------------------------------


def test_long_equal_stretches_are_folded_and_can_be_unfolded():
    old = "\n".join(f"line {number}" for number in range(60))
    diff = text_diff(old, old.replace("line 30", "line thirty"), old_label="a", new_label="b")
    assert diff is not None
    folds = [row for row in diff.rows if row.skipped]
    assert [row.skipped for row in folds] == [27, 26]
    assert [line.old_number for line in folds[0].hidden] == list(range(1, 28))
    numbers = [row.new_number for row in diff.rows if row.new_number] + [
        n.new_number for row in folds for n in row.hidden
    ]
    assert set(numbers) == set(range(1, 61))
    assert len(numbers) == 60


def test_one_column_shows_first_what_went_then_what_came():
    diff = text_diff("a\nb\nc", "a\nx\ny\nc", old_label="a", new_label="b")
    assert diff is not None
    assert [(row.old_number, row.new_number) for row in diff.unified] == [
        (1, 1),
        (2, None),
        (None, 2),
        (None, 3),
        (3, 4),
    ]


def test_too_many_equal_lines_are_counted_and_not_carried_along():
    old = "\n".join(f"line {number}" for number in range(MAX_HIDDEN_ROWS + 100))
    diff = text_diff(f"{old}\nx", f"{old}\ny", old_label="a", new_label="b")
    assert diff is not None
    assert diff.rows[0].skipped > MAX_HIDDEN_ROWS
    assert diff.rows[0].hidden == ()


def test_thousands_of_equal_lines_take_no_long_time():
    diff = text_diff("x\n" + "}\n" * 20_000, "y\n" + "}\n" * 20_001 + "z", old_label="a", new_label="b")
    assert diff is not None
    assert diff.is_cut
