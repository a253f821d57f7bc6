"""Reviews: the queue, one review with what it changes, deciding, withdrawing, moving on, and requesting one."""

from __future__ import annotations

import contextlib
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from console import history_pages, review_pages
from console.forms.reviews import (
    DecisionForm,
    PlacedCommentForm,
    RenewForm,
    RequestForm,
    ReviewFilterForm,
    WithdrawForm,
)
from console.harness_head import head
from console.views.shared import SignedInRequest, page, paginate, put_errors_on
from harnesses import policy, selectors, services
from harnesses.core.membership import HarnessAction
from ledger.errors import NotFound, TackroomError

TABS = (("waiting", "Waiting for me"), ("mine", "Mine"), ("open", "Open"), ("all", "All"))
VERSIONS_OFFERED = 50
DECIDED = {
    "in_review": "Your approval counts. {missing} more to go.",
    "approved": "Version {number} is approved.",
    "rejected": "Version {number} is rejected.",
}


@require_GET
@page()
def review_list(request: SignedInRequest) -> HttpResponse:
    """The queue: what waits for me, what I asked for, what is open, and all."""
    chosen = request.GET.get("tab", "waiting")
    tab = chosen if chosen in dict(TABS) else "waiting"
    form = ReviewFilterForm(request.GET)
    values = form.cleaned_data if form.is_valid() else {}
    states = (values["state"],) if tab in ("all", "mine") and values.get("state") else ()
    rows = selectors.review_list(
        request.user,
        states=states,
        is_pending=tab == "open",
        author=request.user if tab == "mine" else None,
        waiting_for=request.user if tab == "waiting" else None,
        search=values.get("search", ""),
    )
    context = {
        "form": form,
        "page": paginate(request, rows.prefetch_related("reviewers")),
        "tab": tab,
        "tabs": [(key, label, key == tab) for key, label in TABS],
        "has_state": tab in ("all", "mine"),
        "waiting": selectors.waiting_count(request.user),
        "is_filtered": any(values.values()),
        "area": "reviews",
    }
    template = "console/reviews/_results.html" if request.htmx else "console/reviews/list.html"
    return render(request, template, context)


@require_GET
@page()
def harness_reviews(request: SignedInRequest, slug: str) -> HttpResponse:
    """The reviews of one harness."""
    harness = policy.harness_for(request.user, slug)
    rows = selectors.review_list(request.user, harness=harness).prefetch_related("reviewers")
    context = {**head(request.user, harness, tab="reviews"), "page": paginate(request, rows)}
    return render(request, "console/reviews/harness.html", context)


@require_GET
@page()
def review_detail(request: SignedInRequest, review_id: int) -> HttpResponse:
    """One review: what changes, what is said about it, who decided what, and what I may do."""
    return show_review(request, selectors.review_get(request.user, review_id))


def show_review(
    request: SignedInRequest,
    review: Any,
    *,
    status: int = 200,
    reply_forms: dict[int, Form] | None = None,
    **forms: Form,
) -> HttpResponse:
    """The page of a review; `forms` and `reply_forms` (by thread) are those that come back with what was typed and why not."""
    threads = selectors.review_threads(review)
    number = review.version.number
    told = review_pages.changes(review.version, review.base_version, threads)
    options = selectors.review_options(review, request.user)
    context = {
        "can_release": policy.may(request.user, HarnessAction.RELEASE, review.harness),
        "standing": history_pages.version_rows(review.harness, [review.version])[0],
        "review": review,
        "harness": review.harness,
        "options": options,
        "progress": selectors.review_progress(review),
        "threads": threads,
        "whole_threads": [item for item in threads if not item.component_kind],
        "thread_rows": review_pages.thread_rows(review, threads),
        "history": review_pages.history(review),
        "decision_form": DecisionForm(initial={"number": number}),
        "withdraw_form": WithdrawForm(),
        "renew_form": RenewForm(initial={"number": options.newer.number}) if options.newer else None,
        "compose": PlacedCommentForm(auto_id="whole-%s"),
        "reply_forms": reply_forms or {},
        "area": "reviews",
        **told,
        **forms,
    }
    return render(request, "console/reviews/detail.html", context, status=status)


@require_POST
@page()
def review_decide(request: SignedInRequest, review_id: int) -> HttpResponse:
    """Approve or reject the version that was on show."""
    review = selectors.review_get(request.user, review_id)
    form = DecisionForm(request.POST)
    if form.is_valid():
        try:
            decided = services.review_decide(review=review, acting_user=request.user, **form.cleaned_data)
        except TackroomError as error:
            return _refused(request, review, "decision_form", form, error)
        missing = selectors.review_progress(decided).missing
        messages.success(request, DECIDED[decided.state].format(number=decided.version.number, missing=missing))
        return redirect("console:review_detail", review.pk)
    return show_review(request, review, status=422, decision_form=form)


@require_POST
@page()
def review_withdraw(request: SignedInRequest, review_id: int) -> HttpResponse:
    """Take a review back."""
    review = selectors.review_get(request.user, review_id)
    form = WithdrawForm(request.POST)
    if form.is_valid():
        reason = form.cleaned_data["withdraw_reason"]
        try:
            services.review_withdraw(review=review, reason=reason, acting_user=request.user)
        except TackroomError as error:
            return _refused(request, review, "withdraw_form", form, error)
        messages.success(request, "The review is withdrawn.")
        return redirect("console:review_detail", review.pk)
    return show_review(request, review, status=422, withdraw_form=form)


@require_POST
@page()
def review_renew(request: SignedInRequest, review_id: int) -> HttpResponse:
    """Move a review on to a newer version."""
    review = selectors.review_get(request.user, review_id)
    form = RenewForm(request.POST)
    if form.is_valid():
        try:
            version = selectors.version_get(review.harness, form.cleaned_data["number"])
            services.review_renew(review=review, version=version, acting_user=request.user)
        except TackroomError as error:
            return _refused(request, review, "renew_form", form, error)
        messages.success(
            request, f"The review goes on with version {version.number}. Earlier decisions no longer count."
        )
        return redirect("console:review_detail", review.pk)
    return show_review(request, review, status=422, renew_form=form)


def _refused(request: SignedInRequest, review: Any, name: str, form: Form, error: TackroomError) -> HttpResponse:
    """The page as it is now, with the form as it was sent; the version that a decision names is the one that is on show now."""
    put_errors_on(form, error)
    now = selectors.review_get(request.user, review.pk)
    if name == "decision_form":
        form.data = {**form.data.dict(), "number": str(now.version.number)}  # type: ignore[attr-defined]  # of a request
    forms: dict[str, Any] = {name: form}
    return show_review(request, now, status=error.status, **forms)


@require_http_methods(["GET", "POST"])
@page()
def review_request(request: SignedInRequest, slug: str) -> HttpResponse:
    """Ask for a review of `?version=`, the newest if left out."""
    harness = policy.harness_for(request.user, slug, HarnessAction.EDIT)
    version = _asked_version(request, harness)
    active = selectors.active_review(version)
    if active is not None and (request.method == "GET" or _is_same_request(request, active)):
        messages.info(request, f"The review of version {version.number} is this one.")
        return redirect("console:review_detail", active.pk)
    suggested = selectors.suggested_reviewers(version, requested_by=request.user)
    form = RequestForm(
        request.POST if request.method == "POST" else None,
        initial={"number": version.number},
        people=review_pages.people_choices(suggested),
    )
    if form.is_bound and form.is_valid() and (review := _request(request, harness, form)) is not None:
        messages.success(request, f"The review of version {review.version.number} is requested.")
        return redirect("console:review_detail", review.pk)
    base = selectors.review_base(version)
    mine = selectors.review_list(request.user, harness=harness, author=request.user, is_pending=True)
    context = {
        **head(request.user, harness, version, tab="reviews"),
        "form": form,
        "base_version": base,
        "versions": selectors.version_list(harness)[:VERSIONS_OFFERED],
        "earlier": mine.first(),
        **review_pages.changes(version, base),
    }
    return render(request, "console/reviews/request.html", context, status=422 if form.errors else 200)


def _asked_version(request: SignedInRequest, harness: Any) -> Any:
    """The version to show: the one that was posted, if it is there, or else that of the address. Raises NotFound."""
    posted = request.POST.get("number", "")
    if posted:
        with contextlib.suppress(NotFound):
            return selectors.version_get(harness, posted)
    return selectors.version_get(harness, request.GET.get("version") or None)


def _is_same_request(request: SignedInRequest, active: Any) -> bool:
    """Whether this is the second click on the button that requested the review."""
    message = request.POST.get("message", "").replace("\r\n", "\n").strip()
    return bool(active.requested_by_id == request.user.pk and active.message == message)


def _request(request: SignedInRequest, harness: Any, form: RequestForm) -> Any:
    """The review that was requested; None where it was refused, and the form says why."""
    try:
        version = selectors.version_get(harness, form.cleaned_data["number"])
        return services.review_request(
            version=version,
            message=form.cleaned_data["message"],
            reviewers=form.cleaned_data["reviewers"],
            acting_user=request.user,
        )
    except NotFound as error:
        form.add_error("number", error.detail)
    except TackroomError as error:
        put_errors_on(form, error)
    return None
