"""A request that is repeated with its key is carried out once, whatever happens in between."""

from __future__ import annotations

import datetime as dt
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from celery import current_app
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.utils import timezone

from harnesses.selectors import harness_get, harness_list, version_list
from harnesses.services import harness_commit, harness_create
from ledger import idempotency
from ledger.errors import Invalid
from ledger.idempotency import Answer, RequestInProgress, answer_once, fingerprint, sweep
from ledger.models import IdempotencyRecord
from tests.harnesses.samples import sample_document, sample_spec

pytestmark = pytest.mark.django_db
HARNESSES = "/api/v1/harnesses/"
KEY = {"Idempotency-Key": "7f1d9f2e"}


def make(api, slug="autumn", headers=KEY, **values):
    return api.post(
        HARNESSES, {"slug": slug, "title": "T", "world": "test-shop", **values}, format="json", headers=headers
    )


def test_a_repeated_create_makes_one_thing_and_is_answered_alike(api, world):
    first, second = make(api), make(api)
    assert (first.status_code, second.status_code) == (201, 201)
    assert second.json() == first.json()
    assert second["Location"] == first["Location"]
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert harness_list().count() == 1


def test_white_space_and_the_order_of_keys_are_no_difference(api, world):
    make(api)
    body = '{ "world": "test-shop",  "title": "T", "slug": "autumn" }'
    response = api.post(HARNESSES, body, content_type="application/json", headers=KEY)
    assert response["Idempotency-Replayed"] == "true"


def test_a_key_that_comes_with_another_request_is_refused(api, world):
    make(api)
    response = make(api, slug="winter")
    assert response.status_code == 422
    assert response.json()["type"] == "urn:tackroom:problem:idempotency_key_reused"
    assert response.json()["errors"][0]["field"] == "Idempotency-Key"
    assert [harness.slug for harness in harness_list()] == ["autumn"]


def test_keys_belong_to_the_person_who_sent_them(api, make_api_client, ml_engineer, world):
    make(api)
    assert make(make_api_client(ml_engineer), slug="winter").status_code == 201


def test_a_request_that_failed_may_come_again_mended(api, world):
    assert make(api, slug="Not A Slug").status_code == 422
    assert make(api).status_code == 201
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "schlüssel", "a\tb"])
def test_a_key_that_no_header_should_hold_is_refused(operator, key):
    with pytest.raises(Invalid):
        answer_once(owner=operator, key=key, request_hash="0", carry_out=lambda: Answer(201, {}, None))


def test_without_a_key_every_request_counts(api, world):
    assert make(api, headers={}).status_code == 201
    assert make(api, headers={}).status_code == 409


def test_a_commit_and_an_import_are_carried_out_once(api, operator, world):
    harness = harness_create(slug="autumn", title="T", world=world, acting_user=operator)
    harness_commit(harness=harness, spec=sample_spec(), message="First", acting_user=operator)
    body = {"spec": sample_document(rules="Be kind."), "message": "Why"}
    for _ in range(2):
        assert api.post(f"{HARNESSES}autumn/versions/", body, format="json", headers=KEY).json()["is_new"] is True
    for _ in range(2):
        file = SimpleUploadedFile("tools.json", b'{"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}')
        response = api.post(
            f"{HARNESSES}autumn/import/", {"file": file}, format="multipart", headers={"Idempotency-Key": "upload"}
        )
        assert response.status_code == 201, response.content
    other = SimpleUploadedFile("tools.json", b'{"tools": [{"name": "u", "inputSchema": {"type": "object"}}]}')
    response = api.post(
        f"{HARNESSES}autumn/import/", {"file": other}, format="multipart", headers={"Idempotency-Key": "upload"}
    )
    assert response.status_code == 422
    assert version_list("autumn").count() == 3


def test_old_answers_are_forgotten_and_their_keys_are_free_again(api, operator, world):
    make(api)
    IdempotencyRecord.objects.update(created_at=timezone.now() - dt.timedelta(days=1, minutes=1))
    assert make(api, slug="winter").status_code == 201
    make(api, slug="spring", headers={"Idempotency-Key": "other"})
    IdempotencyRecord.objects.filter(key="other").update(created_at=timezone.now() - dt.timedelta(days=2))
    assert sweep() == 1
    assert IdempotencyRecord.objects.count() == 1


def test_the_sweep_runs_every_day():
    current_app.loader.import_default_modules()
    tasks = {entry["task"]: entry["schedule"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    assert tasks["ledger.tasks.sweep_idempotency_records"] == 86_400
    assert "ledger.tasks.sweep_idempotency_records" in current_app.tasks


# --- at the same time ------------------------------------------------------------------------------------------------


def run_many(action, count):
    def run(number):
        try:
            return action(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@pytest.mark.django_db(transaction=True)
def test_twenty_clicks_at_once_make_one_thing(operator, make_api_client, world):
    clients = [make_api_client(operator) for _ in range(20)]
    responses = run_many(lambda number: make(clients[number]), 20)
    assert {response.status_code for response in responses} == {201}
    assert len({response.content for response in responses}) == 1
    assert sum("Idempotency-Replayed" in response for response in responses) == 19
    assert harness_get("autumn").title == "T"


@pytest.mark.django_db(transaction=True)
def test_a_second_request_does_not_wait_for_ever(operator, monkeypatch):
    monkeypatch.setattr(idempotency, "MAX_WAIT_S", 1)
    has_begun, may_end = threading.Event(), threading.Event()

    def slow():
        has_begun.set()
        assert may_end.wait(20)
        return Answer(201, {}, {"n": 1})

    def first():
        try:
            return answer_once(owner=operator, key="k", request_hash=fingerprint("POST", "/", b""), carry_out=slow)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(first)
        assert has_begun.wait(20)
        with pytest.raises(RequestInProgress) as caught:
            answer_once(owner=operator, key="k", request_hash="other", carry_out=slow)
        may_end.set()
        assert running.result()[1] is False
    assert caught.value.headers == {"Retry-After": "2"}


@pytest.mark.django_db(transaction=True)
def test_a_request_that_dies_leaves_its_key_free(operator):
    def die():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_once(owner=operator, key="k", request_hash="1", carry_out=die)
    answer, is_repeated = answer_once(owner=operator, key="k", request_hash="2", carry_out=lambda: Answer(201, {}, 7))
    assert (answer.body, is_repeated) == (7, False)
