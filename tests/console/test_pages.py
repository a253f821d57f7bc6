"""The pages: who sees which, what they show, that their links lead somewhere, and that bad input is told and not lost."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from ledger.core.roles import Role
from tests.console import sample
from tests.console.conftest import SignIn

pytestmark = pytest.mark.django_db

HARNESS_PAGES = [
    "/harnesses/",
    f"/harnesses/{sample.SLUG}/",
    f"/harnesses/{sample.SLUG}/versions/",
    f"/harnesses/{sample.SLUG}/versions/1/",
    f"/harnesses/{sample.SLUG}/versions/1/prompt/",
    f"/harnesses/{sample.SLUG}/versions/2/findings/",
    f"/harnesses/{sample.SLUG}/compare/?old=1&new=2",
    "/deployments/",
    "/audit/",
    "/account/tokens/",
    "/account/password/",
]


def test_pages_ask_strangers_to_log_in(client: Client, harness):
    for address in [*HARNESS_PAGES, "/", "/harnesses/new/", "/playground/"]:
        response = client.get(address)
        assert response.status_code == 302, address
        assert response["Location"].startswith(reverse("console:login")), address


@pytest.mark.parametrize("role", list(Role))
def test_every_role_reads_harness_pages(make_user, sign_in: SignIn, harness, deployment, role: Role):
    client = sign_in(make_user(role, username=f"a-{role.value}"))
    assert {address: client.get(address).status_code for address in HARNESS_PAGES} == dict.fromkeys(HARNESS_PAGES, 200)


@pytest.mark.parametrize("address", ["/harnesses/new/", f"/harnesses/{sample.SLUG}/import/", "/playground/"])
def test_pages_for_changing_are_refused_to_analysts_with_the_roles_that_may(analyst, sign_in: SignIn, harness, address):
    response = sign_in(analyst).get(address)
    assert response.status_code == 403
    assert "Operator" in response.content.decode()
