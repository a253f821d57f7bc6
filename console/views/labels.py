"""The labels of a harness: where they point, moving one now or later, taking a move back, protecting and removing one."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from console import label_pages
from console.forms.labels import LATER, MoveForm, NewLabelForm, UndoForm
from console.harness_head import head
from console.views.shared import SignedInRequest, page, paginate, put_errors_on
from harnesses import policy, selectors, services
from harnesses.core.labels import ALWAYS_PROTECTED
from harnesses.core.membership import HarnessAction
from harnesses.errors import StaleLabel
from ledger.errors import Conflict, Denied, NotFound, TackroomError


@require_GET
@page()
def harness_labels(request: SignedInRequest, slug: str) -> HttpResponse:
    """All labels of a harness, what is planned for them, and a form for one more."""
    return _show_list(request, policy.harness_for(request.user, slug))


def _show_list(request: SignedInRequest, harness: Any, form: NewLabelForm | None = None) -> HttpResponse:
    choices = label_pages.version_choices(harness)
    allowed = _allowed(request, harness)
    context = {
        **_head(request, harness),
        **label_pages.label_rows(harness, allowed),
        **label_pages.release_rows(harness, allowed),
        "new_form": form or NewLabelForm(versions=choices, auto_id="new-%s"),
    }
    return render(request, "console/labels/list.html", context, status=422 if form is not None else 200)


@require_GET
@page()
def label_new(request: SignedInRequest, slug: str) -> HttpResponseBase:
    """From a name to the page that makes a label of it."""
    harness = policy.harness_for(request.user, slug)
    form = NewLabelForm(request.GET, versions=label_pages.version_choices(harness), auto_id="new-%s")
    if not form.is_valid():
        return _show_list(request, harness, form)
    address = reverse("console:label_move", args=[slug, form.cleaned_data["name"]])
    return redirect(f"{address}?{urlencode({'version': form.cleaned_data['version']})}")


@require_GET
@page()
def label_detail(request: SignedInRequest, slug: str, name: str) -> HttpResponse:
    """One label with its whole history, also when it is gone."""
    harness = policy.harness_for(request.user, slug)
    moves = selectors.label_moves(harness, name)
    label = selectors.label_get(harness, name) if not moves or selectors.label_find(harness, name) else None
    shown = paginate(request, moves)
    context = {
        **_head(request, harness),
        "label": label,
        "name": name,
        "protection": label_pages.protection_badge(bool(label and label.is_protected)),
        "rights": label_pages.label_rights(name, label, _allowed(request, harness)),
        "is_always_protected": name in ALWAYS_PROTECTED,
        "page": shown,
        "moves": [(move, label_pages.cause_badge(move.cause)) for move in shown],
    }
    return render(request, "console/labels/detail.html", context)


# --- moving ----------------------------------------------------------------------------------------------------------


@require_http_methods(["GET", "POST"])
@page()
def label_move(request: SignedInRequest, slug: str, name: str) -> HttpResponse:
    """What moving a label to `?version=` (the newest if left out) replaces and needs; a POST moves it, or plans the move."""
    harness = policy.harness_for(request.user, slug)
    sent = request.POST if request.method == "POST" else None
    version = selectors.version_get(harness, (sent or request.GET).get("version") or None)
    preview = selectors.label_preview(harness, name, version, request.user)
    form = _move_form(preview, sent)
    if sent is not None and form.is_valid():
        try:
            return _carry_out(request, harness, name, version, form.cleaned_data)
        except (NotFound, Denied):
            raise
        except Conflict as error:
            form.add_error(None, error.detail)
            _look_again(form, error)
        except TackroomError as error:
            put_errors_on(form, error)
    return _show_move(
        request, form, preview if sent is None else selectors.label_preview(harness, name, version, request.user)
    )


def _carry_out(request: SignedInRequest, harness: Any, name: str, version: Any, values: dict[str, Any]) -> HttpResponse:
    what = {"harness": harness, "name": name, "version": version, "acting_user": request.user}
    why = {"reason": values["reason"], "confirm": values["confirm"]}
    if values["when"] == LATER:
        services.release_schedule(**what, **why, due_at=values["due_at"])
        messages.success(request, f"“{name}” moves to version {version.number} at that time, if everything holds then.")
    else:
        result = services.label_move(**what, **why, expected_revision=values["revision"])
        done = "is now" if result.is_moved else "was already"
        messages.success(request, f"“{name}” {done} at version {version.number}.")
    return redirect("console:harness_labels", harness.slug)


def _look_again(form: MoveForm | UndoForm, error: TackroomError) -> None:
    """After somebody else's move the page shows how things are now: the next press is from that look."""
    if isinstance(error, StaleLabel):
        form.data = {**{name: form.data.get(name) for name in form.data}, "revision": str(error.revision)}


def _move_form(preview: selectors.LabelPreview, sent: QueryDict | None) -> MoveForm:
    initial = {"version": preview.version.number, "revision": preview.label.revision if preview.label else 0}
    return MoveForm(sent, initial=initial, is_protected=preview.is_protected, is_blocked=bool(preview.blockers))


def _show_move(request: SignedInRequest, form: MoveForm, preview: selectors.LabelPreview) -> HttpResponse:
    harness = preview.harness
    may_move = not harness.is_archived and "denied" not in {item.code for item in preview.blockers}
    context = {
        **_head(request, harness),
        **label_pages.move_context(preview),
        "name": preview.name,
        "target": preview.version,
        "may_move": may_move,
        "form": form,
        "versions": label_pages.version_choices(harness),
        "planned": selectors.scheduled_releases(harness).filter(label_name=preview.name).first(),
    }
    return render(request, "console/labels/move.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "POST"])
@page()
def label_undo(request: SignedInRequest, slug: str, name: str) -> HttpResponse:
    """What taking back the last move would bring back; a POST does it. The page itself stands for typing the name."""
    harness = policy.harness_for(request.user, slug)
    form = UndoForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid():
        try:
            result = services.label_undo(
                harness=harness,
                name=name,
                reason=form.cleaned_data["reason"],
                confirm=name,
                expected_revision=form.cleaned_data["revision"],
                acting_user=request.user,
            )
        except (NotFound, Denied):
            raise
        except Conflict as error:
            form.add_error(None, error.detail)
            _look_again(form, error)
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            messages.success(request, f"“{name}” is at version {result.label.version.number} again.")
            return redirect("console:harness_labels", slug)
    return _show_undo(request, harness, name, form)


def _show_undo(request: SignedInRequest, harness: Any, name: str, form: UndoForm | None) -> HttpResponse:
    label = selectors.label_get(harness, name)
    move = selectors.last_move(harness, name)
    if move is None or move.from_version is None:
        messages.info(request, f"There is nothing to undo: “{name}” was made by its last move.")
        return redirect("console:label_detail", harness.slug, name)
    target = selectors.version_get(harness, move.from_version.number)
    context = {
        **_head(request, harness),
        **label_pages.move_context(selectors.label_preview(harness, name, target, request.user)),
        "name": name,
        "target": target,
        "move": move,
        "form": form or UndoForm(initial={"revision": label.revision}),
    }
    return render(request, "console/labels/undo.html", context, status=422 if form is not None else 200)


# --- protecting and removing -----------------------------------------------------------------------------------------


@require_POST
@page()
def label_protect(request: SignedInRequest, slug: str, name: str) -> HttpResponse:
    """Put a label under protection (`is_protected=yes`) or take it off."""
    harness = policy.harness_for(request.user, slug)
    wanted = request.POST.get("is_protected")
    if wanted not in ("yes", "no"):
        messages.error(request, "Say whether the label shall be protected. Use the button on its page.")
        return redirect("console:label_detail", slug, name)
    try:
        label = services.label_protect(
            harness=harness, name=name, is_protected=wanted == "yes", acting_user=request.user
        )
    except Conflict as error:
        messages.error(request, error.detail)
        return redirect("console:label_detail", slug, name)
    messages.success(request, f"“{name}” is {'protected' if label.is_protected else 'not protected any more'}.")
    return redirect("console:label_detail", slug, name)


@require_POST
@page()
def label_remove(request: SignedInRequest, slug: str, name: str) -> HttpResponse:
    """Take a label away, if it is still where it was when the button was shown."""
    harness = policy.harness_for(request.user, slug)
    revision = request.POST.get("revision", "")
    is_number = revision.isascii() and revision.isdigit() and len(revision) < 10
    try:
        services.label_remove(
            harness=harness,
            name=name,
            expected_revision=int(revision) if is_number else None,
            acting_user=request.user,
        )
    except Conflict as error:
        messages.error(request, error.detail)
        return redirect("console:label_detail", slug, name)
    messages.success(request, f"“{name}” is removed. Its history stays.")
    return redirect("console:harness_labels", slug)


def _head(request: SignedInRequest, harness: Any) -> dict[str, Any]:
    """The top of a harness page about labels."""
    return head(request.user, harness, tab="labels")


def _allowed(request: SignedInRequest, harness: Any) -> frozenset[HarnessAction]:
    """What the person may do with labels of the harness now: nothing moves in an archived one."""
    return frozenset() if harness.is_archived else policy.actions(request.user, harness)
