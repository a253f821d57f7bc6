"""Every role against every address that writes: something happens exactly where the tables of roles say so.

Whether something happened is read off the audit, which every write leaves a row in. What an address takes is written down here once
more (`NEEDS`), so that a slip in the code is no slip in the test.
"""

from __future__ import annotations

import datetime as dt
from typing import Any
from urllib.parse import urlencode

import pytest
from django.db import transaction
from django.test import Client
from django.urls import resolve
from django.utils import timezone

from harnesses.core.membership import ROLE_ACTIONS, HarnessAction, HarnessRole, allowed_actions
from harnesses.services import freeze_create, harness_commit, harness_create, harness_update, member_set
from inference.selectors import session_list
from ledger.core.roles import ROLE_PERMISSIONS, Permission, Role
from ledger.core.tokens import Scope
from ledger.selectors import audit_list
from ledger.services import team_create, token_create
from tests.adversarial.furnishing import SLUG
from tests.adversarial.test_odd_forms import forms_of, send  # noqa: F401
from tests.adversarial.test_odd_requests import OPERATIONS, body_of, fail_for, match, values_of
from tests.console import sample

pytestmark = pytest.mark.django_db

A, P = HarnessAction, Permission
TALK = frozenset({A.EDIT, A.REVIEW})
Need = HarnessAction | Permission | frozenset[HarnessAction]
"""An action in the harness, one of some, or a permission of the installation."""
NEEDS: dict[str, Need] = {
    # Harnesses and their versions.
    "harnesses": P.CHANGE_HARNESS, "harness_create": P.CHANGE_HARNESS, "fork": P.CHANGE_HARNESS,
    "version_fork": P.CHANGE_HARNESS,
    "harness": A.MANAGE, "harness_settings": A.MANAGE, "archive": A.MANAGE, "harness_archive": A.MANAGE, "unarchive": A.MANAGE,
    "members": A.MANAGE, "member": A.MANAGE, "member_list": A.MANAGE, "member_change": A.MANAGE, "member_remove": A.MANAGE,
    "versions": A.EDIT, "import": A.EDIT, "revert": A.EDIT, "version_revert": A.EDIT, "merge-from": A.EDIT,
    "harness_merge": A.EDIT,
    # Drafts.
    "drafts": A.EDIT, "draft_start": A.EDIT, "draft": A.EDIT, "draft-discard": A.EDIT, "draft_discard": A.EDIT,
    "draft-reopen": A.EDIT,
    "draft_reopen": A.EDIT, "draft-commit": A.EDIT, "draft-restore": A.EDIT, "draft-rebase": A.EDIT,
    # Reviews: to withdraw another's, manage.
    "harness-reviews": A.EDIT, "review_request": A.EDIT, "review-decisions": A.REVIEW,
    "review_decide": A.REVIEW, "review-renew": A.EDIT,
    "review_renew": A.EDIT, "review-withdraw": A.MANAGE, "review_withdraw": A.MANAGE,
    "review-threads": TALK, "thread_open": TALK, "review-comments": TALK, "thread_reply": TALK,
    "review-resolve": TALK, "thread_resolve": TALK, "review-reopen": TALK, "thread_reopen": TALK,
    # Labels that are not protected, plans for them, freezes.
    "label": A.EDIT, "label_move": A.EDIT, "label-undo": A.EDIT, "label_undo": A.EDIT, "label_remove": A.EDIT,
    "label_protect": A.MANAGE,
    "releases": A.RELEASE, "release-cancel": A.EDIT, "release_cancel": A.EDIT,
    "harness-freezes": A.MANAGE, "harness_freezes": A.MANAGE, "harness-freeze-cancel": A.MANAGE,
    "freezes": P.MANAGE_HARNESS, "freeze_list": P.MANAGE_HARNESS, "freeze-cancel": P.MANAGE_HARNESS, "freeze_cancel": A.MANAGE,
    # Sessions, and people.
    "sessions": A.PLAY, "close": A.PLAY, "turns": A.PLAY, "playground": A.PLAY, "session_say": A.PLAY,
    "teams": P.MANAGE_TEAMS, "team": P.MANAGE_TEAMS, "team_create": P.MANAGE_TEAMS, "team_rename": P.MANAGE_TEAMS,
    "team_add": P.MANAGE_TEAMS, "team_remove": P.MANAGE_TEAMS, "team_delete": P.MANAGE_TEAMS,
}  # fmt: skip
MANAGED_BY_METHOD = {("label", "PATCH"): A.MANAGE}
OF_ONES_OWN = {"token_list", "token_revoke", "password_change", "login"}
"""What everybody does with what is theirs."""


class Subject:
    """Somebody with certain rights. `actions` and `permissions` are what the tables give them."""

    def __init__(self, user: Any, actions: Any, permissions: Any) -> None:
        self.user, self.actions, self.permissions = user, frozenset(actions), frozenset(permissions)

    def may(self, need: Need) -> bool:
        if isinstance(need, frozenset):
            return bool(need & self.actions)
        return need in self.actions or need in self.permissions


@pytest.fixture
def subjects(furnished, make_user):
    """One for each set of rights that roles give, for each role in the harness, for a member through a team, and for nobody."""
    found = {}
    for role in set(Role) - {Role.PLATFORM_ENGINEER}:  # may do what an admin may
        held = ROLE_PERMISSIONS[role]
        user = make_user(role, username=f"all-{role}")
        found[user.username] = Subject(user, allowed_actions(held, (), is_members_only=False), held)
    for own in HarnessRole:
        user = make_user(username=f"own-{own}")
        member_set(harness=furnished["harness"], kind="user", name=user.username, role=own, acting_user=None)
        found[user.username] = Subject(user, ROLE_ACTIONS[own], ())
    user = make_user(username="by-team")
    team_create(slug="engineers", name="Engineers", members=[user.username], acting_user=None)
    member_set(harness=furnished["harness"], kind="team", name="engineers", role="engineer", acting_user=None)
    found["by-team"] = Subject(user, ROLE_ACTIONS[HarnessRole.ENGINEER], ())
    found["nobody"] = Subject(make_user(username="nobody"), (), ())
    return found


@pytest.fixture
def rich(furnished, subjects, admin, operator):
    """The furnished world with what some addresses need besides: another harness, a freeze of all, a review of another's."""
    other = harness_create(slug="demo-shop-night", title="Night", world=sample.WORLD, acting_user=None)
    for greeting in ("One.", "Three."):
        harness_commit(harness=other, spec=sample.sample_spec(greeting=greeting), message="M", acting_user=None)
    soon = timezone.now() + dt.timedelta(hours=3)
    freeze = freeze_create(
        harness=None, starts_at=soon, ends_at=soon + dt.timedelta(hours=1), reason="All", acting_user=admin
    )
    for member in ("own-operator", "own-engineer", "own-admin", "by-team"):
        member_set(harness=other, kind="user", name=member, role="viewer", acting_user=None)
    return {**furnished, "freeze_of_all": freeze.pk}


def written_by(user: Any) -> int:
    """How much somebody wrote: rows of the audit; of sessions, which are in none, themselves and their turns and ends."""
    sessions = session_list(viewer=None)
    talked = sum(session.turn_count + (session.closed_at is not None) for session in sessions)
    return audit_list(actor_id=user.pk).count() + sessions.count() + talked


def effect(user: Any, act: Any) -> tuple[bool, int]:
    """Whether a request wrote anything, and its status; what it wrote is taken back."""
    with transaction.atomic():
        before = written_by(user)
        response = act()
        has_written = written_by(user) > before
        transaction.set_rollback(True)
    return has_written, response.status_code


def api_writes(
    values: dict[str, Any], *, has_others: bool = False
) -> list[tuple[str, str, str, str, bytes, dict[str, str]]]:
    """Every writing operation of the API: what it is called, its name, method, address, body and headers.

    With `has_others` also those that only judge what is sent to them.
    """
    found = []
    for item in OPERATIONS:
        if item.method == "GET":
            continue
        filled = values_of(item, values)
        if item.path.startswith("/api/v1/freezes/{"):
            filled["freeze_id"] = values["freeze_of_all"]
        address = item.at(filled)
        name = str(resolve(address).url_name)
        if name not in NEEDS and not has_others:
            continue
        found.append((f"{item.method} {item.path}", name, item.method, address, body_of(item), match(item)))
    return found


def test_the_api_writes_for_exactly_those_who_may(rich, subjects, admin):
    problems, compared = [], set()
    writes = api_writes(rich, has_others=True)
    clients = {name: _api(subject.user) for name, subject in subjects.items()}
    boss = _api(admin)
    for what, name, method, address, body, headers in writes:
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        works, _ = effect(admin, lambda: boss(method, address, body, **sent))  # noqa: B023
        if name not in NEEDS:
            problems += [f"{what}: add it to NEEDS"] if works else []
            continue
        for who, subject in subjects.items():
            act = lambda: clients[who](method, address, body, **sent)  # noqa: B023, E731
            has_written, status = effect(subject.user, act)
            allowed = subject.may(MANAGED_BY_METHOD.get((name, method), NEEDS[name]))
            if has_written and not allowed:
                problems.append(f"{what}: {who} wrote without the right")
            if allowed and works and not has_written:
                problems.append(f"{what}: {who} may, but got {status}")
            if works:
                compared.add(what)
    assert len(compared) > 28, sorted(compared)
    fail_for(problems)


SOME = ("all-viewer", "all-operator", "all-reviewer", "all-admin", "own-reviewer", "own-admin", "by-team", "nobody")
"""Pages go through the same services as the API, so that not every role need try each again."""


def test_the_pages_write_for_exactly_those_who_may(rich, subjects, admin, send):  # noqa: F811
    problems, compared = [], set()
    some = {name: subjects[name] for name in SOME}
    clients = {name: _pages(subject.user) for name, subject in some.items()}
    boss = _pages(admin)
    for form in forms_of(send, rich):
        name = str(resolve(form.action.partition("?")[0]).url_name)
        if name in OF_ONES_OWN or f"/freezes/{rich['freeze_of_all']}/" in form.action:
            continue
        fields = {**form.fields, **FILLED.get(name, {})}
        fields.pop("reviewers", None)
        works, _ = effect(admin, lambda: boss(form.action, fields))  # noqa: B023
        if name not in NEEDS:
            problems += [f"{name}: add it to NEEDS"] if works else []
            continue
        for who, subject in some.items():
            has_written, status = effect(subject.user, lambda: clients[who](form.action, fields))  # noqa: B023
            allowed = subject.may(NEEDS[name])
            if has_written and not allowed:
                problems.append(f"{form.action}: {who} wrote without the right")
            if allowed and works and not has_written:
                problems.append(f"{form.action}: {who} may, but got {status}")
            if works:
                compared.add(name)
    assert len(compared) > 15, sorted(compared)
    fail_for(problems)


FILLED: dict[str, dict[str, str]] = {
    "harness_create": {"title": "New", "slug": "new-one", "world": sample.WORLD},
    "version_fork": {"title": "New", "slug": "new-one"},
    "team_create": {"name": "New", "slug": "new-one"},
    "team_rename": {"name": "New"},
    "team_add": {"username": "rui"},
    "member_list": {"kind": "user", "name": "rui", "role": "viewer"},
    "harness_settings": {"title": "New", "access": "open", "min_approvals": "1"},
    "thread_open": {"body": "Hm."},
    "thread_reply": {"body": "Hm."},
    "version_revert": {"message": "Back"},
    "label_move": {"reason": "Now", "when": "now"},
    "review_decide": {"verdict": "reject", "reason": "No"},
    "playground": {"viewer": "v", "seed": "0"},
}


def _api(user: Any) -> Any:
    secret = token_create(owner=user, name="all", scopes=list(Scope), acting_user=user).secret
    return _bearer(secret)


def _bearer(secret: str) -> Any:
    client = Client(raise_request_exception=False)

    def act(method: str, address: str, body: bytes = b"", **headers: str) -> Any:
        sent = {"Authorization": f"Bearer {secret}", **headers}
        return client.generic(method, address, body, content_type="application/json", headers=sent)

    return act


def _pages(user: Any) -> Any:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return lambda address, fields: client.post(address, urlencode(fields), "application/x-www-form-urlencoded")


# --- tokens ----------------------------------------------------------------------------------------------------------


def test_a_token_of_one_scope_writes_nothing_beyond_it(rich, admin):
    """Whatever its owner may do."""
    writes = api_writes(rich)
    opened: dict[str, set[str]] = {}
    for scope in Scope:
        secret = token_create(owner=admin, name="one", scopes=[scope], acting_user=admin).secret
        act = _bearer(secret)
        for _what, name, method, address, body, headers in writes:
            sent = {key.replace("_", "-"): value for key, value in headers.items()}
            has_written, _ = effect(admin, lambda: act(method, address, body, **sent))  # noqa: B023
            if has_written:
                opened.setdefault(scope, set()).add(name)
    assert set(opened) == {Scope.HARNESSES_WRITE, Scope.REVIEWS_WRITE, Scope.LABELS_WRITE, Scope.SESSIONS_WRITE}
    assert opened[Scope.REVIEWS_WRITE] <= {name for name in NEEDS if "review" in name}
    assert opened[Scope.LABELS_WRITE] <= {
        name for name in NEEDS if "label" in name or "release" in name or "freeze" in name
    }
    assert opened[Scope.SESSIONS_WRITE] <= {"sessions", "close", "turns"}
    assert not opened[Scope.HARNESSES_WRITE] & (opened[Scope.REVIEWS_WRITE] | opened[Scope.LABELS_WRITE])


def test_no_method_but_those_that_write_writes(rich, admin):
    secret = token_create(owner=admin, name="one", scopes=list(Scope), acting_user=admin).secret
    act = _bearer(secret)
    writes = api_writes(rich)
    for method in ("HEAD", "OPTIONS", "GET", "TRACE", "PROPFIND"):
        before = written_by(admin)
        for _what, _name, real, address, body, _headers in writes:
            override = {"X-HTTP-Method-Override": real, "X-Method-Override": real}
            act(method, f"{address}?_method={real}", body, **override)
        assert written_by(admin) == before, method


def test_a_token_is_worth_what_its_owner_is_worth_now(rich, make_user, api_read):
    owner = make_user(Role.OPERATOR, username="temp")
    act = _api(owner)
    assert api_read(act) == 200
    owner.groups.clear()
    assert api_read(act) == 404
    team_create(slug="guests", name="Guests", members=["temp"], acting_user=None)
    member_set(harness=rich["harness"], kind="team", name="guests", role="viewer", acting_user=None)
    assert api_read(act) == 200
    assert act("POST", f"/api/v1/harnesses/{SLUG}/drafts", b"{}").status_code == 403
    type(owner).objects.filter(pk=owner.pk).update(is_active=False)
    assert api_read(act) == 401


@pytest.fixture
def api_read():
    return lambda act: act("GET", f"/api/v1/harnesses/{SLUG}").status_code


# --- cookies ---------------------------------------------------------------------------------------------------------


def test_no_write_with_a_cookie_goes_without_its_csrf_token(rich, admin, send):  # noqa: F811
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(admin)
    problems = []
    for what, _name, method, address, body, headers in api_writes(rich, has_others=True):
        sent = {key.replace("_", "-"): value for key, value in headers.items()}
        for more in ({}, {"Authorization": "Basic x"}, {"Authorization": "bearer"}, {"Origin": "https://evil.example"}):
            response = client.generic(method, address, body, content_type="application/json", headers={**sent, **more})
            if response.status_code not in (401, 403):
                problems.append(f"{what} {more}: {response.status_code}")
    for form in forms_of(send, rich):
        response = client.post(form.action, form.fields)
        if response.status_code != 403:
            problems.append(f"{form.action}: {response.status_code}")
    assert audit_list(actor_id=admin.pk, action_prefix="harness.archived").count() == 0
    fail_for(problems)


# --- members only ----------------------------------------------------------------------------------------------------


def test_nobody_but_members_and_managers_reads_or_writes_what_is_for_members(rich, subjects):
    harness_update(harness=rich["harness"], access="members", acting_user=None)
    problems = []
    for who in ("all-operator", "all-admin", "own-viewer", "by-team"):
        subject = subjects[who]
        sees = who.startswith("own-") or who == "by-team" or Permission.MANAGE_HARNESS in subject.permissions
        act = _api(subject.user)
        for what, name, method, address, body, headers in api_writes(rich):
            if SLUG not in address and "/reviews/" not in address and "/sessions/" not in address:
                continue
            sent = {key.replace("_", "-"): value for key, value in headers.items()}
            has_written, status = effect(subject.user, lambda: act(method, address, body, **sent))  # noqa: B023
            if not sees and (has_written or status < 400):
                problems.append(f"{what} ({name}): {who} got {status}")
        for item in OPERATIONS:
            if item.method == "GET" and (("{slug}" in item.path and "/teams/" not in item.path) or "_id}" in item.path):
                status = act(
                    "GET", item.at(values_of(item, rich)) + "?from=1&to=2&label=staging&number=1&with=1"
                ).status_code
                if (status == 404) is sees and "/turns/" not in item.path:
                    problems.append(f"GET {item.path}: {who} got {status}")
    fail_for(problems)


def test_the_admin_site_is_closed_to_whoever_is_no_staff(subjects):
    for subject in subjects.values():
        client = Client()
        client.force_login(subject.user)
        assert client.get("/admin/harnesses/harness/").status_code == 302


# --- double clicks ---------------------------------------------------------------------------------------------------

TWICE_IS_TWICE = {
    "playground": "two sessions: nothing tells a second click from a wish for another",
    "token_list": "two tokens of one name",
}


def test_a_double_click_does_nothing_twice(rich, admin, send):  # noqa: F811
    client = Client(raise_request_exception=False)
    client.force_login(admin)
    problems, compared = [], 0
    for form in forms_of(send, rich):
        name = str(resolve(form.action.partition("?")[0]).url_name)
        fields = {**form.fields, **FILLED.get(name, {})}
        fields.pop("reviewers", None)
        if name == "password_change":
            continue
        with transaction.atomic():
            counts = [written_by(admin)]
            for _ in range(2):
                response = client.post(form.action, urlencode(fields), "application/x-www-form-urlencoded")
                counts.append(written_by(admin))
            transaction.set_rollback(True)
        compared += counts[1] > counts[0]
        if response.status_code >= 500:
            problems.append(f"{form.action}: {response.status_code}")
        if counts[1] > counts[0] and counts[2] > counts[1] and name not in TWICE_IS_TWICE:
            problems.append(f"{form.action}: the second click wrote {counts[2] - counts[1]} more")
    assert compared > 15
    fail_for(problems)
