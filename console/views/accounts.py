"""Signing in and out, the password, and a person's API tokens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth_views
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from console.demo import read_logins
from console.forms.accounts import LoginForm, TokenForm
from console.views.shared import SignedInRequest, page, put_errors_on
from ledger import selectors, services
from ledger.errors import NotFound, TackroomError


class LoginView(auth_views.LoginView):
    """Sign in. Where the demo is seeded, its logins are shown."""

    template_name = "console/account/login.html"
    authentication_form = LoginForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        logins = read_logins() if settings.DEMO_LOGINS else []
        return super().get_context_data(demo_logins=logins, **kwargs)


class PasswordChangeView(SuccessMessageMixin, auth_views.PasswordChangeView):
    """Change one's own password."""

    template_name = "console/account/password.html"
    success_url = reverse_lazy("console:home")
    success_message = "Your password is changed."


@require_GET
@page()
def home(request: SignedInRequest) -> HttpResponse:
    """The first page after signing in."""
    return redirect("console:harness_list")


@never_cache
@require_http_methods(["GET", "POST"])
@page()
def token_list(request: SignedInRequest) -> HttpResponse:
    """One's own tokens, and a form for a new one, whose secret is shown once, in the answer to the form."""
    form = TokenForm(request.POST or None)
    created = None
    if request.method == "POST" and form.is_valid():
        try:
            created = services.token_create(owner=request.user, acting_user=request.user, **form.cleaned_data)
            form = TokenForm()
        except TackroomError as error:
            put_errors_on(form, error)
    tokens = selectors.token_list(owner=request.user)
    context = {"form": form, "created": created, "tokens": tokens, "area": "account"}
    return render(request, "console/account/tokens.html", context, status=422 if form.errors else 200)


@require_POST
@page()
def token_revoke(request: SignedInRequest, token_id: int) -> HttpResponse:
    """End one of one's own tokens."""
    token = selectors.token_get(token_id)
    if token.owner_id != request.user.pk:
        raise NotFound("You have no such token.")
    services.token_revoke(token=token, acting_user=request.user)
    messages.success(request, f"The token “{token.name}” is revoked. What used it gets 401 from now on.")
    return redirect("console:token_list")
