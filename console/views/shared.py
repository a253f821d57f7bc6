"""What every page needs: who may see it, and how an error raised on purpose becomes a page or a message at a field."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AbstractUser
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django_htmx.middleware import HtmxDetails

from ledger.core.roles import ROLE_TITLES, Permission, roles_with
from ledger.errors import Denied, NotFound, TackroomError

PAGE_SIZE = 50

View = Callable[..., HttpResponseBase]
M = TypeVar("M", bound=Model)


class SignedInRequest(HttpRequest):
    """A request of a page that only people who are signed in can see."""

    user: AbstractUser  # type: ignore[assignment]  # never anonymous behind `page`
    htmx: HtmxDetails


def page(permission: Permission | None = None) -> Callable[[View], View]:
    """A page for signed-in people who hold `permission`. Errors raised on purpose become 403, 404 or a plain error page."""

    def decorate(view: View) -> View:
        @login_required
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            require(request, permission)
            try:
                return view(request, *args, **kwargs)
            except NotFound as error:
                raise Http404(error.detail) from error
            except Denied as error:
                raise PermissionDenied(error.detail) from error
            except TackroomError as error:
                return problem_page(request, error)

        return cast("View", wrapped)

    return decorate


def require(request: HttpRequest, permission: Permission | None) -> None:
    """Raises PermissionDenied, naming the roles that may, where the user lacks `permission`."""
    if permission is None or cast("AbstractUser", request.user).has_perm(permission):
        return
    roles = ", ".join(sorted(ROLE_TITLES[role] for role in roles_with(permission)))
    raise PermissionDenied(f"This needs one of these roles: {roles}.")


def problem_page(request: HttpRequest, error: TackroomError) -> HttpResponse:
    """An error of a page as a whole, with what to do."""
    return render(request, "console/problem.html", {"error": error}, status=error.status)


def put_errors_on(form: Form, error: TackroomError) -> None:
    """Show a service's error at the fields it names; what the form does not have goes on top of the form."""
    for item in error.field_errors:
        where = item.field if item.field in form.fields else None
        prefix = "" if where else f"{item.field}: "
        form.add_error(where, f"{prefix}{item.message} {item.mend}".strip())
    if not error.field_errors:
        form.add_error(None, error.detail)


def paginate(request: HttpRequest, rows: QuerySet[M], *, size: int = PAGE_SIZE) -> Page[M]:
    """The page of a list that `?page=` asks for; the nearest one where it asks for nonsense."""
    return Paginator(rows, size).get_page(request.GET.get("page"))
