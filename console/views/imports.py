"""Importing a version: choose, look at what it would change, commit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from console import harness_pages
from console.drafts import ImportDraft, draft_drop, draft_load, draft_save
from console.forms.harnesses import CommitForm, ImportForm
from console.views.harnesses import head
from console.views.shared import SignedInRequest, page, put_errors_on
from harnesses import policy, services
from harnesses.core.membership import HarnessAction
from ledger.errors import TackroomError

DRAFT_GONE = "That upload has expired (they are kept for an hour). Choose the file again."


@require_http_methods(["GET", "POST"])
@page()
def harness_import(request: SignedInRequest, slug: str) -> HttpResponse:
    """The whole import: `?draft=` shows the preview of an upload, a POST makes one or commits it."""
    harness = policy.harness_for(request.user, slug, HarnessAction.EDIT)
    if request.method == "POST" and request.POST.get("step") == "commit":
        return _commit(request, harness)
    if request.method == "POST":
        return _upload(request, harness)
    if "draft" not in request.GET:
        return _show_form(request, harness, ImportForm())
    key = request.GET["draft"]
    draft = draft_load(request.user.pk, key, slug)
    if draft is None:
        return _draft_gone(request, harness, "")
    return _show_preview(request, harness, key, draft, CommitForm(initial={"message": draft.message}))


def _upload(request: SignedInRequest, harness: Any) -> HttpResponse:
    form = ImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show_form(request, harness, form)
    filename, data = form.content()
    try:
        services.harness_import_preview(harness=harness, filename=filename, data=data)
    except TackroomError as error:
        return _show_form(request, harness, form, error)
    draft = ImportDraft(harness.slug, filename, data, form.cleaned_data["message"], harness.version_count)
    key = draft_save(request.user.pk, draft)
    return redirect(f"{reverse('console:harness_import', args=[harness.slug])}?draft={key}")


def _commit(request: SignedInRequest, harness: Any) -> HttpResponse:
    key = request.POST.get("draft", "")
    draft = draft_load(request.user.pk, key, harness.slug)
    if draft is None:
        return _draft_gone(request, harness, request.POST.get("message", ""))
    form = CommitForm(request.POST)
    if not form.is_valid():
        return _show_preview(request, harness, key, draft, form)
    if harness.version_count != draft.base_number:
        form.add_error(None, _moved_on(harness.version_count))
        draft = replace(draft, message=form.cleaned_data["message"], base_number=harness.version_count)
        return _show_preview(request, harness, draft_save(request.user.pk, draft), draft, form)
    try:
        outcome = services.harness_import(
            harness=harness, filename=draft.filename, data=draft.data,
            message=form.cleaned_data["message"], acting_user=request.user,
        )  # fmt: skip
    except TackroomError as error:
        put_errors_on(form, error)
        return _show_preview(request, harness, key, draft, form)
    draft_drop(request.user.pk, key)
    return _committed(request, harness.slug, outcome.commit)


def _committed(request: SignedInRequest, slug: str, commit: services.CommitResult) -> HttpResponse:
    number = commit.version.number
    if commit.is_new:
        messages.success(request, f"Version {number} is committed.")
    else:
        messages.info(request, f"Nothing to commit: this is version {number} already.")
    return redirect("console:version_components", slug, number)


def _moved_on(number: int) -> str:
    return f"Version {number} was committed meanwhile. What changed is now told against it: look again, then commit."


def _draft_gone(request: SignedInRequest, harness: Any, message: str) -> HttpResponse:
    form = ImportForm({"message": message, "text": ""})
    form.is_valid()
    form.errors.clear()
    form.add_error("upload", DRAFT_GONE)
    return _show_form(request, harness, form)


def _show_form(
    request: SignedInRequest, harness: Any, form: ImportForm, error: TackroomError | None = None
) -> HttpResponse:
    problems = (
        [{"where": item.field, "message": f"{item.message} {item.mend}".strip()} for item in error.field_errors]
        if error
        else []
    )
    if error and not problems:
        problems = [{"where": "", "message": error.detail}]
    context = {**head(request, harness), "form": form, "problems": problems}
    status = 422 if form.errors or problems else 200
    return render(request, "console/harnesses/import.html", context, status=status)


def _show_preview(
    request: SignedInRequest, harness: Any, key: str, draft: ImportDraft, form: CommitForm
) -> HttpResponse:
    try:
        preview = services.harness_import_preview(harness=harness, filename=draft.filename, data=draft.data)
    except TackroomError as error:
        return _show_form(request, harness, ImportForm(initial={"message": draft.message}), error)
    context = {
        **head(request, harness),
        "form": form,
        "draft": key,
        "source_name": draft.filename,
        "preview": preview,
        "next_number": harness.version_count + 1,
        "findings": harness_pages.finding_rows(preview.findings),
        "report": harness_pages.risk_view(preview.risk),
    }
    return render(request, "console/harnesses/import.html", context, status=422 if form.errors else 200)
