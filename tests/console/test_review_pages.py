"""The pages of reviews: what they show to whom, what they offer, and that nothing that was typed is lost."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from console.review_diffs import current_line, unified
from console.review_pages import linked_pieces
from console.text_diff import text_diff
from harnesses.selectors import review_get
from harnesses.services import (
    harness_archive,
    harness_commit,
    harness_create,
    label_move,
    review_decide,
    review_request,
    thread_open,
    thread_resolve,
)
from ledger.core.roles import Role
from ledger.services import user_set_roles
from tests.console import sample
from tests.console.conftest import SignIn
from tests.console.test_pages import links_of

pytestmark = pytest.mark.django_db

ODD_TEXTS = ["改得更清楚了 ✅🧵", "‮שלום‬ مرحبا", "<script>alert(1)</script> {{ 7*7 }}"]
GREETING = "Answer in one short, friendly sentence."


@pytest.fixture
def review(harness, operator, reviewer):
    """Of version 2, which renames a tool and rewords a section; Rui is asked."""
    version = harness.versions.get(number=2)
    return review_request(version=version, message="See v1, please", reviewers=[reviewer], acting_user=operator)


@pytest.fixture
def second_review(harness, ml_engineer):
    version = commit(harness, "Answer like a friend.", ml_engineer)
    return review_request(version=version, message="Friendlier", acting_user=ml_engineer)


def commit(harness, greeting, author):
    spec = sample.sample_spec(price_name="fetch_price", greeting=greeting)
    return harness_commit(harness=harness, spec=spec, message=greeting, acting_user=author).version


def page_of(response, status=200):
    assert response.status_code == status, response.content.decode()[:1500]
    return response.content.decode()


def address(review, rest=""):
    return f"/reviews/{review.pk}/{rest}"


def on_line(body, line=1):
    place = {"component_kind": "prompt", "component_id": "role", "field": "body", "line": line}
    return {"body": body, **place}


# --- what is shown ---------------------------------------------------------------------------------------------------


def test_strangers_log_in_first(client: Client, review):
    for path in ("/reviews/", address(review), f"/harnesses/{sample.SLUG}/reviews/", address(review, "threads/new/")):
        assert client.get(path).status_code == 302


def test_the_queue_has_what_waits_for_me_what_is_mine_what_is_open_and_all(
    reviewer, operator, sign_in: SignIn, review, second_review
):
    mine, theirs = sign_in(operator), sign_in(reviewer)
    assert "Nothing waits for you" not in page_of(theirs.get("/reviews/"))
    assert page_of(theirs.get("/reviews/")).count("row-title") == 2
    assert page_of(mine.get("/reviews/?tab=mine")).count("row-title") == 1
    review_decide(review=review, verdict="reject", reason="No", number=2, acting_user=reviewer)
    assert page_of(mine.get("/reviews/?tab=open")).count("row-title") == 1
    assert page_of(mine.get("/reviews/?tab=all")).count("row-title") == 2
    assert page_of(mine.get("/reviews/?tab=all&state=rejected")).count("row-title") == 1
    assert page_of(mine.get("/reviews/?tab=all&search=friendlier")).count("row-title") == 1
    assert "Nothing matches" in page_of(mine.get("/reviews/?tab=all&search=nowhere"))


@pytest.mark.parametrize("query", ["tab=nonsense", "tab=all&state=moon", "search=%07", f"search={'x' * 500}", "page=x"])
def test_the_queue_takes_odd_filters(reviewer, sign_in: SignIn, review, query):
    page_of(sign_in(reviewer).get(f"/reviews/?{query}"))


def test_empty_queues_say_what_to_do(analyst, operator, sign_in: SignIn, harness):
    client = sign_in(operator)
    for tab, text in {
        "waiting": "Nothing waits for you",
        "mine": "You asked for no review yet",
        "open": "No review is open",
        "all": "No review yet",
    }.items():
        assert text in page_of(client.get(f"/reviews/?tab={tab}"))
    assert "Request a review" in page_of(client.get(f"/harnesses/{sample.SLUG}/reviews/"))
    assert "Request a review" not in page_of(sign_in(analyst).get(f"/harnesses/{sample.SLUG}/reviews/"))


def test_a_review_shows_meaning_texts_and_what_is_needed_and_why(reviewer, sign_in: SignIn, review):
    html = page_of(sign_in(reviewer).get(address(review)))
    assert "Tool renamed: get_price → fetch_price (T1, preserving)" in html
    assert "0 of 1 approval" in html
    assert "only people can tell whether the meaning stays" in html
    assert f'<a href="/harnesses/{sample.SLUG}/versions/1/">v1</a>, please' in html
    assert re.search(r"<ins>[^<]*friendly[^<]*</ins>", html)
    assert "asked for a review of version 2" in html


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER, Role.ANALYST])
def test_buttons_are_for_those_who_may(make_user, operator, reviewer, sign_in: SignIn, review, role):
    assert 'value="approve"' in page_of(sign_in(reviewer).get(address(review)))
    other = make_user(role, username="other")
    html = page_of(sign_in(other).get(address(review)))
    assert 'value="approve"' not in html
    assert 'value="reject"' not in html
    assert "Withdraw this review" not in html
    assert ("data-compose" in html.replace("data-compose-link", "")) == (role is Role.OPERATOR)
    own = page_of(sign_in(operator).get(address(review)))
    assert "Somebody else must decide" in own
    assert 'value="approve"' not in own
    assert "Withdraw this review" in own


def test_a_review_that_moved_on_says_whose_approval_no_longer_counts(
    harness, operator, reviewer, sign_in: SignIn, review
):
    review_decide(review=review, verdict="approve", number=2, acting_user=reviewer)
    commit(harness, "Answer like a friend.", operator)
    html = page_of(sign_in(reviewer).get(address(review)))
    assert "This review moved on to version 3." in html
    assert "Rui Reviewer (rui) approved version 2" in html
    assert "0 of 1 approval" in html


def test_every_link_of_the_review_pages_leads_somewhere(
    reviewer, operator, sign_in: SignIn, harness, review, ml_engineer
):
    commit(harness, "Answer like a friend.", ml_engineer)
    thread_open(review=review, acting_user=reviewer, **on_line("See version 1"))
    pages = [address(review), "/reviews/?tab=all", f"/harnesses/{sample.SLUG}/reviews/"]
    pages += [f"/harnesses/{sample.SLUG}/reviews/new/?version=3", address(review, "threads/new/")]
    client = sign_in(operator)
    found: dict[str, int] = {}
    for page in pages:
        for link in links_of(page_of(client.get(page))):
            target = page.partition("?")[0] + link if link.startswith("?") else link
            found[target] = found.get(target) or client.get(target).status_code
    assert len(found) > 20
    assert {link: status for link, status in found.items() if status not in (200, 302)} == {}


def test_the_queue_and_a_review_cost_the_same_however_much_is_said(
    harness, operator, reviewer, sign_in: SignIn, review, second_review, django_assert_max_num_queries
):
    for number in range(8):
        thread = thread_open(review=review, body=f"Remark {number}", acting_user=reviewer)
        thread_resolve(thread=thread, acting_user=operator) if number % 2 else None
    client = sign_in(reviewer)
    with django_assert_max_num_queries(8):
        page_of(client.get("/reviews/?tab=all"))
    with django_assert_max_num_queries(26):
        page_of(client.get(address(review)))


# --- requesting ------------------------------------------------------------------------------------------------------


def test_a_review_is_requested_with_the_people_suggested(operator, reviewer, sign_in: SignIn, harness):
    client = sign_in(operator)
    path = f"/harnesses/{sample.SLUG}/reviews/new/?version=2"
    html = page_of(client.get(path))
    assert "One person must approve" in html
    assert "Rui Reviewer (rui)" in html
    made = client.post(path, {"number": "2", "message": "Look", "reviewers": ["rui"], "extra": "x"})
    review = review_get(operator, made["Location"].strip("/").rpartition("/")[2])
    assert (review.message, list(review.reviewers.all())) == ("Look", [reviewer])
    again = client.get(path)
    assert again["Location"] == address(review)


def test_a_review_whose_version_was_released_is_no_longer_open(
    harness, operator, ml_engineer, reviewer, sign_in: SignIn, review
):
    review_decide(review=review, verdict="approve", number=2, acting_user=reviewer)
    client = sign_in(operator)
    assert page_of(client.get("/reviews/?tab=open")).count("row-title") == 1
    label_move(
        harness=harness,
        name="production",
        version=harness.versions.get(number=2),
        reason="Go",
        confirm="production",
        acting_user=reviewer,
    )
    assert "No review is open" in page_of(client.get("/reviews/?tab=open"))
    commit(harness, "Answer like a friend.", ml_engineer)
    assert "is still open" not in page_of(client.get(f"/harnesses/{sample.SLUG}/reviews/new/"))
    html = page_of(client.get(address(review)))
    assert "Go on with version 3" not in html


def test_who_has_an_open_review_is_told_it_can_move_on(operator, ml_engineer, sign_in: SignIn, harness, review):
    commit(harness, "Answer like a friend.", ml_engineer)
    html = page_of(sign_in(operator).get(f"/harnesses/{sample.SLUG}/reviews/new/"))
    assert "Your review of version 2 is still open." in html


@pytest.mark.parametrize("version", ["99", "0", "x", "9" * 30, "%07"])
def test_a_version_that_is_not_there_is_not_reviewed(operator, sign_in: SignIn, harness, version):
    assert sign_in(operator).get(f"/harnesses/{sample.SLUG}/reviews/new/?version={version}").status_code == 404


def test_a_harness_without_versions_has_nothing_to_review(operator, sign_in: SignIn):
    harness_create(slug="bare", title="Bare", world=sample.WORLD, acting_user=operator)
    client = sign_in(operator)
    assert client.get("/harnesses/bare/reviews/new/").status_code == 404
    assert "Import the first one" in page_of(client.get("/harnesses/bare/reviews/"))


def test_readers_and_reviewers_do_not_request(analyst, reviewer, sign_in: SignIn, harness):
    for person in (analyst, reviewer):
        response = sign_in(person).get(f"/harnesses/{sample.SLUG}/reviews/new/")
        assert response.status_code == 403
        assert "Operator" in response.content.decode()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"reviewers": ["nobody"]}, "nobody who may review"),
        ({"reviewers": ["olga"]}, "nobody who may review"),
        ({"message": "m" * 100_000}, "the limit is 2,000"),
        ({"message": "a\0b"}, "Null characters"),
        ({"message": "a\x07b"}, "control character"),
        ({"number": ""}, "This field is required"),
        ({"number": "two"}, "Enter a whole number"),
        ({"number": "99"}, "no version 99"),
        ({"number": "9" * 40}, "less than or equal to"),
    ],
)
def test_a_request_that_cannot_be_made_keeps_what_was_typed(
    operator, reviewer, sign_in: SignIn, harness, changes, error
):
    body = {"number": "2", "message": "Mind the greeting", "reviewers": ["rui"], **changes}
    html = page_of(sign_in(operator).post(f"/harnesses/{sample.SLUG}/reviews/new/?version=2", body), 422)
    assert error in html
    if "message" not in changes:
        assert "Mind the greeting" in html
    elif len(changes["message"]) > 1000:
        assert changes["message"] in html


def test_a_request_that_somebody_else_made_meanwhile_is_told_and_a_double_click_is_not(
    operator, ml_engineer, reviewer, sign_in: SignIn, harness
):
    path = f"/harnesses/{sample.SLUG}/reviews/new/?version=2"
    body = {"number": "2", "message": "Look\r\nhere"}
    first, second = (sign_in(operator).post(path, body) for _ in range(2))
    assert first["Location"] == second["Location"]
    html = page_of(sign_in(ml_engineer).post(path, {"number": "2", "message": "I ask too"}), 422)
    assert "has a review already" in html
    assert "I ask too" in html


def test_a_request_for_an_archived_harness_is_told_and_kept(operator, sign_in: SignIn, harness):
    harness_archive(harness=harness, acting_user=operator)
    path = f"/harnesses/{sample.SLUG}/reviews/new/"
    html = page_of(sign_in(operator).post(path, {"number": "2", "message": "Mind this"}), 422)
    assert "is archived" in html
    assert "Mind this" in html


# --- deciding --------------------------------------------------------------------------------------------------------


def test_an_approval_by_button_is_counted_and_told(reviewer, sign_in: SignIn, review):
    client = sign_in(reviewer)
    body = {"number": "2", "verdict": "approve", "reason": ""}
    for _ in range(2):  # a double click
        assert client.post(address(review, "decide/"), body)["Location"] == address(review)
    html = page_of(client.get(address(review)))
    assert "Version 2 is approved." in html
    assert "1 of 1 approval" in html
    assert review_get(None, review.pk).decisions.count() == 1


def test_a_rejection_needs_a_reason_and_keeps_what_was_typed(reviewer, sign_in: SignIn, review):
    client = sign_in(reviewer)
    html = page_of(client.post(address(review, "decide/"), {"number": "2", "verdict": "reject"}), 422)
    assert "A rejection says why." in html
    long = "why " * 1000
    html = page_of(client.post(address(review, "decide/"), {"number": "2", "verdict": "reject", "reason": long}), 422)
    assert "the limit is 2,000" in html
    assert long.strip() in html
    client.post(address(review, "decide/"), {"number": "2", "verdict": "reject", "reason": "Too cheerful"})
    html = page_of(client.get(address(review)))
    assert "Too cheerful" in html
    assert "Rejected" in html


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"verdict": "approve"},
        {"number": "2"},
        {"number": "x", "verdict": "approve"},
        {"number": "9" * 40, "verdict": "approve"},
        {"number": "2", "verdict": "maybe"},
        {"number": "2", "verdict": "x" * 100_000},
        {"number": "2", "verdict": "approve", "reason": "a\0b"},
    ],
)
def test_a_decision_that_makes_no_sense_is_a_page_with_the_error(reviewer, sign_in: SignIn, review, body):
    html = page_of(sign_in(reviewer).post(address(review, "decide/"), {"reason": "I said so", **body}), 422)
    assert "field__error" in html
    assert review_get(None, review.pk).decisions.count() == 0
    if "reason" not in body:
        assert "I said so" in html


def test_a_decision_on_what_is_no_longer_under_review_is_refused_with_the_new_version_on_show(
    harness, operator, reviewer, sign_in: SignIn, review
):
    client = sign_in(reviewer)
    commit(harness, "Answer like a friend.", operator)
    body = {"number": "2", "verdict": "approve", "reason": "Fine by me"}
    html = page_of(client.post(address(review, "decide/"), body), 409)
    assert "the review has moved on to version 3" in html
    assert "Fine by me" in html
    assert 'name="number" value="3"' in html
    assert review_get(None, review.pk).state == "in_review"


def test_a_role_lost_between_looking_and_approving_is_told_and_keeps_the_words(reviewer, sign_in: SignIn, review):
    client = sign_in(reviewer)
    page_of(client.get(address(review)))
    user_set_roles(user=reviewer, roles=["viewer"], acting_user=None)
    html = page_of(
        client.post(address(review, "decide/"), {"number": "2", "verdict": "approve", "reason": "Fine"}), 403
    )
    assert "You may not review the harness" in html
    assert "Fine" in html
    assert review_get(None, review.pk).decisions.count() == 0


def test_an_author_who_posts_all_the_same_is_refused(make_user, sign_in: SignIn, harness):
    root = make_user(Role.ADMIN, username="root", is_superuser=True)
    review = review_request(version=harness.versions.get(number=2), acting_user=root)
    html = page_of(sign_in(root).post(address(review, "decide/"), {"number": "2", "verdict": "approve"}), 403)
    assert "Somebody else must decide" in html
    assert review_get(None, review.pk).state == "in_review"


def test_a_review_is_withdrawn_and_moved_on_by_button(operator, ml_engineer, sign_in: SignIn, harness, review):
    client = sign_in(operator)
    assert "field__error" in page_of(client.post(address(review, "withdraw/"), {"withdraw_reason": "x" * 3000}), 422)
    newer = commit(harness, "Answer like a friend.", ml_engineer)
    assert "Go on with version 3" in page_of(client.get(address(review)))
    for number in ("99", "x", ""):
        page_of(client.post(address(review, "renew/"), {"number": number}), 404 if number == "99" else 422)
    client.post(address(review, "renew/"), {"number": "3"})
    assert review_get(None, review.pk).version == newer
    client.post(address(review, "withdraw/"), {"withdraw_reason": "Not today"})
    html = page_of(client.get(address(review)))
    assert "Withdrawn" in html
    assert "Not today" in html


@pytest.mark.parametrize("review_id", ["0", "999999", str(2**63), "9" * 30])
def test_a_review_that_is_not_there_is_a_404(reviewer, sign_in: SignIn, review, review_id):
    client = sign_in(reviewer)
    assert client.get(f"/reviews/{review_id}/").status_code == 404
    assert client.post(f"/reviews/{review_id}/decide/", {"number": "2", "verdict": "approve"}).status_code == 404
    assert client.post(f"/reviews/{review.pk}/threads/{review_id}/resolve/").status_code == 404


# --- threads ---------------------------------------------------------------------------------------------------

HTMX = {"HX-Request": "true"}


def test_a_line_is_commented_without_scripts(reviewer, operator, sign_in: SignIn, review):
    client = sign_in(reviewer)
    form = page_of(client.get(address(review, "threads/new/"), on_line("")))
    assert "Prompt section Your role, text, line 1" in form
    made = client.post(address(review, "threads/"), on_line("Why friendly?"))
    thread = review.threads.get()
    assert made["Location"] == f"{address(review)}#thread-{thread.pk}"
    sign_in(operator).post(address(review, f"threads/{thread.pk}/reply/"), {"body": "As in v1"})
    html = page_of(client.get(address(review)))
    line = html.index(f'id="thread-{thread.pk}"')
    assert html.index('id="l-prompt-role-body-1"') < line < html.index("Why friendly?") < html.index("As in ")
    assert client.post(address(review, f"threads/{thread.pk}/resolve/")).status_code == 302
    assert "Reopen" in page_of(client.get(address(review)))


def test_with_htmx_a_thread_comes_back_with_the_list_of_all(reviewer, sign_in: SignIn, review):
    client = sign_in(reviewer)
    form = page_of(client.get(address(review, "threads/new/"), on_line(""), headers=HTMX))
    assert "<html" not in form
    part = page_of(client.post(address(review, "threads/"), on_line("Why?"), headers=HTMX))
    thread = review.threads.get()
    assert part.lstrip().startswith("<article")
    assert 'hx-swap-oob="true"' in part
    path = address(review, f"threads/{thread.pk}/")
    assert "Because" in page_of(client.post(f"{path}reply/", {"body": "Because"}, headers=HTMX))
    assert "Reopen" in page_of(client.post(f"{path}resolve/", headers=HTMX))
    assert "Resolve</button>" in page_of(client.post(f"{path}reopen/", headers=HTMX))


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "htmx"])
@pytest.mark.parametrize("text", ["x" * 100_000, "a\x07b", ""], ids=["long", "control", "empty"])
def test_a_comment_that_cannot_be_kept_comes_back_with_its_words(reviewer, sign_in: SignIn, review, text, headers):
    client = sign_in(reviewer)
    thread = thread_open(review=review, body="First", acting_user=reviewer)
    for path, body in (("threads/", on_line(text)), (f"threads/{thread.pk}/reply/", {"body": text})):
        html = page_of(client.post(address(review, path), body, headers=headers), 422)
        assert "field__error" in html
        assert text in html
    assert review.threads.count() == 1


@pytest.mark.parametrize(
    "place",
    [
        {"component_kind": "moon"},
        {"component_kind": "x" * 5000},
        {"component_id": "nobody"},
        {"line": "0"},
        {"line": "999"},
        {"line": "x"},
        {"line": "9" * 40},
        {"field": "nowhere"},
        {"component_kind": ""},
    ],
    ids=str,
)
def test_a_comment_on_a_place_that_is_not_there_is_told_and_kept(reviewer, sign_in: SignIn, review, place):
    body = {**on_line("Remember this"), **place}
    client = sign_in(reviewer)
    for headers in ({}, HTMX):
        html = page_of(client.post(address(review, "threads/"), body, headers=headers), 422)
        assert "Remember this" in html
        assert "field__error" in html or "note--bad" in html
    page_of(client.get(address(review, "threads/new/"), body))
    assert not review.threads.exists()


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_comments_of_every_script_are_shown_as_typed(reviewer, sign_in: SignIn, review, text):
    client = sign_in(reviewer)
    client.post(address(review, "threads/"), {"body": text})
    html = page_of(client.get(address(review)))
    assert text.replace("<", "&lt;").replace(">", "&gt;") in html
    assert "<script>alert" not in html


def test_a_double_click_on_comment_says_it_once(reviewer, sign_in: SignIn, review):
    client = sign_in(reviewer)
    for _ in range(2):
        client.post(address(review, "threads/"), on_line("Once"))
    assert review.threads.count() == 1


def test_readers_are_refused_and_an_archived_harness_takes_no_comment(
    analyst, operator, reviewer, sign_in: SignIn, review
):
    thread = thread_open(review=review, body="First", acting_user=reviewer)
    html = page_of(sign_in(analyst).post(address(review, "threads/"), {"body": "Me too"}), 422)
    assert "not comment on it" in html
    assert "Me too" in html
    assert sign_in(analyst).post(address(review, f"threads/{thread.pk}/resolve/")).status_code == 403
    harness_archive(harness=review.harness, acting_user=operator)
    assert "is archived" in page_of(sign_in(reviewer).post(address(review, "threads/"), {"body": "Late"}), 422)
    assert sign_in(reviewer).post(address(review, f"threads/{thread.pk}/resolve/")).status_code == 409
    assert "The harness is archived" in page_of(sign_in(reviewer).get(address(review)))


def test_a_thread_follows_its_line_and_is_kept_when_the_line_is_gone(harness, operator, reviewer, sign_in, review):
    thread_open(review=review, acting_user=reviewer, **on_line("About the old words"))
    client = sign_in(reviewer)
    commit(harness, "Answer like a friend.", operator)
    html = page_of(client.get(address(review)))
    assert "On version 2, line 1" in html
    assert "About the old words" in html


# --- pure parts ------------------------------------------------------------------------------------------------------


def test_a_difference_in_one_column_shows_what_went_before_what_came():
    lines = unified(text_diff("a\nb\nc", "a\nx\ny\nc", old_label="", new_label=""))
    assert [(line.mark, line.old_number, line.new_number) for line in lines] == [
        ("", 1, 1),
        ("-", 2, None),
        ("+", None, 2),
        ("+", None, 3),
        ("", 3, 4),
    ]


def test_a_comment_on_a_line_that_did_not_change_opens_its_fold(harness, operator, reviewer, sign_in: SignIn):
    lines = [f"Rule {number}." for number in range(40)]
    commit(harness, "\n".join(lines), operator)
    version = commit(harness, "\n".join([*lines, "And smile."]), operator)
    review = review_request(version=version, acting_user=operator)
    client = sign_in(reviewer)
    assert '<details class="lines__fold">' in page_of(client.get(address(review)))
    client.post(address(review, "threads/"), on_line("Is this one still true?", 7))
    html = page_of(client.get(address(review)))
    assert html.index('<details class="lines__fold" open>') < html.index("Is this one still true?")


class Said:
    field, line, quote = "body", 2, "beta"


@pytest.mark.parametrize(
    ("text", "line"),
    [("alpha\nbeta", 2), ("beta\nalpha", 1), ("beta\nalpha\nbeta", None), ("gamma", None), ("beta", 1)],
)
def test_the_line_of_a_thread_is_found_again(text, line):
    assert current_line(Said(), {"body": text}) == line


def test_versions_that_are_there_become_links():
    assert linked_pieces("See v2, version 3 and v99 (av2)", 3) == [
        ("See ", None),
        ("v2", 2),
        (", ", None),
        ("version 3", 3),
        (" and v99 (av2)", None),
    ]
