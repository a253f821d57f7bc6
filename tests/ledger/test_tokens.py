"""API tokens: shown once, kept as a hash, bound by scopes and by their owner's role."""

import datetime as dt

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from ledger.core.tokens import TOKEN_PATTERN, Scope, hash_token, make_token
from ledger.errors import Denied, Invalid
from ledger.models import ApiToken
from ledger.selectors import audit_list, token_by_secret, token_get, token_list
from ledger.services import token_create, token_revoke, token_touch

pytestmark = pytest.mark.django_db
READ = [Scope.HARNESSES_READ]


def _create(owner, **changes):
    return token_create(**{"owner": owner, "name": "ci", "scopes": READ, "acting_user": owner, **changes})


def _get(secret, path="/api/v1/harnesses/"):
    return APIClient().get(path, headers={"Authorization": f"Bearer {secret}"})


def test_a_token_is_random_and_only_its_hash_is_kept(operator):
    created = _create(operator)
    assert TOKEN_PATTERN.fullmatch(created.secret)
    assert created.secret.startswith(created.token.prefix)
    assert created.token.secret_hash == hash_token(created.secret)
    stored = ApiToken.objects.filter(pk=created.token.pk).values().get()
    assert created.secret not in str(stored)
    assert created.secret not in repr(created)
    assert make_token().text != make_token().text


def test_the_audit_trail_holds_no_secret(operator):
    created = _create(operator)
    token_revoke(token=created.token, acting_user=operator, reason="leaked")
    entries = list(audit_list(object_type="token"))
    assert [entry.action for entry in entries] == ["token.revoked", "token.created"]
    assert entries[0].reason == "leaked"
    assert not any(created.secret in str(vars(entry)) for entry in entries)


def test_a_usable_token_opens_the_api(operator):
    assert _get(_create(operator).secret).status_code == 200


def test_an_unusable_token_does_not(operator):
    revoked = _create(operator)
    token_revoke(token=revoked.token, acting_user=operator)
    expired = _create(operator)
    ApiToken.objects.filter(pk=expired.token.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    for secret in (revoked.secret, expired.secret, make_token().text, "tkr_short", "x" * 5000, "é"):
        response = _get(secret)
        assert response.status_code == 401, secret
        assert response["Content-Type"] == "application/problem+json"
        assert response["WWW-Authenticate"].startswith("Bearer")


def test_a_token_of_an_inactive_owner_is_dead(operator):
    created = _create(operator)
    operator.is_active = False
    operator.save()
    assert token_by_secret(created.secret) is None


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Bearer a b"])
def test_a_malformed_header_says_how_to_mend_it(header):
    response = APIClient().get("/api/v1/harnesses/", headers={"Authorization": header})
    assert response.status_code == 401
    assert "Authorization: Bearer" in response.json()["detail"]


def test_a_missing_scope_is_named(operator):
    secret = _create(operator, scopes=[Scope.SESSIONS_READ]).secret
    response = _get(secret)
    assert response.status_code == 403
    assert response.json()["type"] == "urn:tackroom:problem:missing_scope"
    assert "harnesses:read" in response.json()["detail"]


def test_a_token_never_exceeds_its_owner(analyst):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {_create(analyst, scopes=list(Scope)).secret}")
    response = client.post("/api/v1/harnesses/", {"slug": "a", "title": "A", "world": "w"}, format="json")
    assert response.status_code == 403
    assert "may not make harnesses" in response.json()["detail"]


def test_last_use_is_written_once_a_minute(operator, django_assert_num_queries):
    token = _create(operator).token
    token_touch(token=token)
    with django_assert_num_queries(0):
        token_touch(token=token)
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now() - dt.timedelta(seconds=61))
    stale = token_get(token.pk)
    token_touch(token=stale)
    fresh = token_get(token.pk).last_used_at
    assert fresh is not None
    assert (timezone.now() - fresh).total_seconds() < 60


def test_only_who_manages_tokens_handles_those_of_others(operator, analyst, platform_engineer):
    with pytest.raises(Denied):
        _create(operator, acting_user=analyst)
    created = _create(operator, acting_user=platform_engineer)
    with pytest.raises(Denied):
        token_revoke(token=created.token, acting_user=analyst)
    assert list(token_list(owner=operator)) == [created.token]
    assert list(token_list(owner=analyst)) == []


def test_revoking_twice_is_harmless(operator):
    token = _create(operator).token
    first = token_revoke(token=token, acting_user=operator)
    assert token_revoke(token=token, acting_user=operator).revoked_at == first.revoked_at
    assert audit_list(action_prefix="token.revoked").count() == 1


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"scopes": []}, "scopes"),
        ({"scopes": ["all"]}, "scopes"),
        ({"name": " "}, "name"),
        ({"ttl_days": 0}, "ttl_days"),
    ],
)
def test_a_token_that_cannot_be_made_is_refused_by_field(operator, values, field):
    with pytest.raises(Invalid) as caught:
        _create(operator, **values)
    assert caught.value.field_errors[0].field == field
