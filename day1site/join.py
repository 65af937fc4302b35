"""The page of an invitation's link: who is logged in joins by one press, others with a new account."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.views.generic.base import TemplateView, View

from day1site.login import limit_password_check
from memory.engines.access.invitations import InvitationEngine, require_open
from memory.exceptions import Conflict, Day1Error, Exists
from memory.models import Membership
from memory.views.frame.base import render_refusal
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.frame.widgets import add_form_error
from memory.views.text.error_text import error_sentence

BACKEND = "django.contrib.auth.backends.ModelBackend"


class AccountForm(forms.Form):
    username = forms.CharField(label=lazy("Username"), max_length=150)
    password = forms.CharField(
        label=lazy("Password"), widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )
    again = forms.CharField(
        label=lazy("The password again"), widget=forms.PasswordInput(attrs={"autocomplete": "new-password"})
    )

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if found.get("password") and found.get("again") and found["password"] != found["again"]:
            self.add_error("again", _("The two passwords are different."))
        return found


class SecretAddress(View):
    """A page whose address is a secret: no cache keeps it, and a refusal is a page."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            response = super().dispatch(request, *args, **kwargs)
        except Day1Error as error:
            response = render_refusal(request, error)
        patch_cache_control(response, private=True, no_store=True)
        return response


class Join(SecretAddress, TemplateView):
    template_name = "account/join.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        invitation = InvitationEngine().find_invitation(secret=self.kwargs["secret"])
        kwargs.setdefault("form", AccountForm())
        return super().get_context_data(invitation=invitation, ended=find_end(invitation), **kwargs)

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        context = self.get_context_data()
        return self.render_to_response(context, status=409 if context["ended"] else 200)

    def post(self, request: HttpRequest, secret: str) -> HttpResponse:
        """Accept the invitation; an ended one is answered by the page that says so."""
        try:
            if request.user.is_authenticated:
                member = InvitationEngine().accept_invitation(secret=secret, user=request.user)
                return welcome(request, member)
            if not settings.PASSWORD_LOGIN:
                raise Conflict
            return self.make_account(request, secret)
        except Exists as error:
            flash_warning(request, error_sentence(error))
            return redirect("front")
        except Conflict:
            page = self.get(request)
            page.status_code = Conflict.status
            return page

    def make_account(self, request: HttpRequest, secret: str) -> HttpResponse:
        form = AccountForm(request.POST)
        status = 400
        if form.is_valid():
            account = {name: form.cleaned_data[name] for name in ("username", "password")}
            try:
                with limit_password_check(request, account["username"]):
                    member = InvitationEngine().join_with_account(secret=secret, **account)
                login(request, member.user, BACKEND)
                return welcome(request, member)
            except Conflict:
                raise
            except Day1Error as error:
                add_form_error(form, error)
                status = error.status
        return self.render_to_response(self.get_context_data(form=form), status=status)


def find_end(invitation: Any) -> str:
    """Return why an invitation cannot be accepted, or "" for an open one."""
    try:
        require_open(invitation)
    except Conflict as error:
        return error_sentence(error)
    return ""


def welcome(request: HttpRequest, member: Membership) -> HttpResponse:
    flash_success(request, _("You are a member of %(name)s now.") % {"name": member.project.name})
    return redirect("home", member.project.slug)
