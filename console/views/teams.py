"""Teams: people who are given a role together."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from console import audit_pages
from console.forms.people import TeamForm, TeamNameForm, TeamPersonForm
from console.people_pages import role_title
from console.views.shared import SignedInRequest, page, paginate, put_errors_on
from harnesses.selectors import team_roles
from ledger import selectors, services
from ledger.core.roles import Permission
from ledger.errors import Conflict, TackroomError

MAX_CANDIDATES = 500


@require_GET
@page()
def team_list(request: SignedInRequest) -> HttpResponse:
    """All teams."""
    context = {"page": paginate(request, selectors.team_list()), **_may(request)}
    return render(request, "console/teams/list.html", context)


@require_http_methods(["GET", "POST"])
@page(Permission.MANAGE_TEAMS)
def team_create(request: SignedInRequest) -> HttpResponse:
    """Make a team; its people come next."""
    form = TeamForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            team = services.team_create(acting_user=request.user, **form.cleaned_data)
        except Conflict as error:
            form.add_error("slug", error.detail)
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            messages.success(request, f"The team “{team.name}” is made. Add its people.")
            return redirect("console:team_detail", team.slug)
    context = {"form": form, **_may(request)}
    return render(request, "console/teams/create.html", context, status=422 if form.errors else 200)


@require_GET
@page()
def team_detail(request: SignedInRequest, slug: str) -> HttpResponse:
    """A team: its people, where it has a role, what changed."""
    return _show(request, selectors.team_get(slug))


@require_POST
@page(Permission.MANAGE_TEAMS)
def team_rename(request: SignedInRequest, slug: str) -> HttpResponse:
    """Give a team another name."""
    team = selectors.team_get(slug)
    form = TeamNameForm(request.POST)
    if form.is_valid():
        try:
            services.team_update(team=team, name=form.cleaned_data["name"], acting_user=request.user)
        except TackroomError as error:
            put_errors_on(form, error)
        else:
            messages.success(request, "The name is saved.")
            return redirect("console:team_detail", slug)
    return _show(request, team, name_form=form)


@require_POST
@page(Permission.MANAGE_TEAMS)
def team_add(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take a person into a team."""
    team = selectors.team_get(slug)
    form = TeamPersonForm(request.POST)
    if form.is_valid():
        username = form.cleaned_data["username"]
        try:
            services.team_update(team=team, add=[username], acting_user=request.user)
        except TackroomError as error:
            form.add_error("username", error.detail)
        else:
            messages.success(request, f"{username} is in “{team.name}” now.")
            return redirect("console:team_detail", slug)
    return _show(request, team, person_form=form)


@require_POST
@page(Permission.MANAGE_TEAMS)
def team_remove(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take a person out of a team."""
    team = selectors.team_get(slug)
    username = request.POST.get("username", "")
    services.team_update(team=team, remove=[username], acting_user=request.user)
    messages.success(request, f"{username} is not in “{team.name}” any more.")
    return redirect("console:team_detail", slug)


@require_POST
@page(Permission.MANAGE_TEAMS)
def team_delete(request: SignedInRequest, slug: str) -> HttpResponse:
    """Remove a team that has no role anywhere."""
    team = selectors.team_get(slug)
    try:
        services.team_delete(team=team, acting_user=request.user)
    except Conflict as error:
        messages.error(request, error.detail)
        return redirect("console:team_detail", slug)
    messages.success(request, f"The team “{team.name}” is removed.")
    return redirect("console:team_list")


def _show(
    request: SignedInRequest,
    team: Any,
    *,
    name_form: TeamNameForm | None = None,
    person_form: TeamPersonForm | None = None,
) -> HttpResponse:
    entries = paginate(
        request, selectors.audit_list(viewer=request.user, object_type="team", object_id=team.pk), size=20
    )
    context = {
        "team": team,
        "people": selectors.team_people(team),
        "roles": [(member.harness, role_title(member.role)) for member in team_roles(request.user, team)],
        "name_form": name_form or TeamNameForm(initial={"name": team.name}),
        "person_form": person_form or TeamPersonForm(),
        "candidates": selectors.people_list()[:MAX_CANDIDATES],
        "page": entries,
        "rows": audit_pages.entry_rows(entries.object_list),
        **_may(request),
    }
    has_errors = any(form is not None and form.errors for form in (name_form, person_form))
    return render(request, "console/teams/detail.html", context, status=422 if has_errors else 200)


def _may(request: SignedInRequest) -> dict[str, Any]:
    return {"can_manage_teams": request.user.has_perm(Permission.MANAGE_TEAMS), "area": "account"}
