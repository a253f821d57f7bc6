"""The threads of a review: with htmx each comes back as a part of the page, without scripts the page comes back."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from console import review_pages
from console.forms.reviews import CommentForm, PlacedCommentForm, reply_form
from console.review_diffs import Place
from console.views.reviews import show_review
from console.views.shared import SignedInRequest, page, put_errors_on
from harnesses import selectors, services
from harnesses.core.component_texts import component_texts, line_of
from ledger.errors import NotFound, TackroomError

PLACE = ("component_kind", "component_id", "field", "line")


@require_GET
@page()
def thread_compose(request: SignedInRequest, review_id: int) -> HttpResponse:
    """The form for a comment at a place that the address names."""
    review = selectors.review_get(request.user, review_id)
    given = {name: request.GET.get(name, "") for name in PLACE}
    return _compose(request, review, PlacedCommentForm(initial=given, auto_id=_auto_id(given)), given)


@require_POST
@page()
def thread_open(request: SignedInRequest, review_id: int) -> HttpResponse:
    """Start a thread."""
    review = selectors.review_get(request.user, review_id)
    given = {name: request.POST.get(name, "") for name in PLACE}
    form = PlacedCommentForm(request.POST, auto_id=_auto_id(given))
    if form.is_valid():
        try:
            thread = services.thread_open(review=review, acting_user=request.user, **form.cleaned_data)
        except NotFound:
            raise
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            return _thread(request, review, thread)
    return _compose(request, review, form, given, status=422)


@require_POST
@page()
def thread_reply(request: SignedInRequest, review_id: int, thread_id: int) -> HttpResponse:
    """Say something in a thread."""
    review = selectors.review_get(request.user, review_id)
    thread = selectors.thread_get(review, thread_id)
    form = reply_form(thread.pk, request.POST)
    if form.is_valid():
        try:
            services.thread_reply(thread=thread, acting_user=request.user, **form.cleaned_data)
        except NotFound:
            raise
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            return _thread(request, review, thread)
    if request.htmx:
        return _thread(request, review, thread, form=form, status=422)
    return show_review(request, review, status=422, reply_forms={thread.pk: form})


@require_POST
@page()
def thread_resolve(request: SignedInRequest, review_id: int, thread_id: int) -> HttpResponse:
    """Mark a thread as resolved."""
    review = selectors.review_get(request.user, review_id)
    thread = services.thread_resolve(thread=selectors.thread_get(review, thread_id), acting_user=request.user)
    return _thread(request, review, thread)


@require_POST
@page()
def thread_reopen(request: SignedInRequest, review_id: int, thread_id: int) -> HttpResponse:
    """Open a resolved thread again."""
    review = selectors.review_get(request.user, review_id)
    thread = services.thread_reopen(thread=selectors.thread_get(review, thread_id), acting_user=request.user)
    return _thread(request, review, thread)


def _thread(
    request: SignedInRequest, review: Any, thread: Any, *, form: CommentForm | None = None, status: int = 200
) -> HttpResponse:
    """The thread and, beside it, the list of all; without scripts the page, at the thread."""
    if not request.htmx:
        return redirect(f"{reverse('console:review_detail', args=[review.pk])}#thread-{thread.pk}")
    threads = selectors.review_threads(review)
    context = {
        "review": review,
        "harness": review.harness,
        "thread": next(item for item in threads if item.pk == thread.pk),
        "options": selectors.review_options(review, request.user),
        "reply_forms": {thread.pk: form} if form else {},
        "thread_rows": review_pages.thread_rows(review, threads),
        "is_update": True,
    }
    return render(request, "console/reviews/_thread_update.html", context, status=status)


def _compose(
    request: SignedInRequest, review: Any, form: PlacedCommentForm, given: dict[str, str], *, status: int = 200
) -> HttpResponse:
    place = _place(review, given)
    context = {
        "review": review,
        "harness": review.harness,
        "form": form,
        "place": place,
        "quote": _quote(review, place),
        "area": "reviews",
    }
    template = "console/reviews/_compose.html" if request.htmx else "console/reviews/compose.html"
    return render(request, template, context, status=status)


def _place(review: Any, given: dict[str, str]) -> Place:
    line = given["line"]
    number = int(line) if line.isascii() and line.isdigit() and len(line) < 10 else None
    kind, component_id = given["component_kind"], given["component_id"]
    title = review_pages.component_title(review, kind, component_id)
    return Place(kind[:40], component_id[:64], given["field"][:300], number, title)


def _quote(review: Any, place: Place) -> str:
    texts = component_texts(selectors.version_spec(review.version), place.kind, place.component_id) or {}
    return (line_of(texts.get(place.field, ""), place.line) or "") if place.line else ""


def _auto_id(given: dict[str, str]) -> str:
    name = "-".join("".join(char for char in given[key] if char.isalnum() or char in "-_.") for key in PLACE)
    return f"compose-{name}-%s"
