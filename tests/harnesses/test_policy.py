"""Who may do what with a harness: the pure rule, the policy that asks it, and the table of it in the documentation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harnesses import policy
from harnesses.core.membership import (
    ACTION_PERMISSIONS,
    HARNESS_ROLE_TITLES,
    ROLE_ACTIONS,
    HarnessAction,
    HarnessRole,
    allowed_actions,
)
from harnesses.models import Harness
from harnesses.selectors import harness_list
from harnesses.services import harness_commit, harness_create, harness_import, harness_update, member_set
from ledger.core.roles import ROLE_PERMISSIONS, ROLE_TITLES, Permission, Role
from ledger.errors import Denied, NotFound
from ledger.selectors import user_by_username
from ledger.services import team_create
from tests.harnesses.samples import sample_spec

DOCUMENT = Path(__file__).parents[2] / "docs" / "people.md"
SOME_PERMISSIONS = st.frozensets(st.sampled_from(Permission))
SOME_ROLES = st.lists(st.sampled_from([*HarnessRole, "janitor"]))


# --- the rule --------------------------------------------------------------------------------------------------------


@given(SOME_PERMISSIONS, SOME_ROLES, st.booleans())
def test_another_role_or_permission_never_takes_anything_away(permissions, roles, is_members_only):
    allowed = allowed_actions(permissions, roles, is_members_only=is_members_only)
    for role in HarnessRole:
        assert allowed <= allowed_actions(permissions, [*roles, role], is_members_only=is_members_only)
    for permission in Permission:
        assert allowed <= allowed_actions(permissions | {permission}, roles, is_members_only=is_members_only)


@given(SOME_PERMISSIONS, SOME_ROLES)
def test_of_a_harness_for_members_only_permissions_open_nothing_but_to_those_who_manage_all(permissions, roles):
    hidden = allowed_actions(permissions, roles, is_members_only=True)
    assert hidden <= allowed_actions(permissions, roles, is_members_only=False)
    if Permission.MANAGE_HARNESS not in permissions:
        assert hidden == allowed_actions((), roles, is_members_only=False)


def test_who_may_do_anything_in_a_harness_may_see_it():
    assert all(HarnessAction.VIEW in actions for actions in ROLE_ACTIONS.values())


def test_no_role_but_admin_both_writes_and_releases():
    for role in set(HarnessRole) - {HarnessRole.ADMIN}:
        assert not {HarnessAction.EDIT, HarnessAction.RELEASE} <= ROLE_ACTIONS[role]


# --- the policy ------------------------------------------------------------------------------------------------------


@pytest.fixture
def harness(operator, world):
    return harness_create(slug="autumn", title="Autumn", world=world, acting_user=operator)


@pytest.fixture
def hidden(harness, operator):
    return harness_update(harness=harness, access="members", acting_user=operator)


def fresh(user):
    """The person as the next request knows them: nothing remembered."""
    return user_by_username(user.username)


@pytest.mark.django_db
@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("access", Harness.Access.values)
def test_one_harness_and_many_are_judged_alike(make_user, harness, operator, role, access):
    harness = harness_update(harness=harness, access=access, acting_user=operator)
    person = make_user(role, username="somebody")
    for member_role in (None, *HarnessRole):
        if member_role is not None:
            member_set(harness=harness, kind="user", name="somebody", role=member_role, acting_user=operator)
        allowed = policy.actions(fresh(person), harness)
        for action in HarnessAction:
            listed = policy.harnesses_allowing(fresh(person), action).filter(pk=harness.pk).exists()
            assert policy.may(fresh(person), action, harness) == listed == (action in allowed), (member_role, action)
            assert not listed or policy.may_somewhere(fresh(person), action)


@pytest.mark.django_db
def test_what_is_open_to_everybody_is_judged_without_another_query(harness, operator, django_assert_num_queries):
    person = fresh(operator)
    with django_assert_num_queries(1):
        policy.require(person, HarnessAction.PLAY, harness)
    with django_assert_num_queries(0):
        policy.require(person, HarnessAction.EDIT, harness)


@pytest.mark.django_db
def test_a_hidden_harness_reads_like_one_that_is_not_there(hidden, reviewer):
    with pytest.raises(NotFound) as hidden_error:
        policy.harness_for(reviewer, "autumn")
    with pytest.raises(NotFound) as missing_error:
        policy.harness_for(reviewer, "spring")
    assert hidden_error.value.detail == missing_error.value.detail.replace("spring", "autumn")
    assert list(policy.visible_harnesses(reviewer, harness_list())) == []


@pytest.mark.django_db
def test_a_team_opens_to_its_people_what_it_may_do_and_closes_with_it(hidden, operator, reviewer, analyst):
    team_create(slug="night-shift", name="Night shift", members=["anton"], acting_user=None)
    member_set(harness=hidden, kind="team", name="night-shift", role="operator", acting_user=operator)
    assert policy.actions(analyst, hidden) == ROLE_ACTIONS[HarnessRole.OPERATOR]
    assert policy.actions(reviewer, hidden) == frozenset()


@pytest.mark.django_db
def test_a_closed_account_may_do_nothing_even_as_admin_of_the_harness(hidden, operator):
    operator.is_active = False
    assert policy.actions(operator, hidden) == frozenset()
    assert not policy.may(operator, HarnessAction.VIEW, hidden)
    assert not policy.may_somewhere(operator, HarnessAction.VIEW)
    assert not policy.harnesses_allowing(operator, HarnessAction.VIEW).exists()


@pytest.mark.django_db
def test_a_refusal_names_the_roles_that_may(harness, analyst):
    with pytest.raises(Denied, match=r"Operator.*in this harness: Operator, Engineer, Admin"):
        policy.require(analyst, HarnessAction.EDIT, harness)


@pytest.mark.django_db
@pytest.mark.parametrize("member_role", HarnessRole)
def test_services_ask_the_policy_themselves(hidden, operator, reviewer, member_role):
    """Whatever a view forgot: a role in the harness opens what the table says, and nobody else gets so far."""
    spec = sample_spec()

    def commit():
        return harness_commit(harness=hidden, spec=spec, message="", acting_user=reviewer)

    def upload():
        return harness_import(harness=hidden, filename="x.json", data=b"{}", message="", acting_user=reviewer)

    with pytest.raises(NotFound):
        commit()
    with pytest.raises(NotFound):
        upload()
    member_set(harness=hidden, kind="user", name="rui", role=member_role, acting_user=operator)
    if HarnessAction.EDIT in ROLE_ACTIONS[member_role]:
        assert commit().is_new
    else:
        with pytest.raises(Denied):
            commit()
        with pytest.raises(Denied):
            upload()


# --- the documentation -----------------------------------------------------------------------------------------------


def table_after(heading: str) -> dict[str, dict[str, bool]]:
    """A Markdown table of the document: by row and column, whether the cell says yes."""
    text = DOCUMENT.read_text().partition(f"## {heading}\n")[2]
    lines = [line for line in text.partition("\n## ")[0].splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {row[0]: {column: cell == "yes" for column, cell in zip(head[1:], row[1:], strict=True)} for row in rows}


def test_the_documented_roles_in_a_harness_are_those_of_the_code():
    expected = {
        action.value: {title: action in ROLE_ACTIONS[role] for role, title in HARNESS_ROLE_TITLES.items()}
        for action in HarnessAction
    }
    assert table_after("Roles in a harness") == expected


def test_the_documented_roles_in_tackroom_are_those_of_the_code():
    expected = {
        permission.value.partition(".")[2]: {
            title: permission in ROLE_PERMISSIONS[role] for role, title in ROLE_TITLES.items()
        }
        for permission in Permission
    }
    assert table_after("Roles in Tackroom") == expected


def test_the_documented_actions_name_the_permission_that_opens_them():
    documented = dict(re.findall(r"^- \*\*(\w+)\*\* \(`(\w+)`\)", DOCUMENT.read_text(), re.MULTILINE))
    assert documented == {
        action.value: permission.value.partition(".")[2] for action, permission in ACTION_PERMISSIONS.items()
    }
