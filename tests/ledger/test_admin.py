"""The admin site shows every record and offers no change."""

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from harnesses.services import harness_commit, harness_create
from ledger.core.tokens import Scope
from ledger.services import token_create
from tests.conftest import PASSWORD
from tests.harnesses.samples import sample_spec

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(make_user, world):
    root = make_user(username="root", is_superuser=True)
    harness = harness_create(slug="autumn", title="Autumn", world=world, acting_user=root)
    harness_commit(harness=harness, spec=sample_spec(), message="", acting_user=root)
    token_create(owner=root, name="ci", scopes=[Scope.HARNESSES_READ], acting_user=root)
    client = Client()
    assert client.login(username="root", password=PASSWORD)
    return client


@pytest.mark.parametrize(
    "label", ["ledger.user", "ledger.auditentry", "ledger.apitoken", "harnesses.harness", "harnesses.harnessversion"]
)
def test_records_are_shown_and_cannot_be_changed(client, label):
    model = next(model for model in admin.site._registry if model._meta.label_lower == label)
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    row = model._default_manager.all()[0]
    assert client.get(reverse(f"{name}_changelist")).status_code == 200
    page = client.get(reverse(f"{name}_change", args=[row.pk]))
    assert page.status_code == 200
    for secret in ("password", "secret_hash"):
        assert getattr(row, secret, None) is None or str(getattr(row, secret)) not in page.content.decode()
    assert client.get(reverse(f"{name}_add")).status_code == 403
    assert client.post(reverse(f"{name}_change", args=[row.pk]), {"name": "x"}).status_code == 403
    assert client.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
