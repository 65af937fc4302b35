"""The second factor: asked for at the login, set up and taken away in the account, required by projects."""

from time import time
from typing import Any

from django import forms
from django.contrib.auth import get_user_model, login
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.cache import patch_cache_control
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.generic.base import TemplateView

from day1site.join import BACKEND
from day1site.login import get_client_address
from memory.engines.access.logins import LoginTrailEngine
from memory.engines.access.second_factors import (
    FACTOR,
    SecondFactorEngine,
    build_address,
    count_recovery_codes,
    draw_address,
    has_factor,
    make_secret,
)
from memory.exceptions import Day1Error
from memory.views.frame.base import find_own_path
from memory.views.frame.flash import flash_success
from memory.views.text.error_text import error_sentence

PENDING, SECRET = "second_factor_pending", "second_factor_secret"  # of a session
PENDING_SECONDS = 600


class CodeForm(forms.Form):
    code = forms.CharField(
        label=lazy("Code"),
        max_length=40,
        help_text=lazy("Six digits of your authenticator, or a recovery code."),
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True}),
    )


def finish_login(
    request: HttpRequest, user: Any, address: str, provider: str = "", has_shown: bool = False
) -> HttpResponse:
    """Log a user in whose password or provider was right; who has a second factor is asked for it first,
    unless the provider did.
    """
    if not has_shown and has_factor(user):
        request.session.cycle_key()  # who knew the old one has typed no password
        request.session[PENDING] = {
            "user": user.pk,
            "hash": user.get_session_auth_hash(),
            "at": time(),
            "next": address,
            "provider": provider,
        }
        return redirect("login-code")
    return complete_login(request, user, address, provider, has_shown)


def complete_login(
    request: HttpRequest, user: Any, address: str, provider: str, has_shown: bool
) -> HttpResponse:
    """Log a user in, tell of it, and lead to an address."""
    LoginTrailEngine().record_event(user=user, address=get_client_address(request), provider=provider)
    login(request, user, BACKEND)
    if has_shown:
        request.session[FACTOR] = True
    return HttpResponseRedirect(address)


class CodePage(TemplateView):
    """A page with one code to type; never kept by a cache."""

    template_name = "account/code.html"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = super().dispatch(request, *args, **kwargs)
        patch_cache_control(response, private=True, no_store=True)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", CodeForm())
        return super().get_context_data(**kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return self.take_code(request, request.POST.get("code", "")[:40])
        except Day1Error as error:
            return self.render_to_response(
                self.get_context_data(problem=error_sentence(error)), status=error.status
            )

    def take_code(self, request: HttpRequest, code: str) -> HttpResponse:
        raise NotImplementedError


class LoginCode(CodePage):
    """The second step of a login."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        self.user = find_pending_user(request)
        if self.user is None:
            return redirect("login")
        return super().dispatch(request, *args, **kwargs)

    def take_code(self, request: HttpRequest, code: str) -> HttpResponse:
        SecondFactorEngine().check_code(user=self.user, code=code, address=get_client_address(request))
        pending = request.session.pop(PENDING)
        return complete_login(request, self.user, pending["next"], pending["provider"], has_shown=True)


def find_pending_user(request: HttpRequest) -> Any:
    """Return whose password or provider was right a moment ago; None for nobody, and once the account is
    closed or has another password.
    """
    pending = request.session.get(PENDING)
    if pending is None or time() - pending["at"] > PENDING_SECONDS:
        return None
    user: Any = get_user_model().objects.filter(pk=pending["user"], is_active=True).first()
    is_same = user and constant_time_compare(user.get_session_auth_hash(), pending["hash"])
    return user if is_same else None


class Factor(LoginRequiredMixin, CodePage):
    """The second factor of who is logged in: set up, shown once in this login, or taken away."""

    template_name = "account/second_factor.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        user, session = self.request.user, self.request.session
        if not (is_set := has_factor(user)):
            secret = session.setdefault(SECRET, make_secret())
            address = build_address(user, secret)
            kwargs |= {"secret": secret, "address": address, "picture": draw_address(address)}
        shown = {
            "is_set": is_set,
            "is_shown": bool(session.get(FACTOR)),
            "left": count_recovery_codes(user),
            "next": self.find_next(),
        }
        return super().get_context_data(**{**shown, **kwargs})

    def take_code(self, request: HttpRequest, code: str) -> HttpResponse:
        engine, user = SecondFactorEngine(), request.user
        if not has_factor(user):
            codes = engine.add_factor(user=user, secret=request.session.get(SECRET, make_secret()), code=code)
            request.session.pop(SECRET, None)
            request.session[FACTOR] = True
            return self.render_to_response(self.get_context_data(codes=codes), status=201)
        engine.check_code(user=user, code=code, address=get_client_address(request))
        if request.POST.get("do") == "remove":
            engine.remove_factor(user=user)
            request.session.pop(FACTOR, None)
            flash_success(request, _("You have no second factor any more."))
            return redirect("account")
        request.session[FACTOR] = True
        return HttpResponseRedirect(self.find_next())

    def find_next(self) -> str:
        """Return the page of this site that wanted the factor."""
        return find_own_path(self.request, self.request.GET.get("next", ""))
