"""Reviews in a real browser: talking about a line, deciding, and what must hold on every review page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from harnesses.models import Review
from harnesses.services import harness_commit, review_decide, review_request, thread_open, thread_resolve
from tests.conftest import PASSWORD
from tests.console import sample
from tests.console.browser import DESKTOP, PHONE, Visitor, open_visitor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PLACE: dict[str, Any] = {"component_kind": "prompt", "component_id": "role", "field": "body", "line": 1}


def test_a_version_is_put_up_talked_about_and_approved(browser: Browser, console_url: str, harness, operator, reviewer):
    author = open_visitor(browser, console_url, viewport=DESKTOP)
    author.log_in(operator.username, PASSWORD)
    author.go(f"/harnesses/{sample.SLUG}/reviews/")
    author.page.get_by_role("link", name="Request a review").click()
    author.page.get_by_label("What to look at").fill("Is the greeting too short?")
    author.page.get_by_label("Rui Reviewer (rui)").check()
    author.page.get_by_role("button", name="Request review").click()
    expect(author.page.get_by_text("Somebody else must decide.")).to_be_visible()

    other = open_visitor(browser, console_url, viewport=DESKTOP)
    other.log_in(reviewer.username, PASSWORD)
    other.go("/reviews/")
    other.page.get_by_role("link", name=f"{sample.TITLE}, version 2").click()
    page = other.page
    line = page.get_by_role("article", name="Prompt section Your role").get_by_role("link", name="Comment on line 1")
    line.click()
    comment = page.get_by_role("form", name="New comment on Prompt section Your role, text, line 1")
    expect(comment.get_by_label("Comment")).to_be_focused()
    line.click()  # a second time: the form that is open is used, not another one made
    expect(comment).to_have_count(1)
    too_long = "word " * 2500
    comment.get_by_label("Comment").fill(too_long)
    comment.get_by_role("button", name="Comment").click()
    expect(comment.get_by_text("the limit is 10,000")).to_be_visible()
    expect(comment.get_by_label("Comment")).to_have_value(too_long)
    comment.get_by_label("Comment").fill("As in v1, <b>please</b>")
    comment.get_by_role("button", name="Comment").dblclick()
    thread = page.get_by_role("article", name="Thread")
    expect(thread).to_have_count(1)
    expect(thread).to_contain_text("As in v1, <b>please</b>")
    expect(page.get_by_role("region", name="Threads")).to_contain_text("As in v1")

    author.page.reload()
    own = author.page.get_by_role("article", name="Thread")
    own.get_by_text("Reply", exact=True).click()
    own.get_by_label("Comment").fill("It is as in v1 now.")
    own.get_by_role("button", name="Send reply").click()
    expect(own.get_by_text("It is as in v1 now.")).to_be_visible()
    own.get_by_role("button", name="Resolve").click()
    expect(own.get_by_text("2 comments, resolved by Olga Operator")).to_be_visible()
    expect(author.page.get_by_role("region", name="Threads")).to_contain_text("Resolved")

    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_text("A rejection says why.")).to_be_visible()
    page.get_by_role("button", name="Approve").dblclick()
    expect(page.get_by_text("Version 2 is approved.")).to_be_visible()
    review = Review.objects.get()
    assert (review.state, review.decisions.count(), review.threads.count()) == ("approved", 1, 1)
    assert [*author.problems, *other.problems] == []
    author.context.close()
    other.context.close()


def test_review_pages_are_accessible_fit_a_phone_and_work_without_scripts(
    browser: Browser, console_url: str, harness, operator, reviewer, ml_engineer
):
    review = review_request(
        version=harness.versions.get(number=2), message="See v1", reviewers=[reviewer], acting_user=operator
    )
    review_decide(review=review, verdict="approve", reason="Good", number=2, acting_user=reviewer)
    for body in ("Open", "Resolved"):
        thread = thread_open(review=review, body=body, acting_user=reviewer, **PLACE)
    thread_resolve(thread=thread, acting_user=operator)
    for author, greeting in ((operator, "Answer like a friend."), (ml_engineer, "Answer like a host.")):
        spec = sample.sample_spec(price_name="fetch_price", greeting=greeting)
        harness_commit(harness=harness, spec=spec, message=greeting, acting_user=author)
    pages = {
        "queue": "/reviews/?tab=all",
        "review": f"/reviews/{review.pk}/",
        "comment": f"/reviews/{review.pk}/threads/new/?component_kind=prompt&component_id=role&field=body&line=1",
        "harness": f"/harnesses/{sample.SLUG}/reviews/",
        "request": f"/harnesses/{sample.SLUG}/reviews/new/?version=4",
    }
    bad: dict[str, list[str]] = {}
    checks: list[tuple[dict[str, int], str, Callable[[Visitor], list[str]]]] = [
        (DESKTOP, "light", Visitor.axe_violations),
        (DESKTOP, "dark", lambda person: person.axe_violations("color-contrast")),
        (PHONE, "light", lambda person: person.axe_violations() + person.overflowing()),
    ]
    for viewport, scheme, check in checks:
        person = open_visitor(browser, console_url, viewport=viewport, scheme=scheme)
        person.log_in(operator.username, PASSWORD)
        for name, address in pages.items():
            person.go(address)
            bad[f"{name} {viewport['width']} {scheme}"] = [*check(person), *person.problems]
        person.context.close()
    assert {page: found for page, found in bad.items() if found} == {}

    plain = open_visitor(browser, console_url, viewport=PHONE, has_scripts=False)
    plain.log_in(reviewer.username, PASSWORD)
    plain.go(pages["review"])
    plain.page.get_by_role("link", name="Comment on line 1").first.click()
    plain.page.get_by_label("Comment", exact=True).fill("Without scripts")
    plain.page.get_by_role("button", name="Comment", exact=True).click()
    expect(plain.page.get_by_role("article", name="Thread").get_by_text("Without scripts")).to_be_visible()
    plain.context.close()
