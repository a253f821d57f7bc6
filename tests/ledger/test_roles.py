"""Who may do what."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group

from ledger.core.roles import ROLE_PERMISSIONS, ROLE_TITLES, Permission, Role, roles_with
from ledger.errors import Conflict, Invalid
from ledger.selectors import audit_list, user_by_username
from ledger.services import user_create, user_set_roles

pytestmark = pytest.mark.django_db


def test_every_role_has_a_group_a_title_and_permissions():
    assert set(Group.objects.values_list("name", flat=True)) == set(Role) == set(ROLE_TITLES) == set(ROLE_PERMISSIONS)


def test_every_permission_is_held_by_some_role():
    assert all(roles_with(permission) for permission in Permission)


@pytest.mark.parametrize("role", Role)
def test_has_perm_answers_by_role(make_user, role):
    user = make_user(role)
    assert {permission for permission in Permission if user.has_perm(permission)} == ROLE_PERMISSIONS[role]


def test_who_reviews_does_not_write():
    assert Permission.CHANGE_HARNESS not in ROLE_PERMISSIONS[Role.REVIEWER]
    assert Permission.RELEASE_HARNESS not in ROLE_PERMISSIONS[Role.OPERATOR]


def test_permissions_follow_a_change_of_roles(operator):
    assert not operator.has_perm(Permission.TRAIN)
    user_set_roles(user=operator, roles=[Role.ML_ENGINEER], acting_user=None)
    assert operator.has_perm(Permission.TRAIN)
    entry = audit_list(action_prefix="user.roles_set").get()
    assert (entry.before, entry.after) == ({"roles": ["operator"]}, {"roles": ["ml_engineer"]})


def test_an_inactive_user_may_do_nothing(operator):
    operator.is_active = False
    operator.save()
    assert not operator.has_perm(Permission.VIEW_HARNESS)
    assert not AnonymousUser().has_perm(Permission.VIEW_HARNESS)


def test_a_superuser_may_do_everything(make_user):
    root = make_user(username="root", is_superuser=True)
    assert all(root.has_perm(permission) for permission in Permission)


def test_no_permission_is_asked_for_twice_in_one_request(operator, django_assert_num_queries):
    user = user_by_username(operator.username)
    with django_assert_num_queries(1):
        assert user.has_perm(Permission.VIEW_HARNESS)
        assert not user.has_perm(Permission.DEPLOY)
    with django_assert_num_queries(0):
        assert user.has_perm(Permission.USE_PLAYGROUND)
        assert not user.has_perm(Permission.TRAIN)


def test_a_user_is_made_with_a_name_and_roles(operator):
    assert operator.display_name == "Olga Operator"
    assert user_create(username="bot", password=None, acting_user=operator).display_name == "bot"


@pytest.mark.parametrize(
    ("values", "field"),
    [({"username": "has space"}, "username"), ({"username": ""}, "username"), ({"roles": ["boss"]}, "roles")],
)
def test_a_user_that_cannot_be_made_is_refused_by_field(values, field):
    with pytest.raises(Invalid) as caught:
        user_create(**{"username": "ok", "password": "x", "acting_user": None, **values})
    assert caught.value.field_errors[0].field == field


def test_a_user_name_is_taken_once(operator):
    with pytest.raises(Conflict, match="olga"):
        user_create(username="olga", password=None, acting_user=None)
