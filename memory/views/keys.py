"""API keys: made and shown once, rotated, revoked. For maintainers."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import pgettext_lazy

from memory.engines.keys import KeyEngine, own_key
from memory.exceptions import Day1Error
from memory.models import ApiKey
from memory.views.base import ProjectPage
from memory.views.forms import say
from memory.views.toasts import tell

SCOPES = {
    "read": lazy("read: search and read"),
    "propose": lazy("propose: also propose facts that a person accepts"),
    "write": lazy("write: also write facts and branches"),
    "curate": lazy("curate: also verify, archive and answer the review queue"),
    "merge": lazy("merge: also approve and merge"),
    "admin": lazy("admin: everything, keys included"),
}
DAYS = {
    "": pgettext_lazy("expires", "never"),
    "7": lazy("in 7 days"),
    "30": lazy("in 30 days"),
    "90": lazy("in 90 days"),
    "365": lazy("in a year"),
}
GRACE = {
    "0": lazy("at once"),
    "3600": lazy("in an hour"),
    "86400": lazy("in a day"),
    "604800": lazy("in 7 days"),
}


class KeyForm(forms.Form):
    label = forms.CharField(
        label=lazy("Name"), max_length=200, help_text=lazy("Which agent or program has it.")
    )
    scopes = forms.ChoiceField(
        label=lazy("It may"), choices=list(SCOPES.items()), widget=forms.RadioSelect, initial="write"
    )
    branch_patterns = forms.CharField(
        label=lazy("Branches"),
        required=False,
        help_text=lazy("Names or patterns such as main, task/*; empty means every branch."),
    )
    default_branch = forms.CharField(
        label=lazy("Default branch"),
        required=False,
        max_length=200,
        help_text=lazy("Where MCP works when a call names no branch; empty means main."),
    )
    agent_id = forms.CharField(
        label=lazy("Bound to the agent"),
        required=False,
        max_length=200,
        help_text=lazy("What it writes is always this agent's; empty means that it says who it is."),
    )
    days = forms.ChoiceField(label=lazy("It expires"), choices=list(DAYS.items()), required=False)

    def wanted(self) -> dict[str, Any]:
        """What KeyEngine.create_key takes."""
        given = dict(self.cleaned_data)
        if days := given.pop("days", ""):
            given["expires_at"] = timezone.now() + timedelta(days=int(days))
        patterns = given["branch_patterns"].replace(",", " ").split()
        return {**given, "scopes": [given["scopes"]], "branch_patterns": patterns}


class RotateForm(forms.Form):
    grace = forms.ChoiceField(label=lazy("The old key ends"), choices=list(GRACE.items()), initial="0")


class KeyPage(ProjectPage):
    scope = "admin"
    section = "keys"


class Keys(KeyPage):
    """All keys of the project, and a form for another."""

    template_name = "keys/list.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        page = KeyEngine().list_keys(actor=self.reader.actor, **self.paging())
        kwargs.setdefault("form", KeyForm())
        return super().get_context_data(page=page, **kwargs)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = KeyForm(request.POST)
        if form.is_valid():
            try:
                return show_once(self, *KeyEngine().create_key(actor=self.reader.actor, **form.wanted()))
            except Day1Error as error:
                say(form, error)
        return self.render_to_response(self.get_context_data(form=form), status=400)


class RotateKey(KeyPage):
    """Asks when the old key ends; then shows the new one."""

    template_name = "keys/rotate.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", RotateForm())
        return super().get_context_data(key=own_key(self.reader.actor, self.kwargs["key_id"]), **kwargs)

    def post(self, request: HttpRequest, key_id: UUID, **kwargs: Any) -> HttpResponse:
        form = RotateForm(request.POST)
        if form.is_valid():
            grace = int(form.cleaned_data["grace"])
            try:
                made = KeyEngine().rotate_key(key_id=key_id, actor=self.reader.actor, grace_seconds=grace)
                return show_once(self, *made)
            except Day1Error as error:
                say(form, error)
        return self.render_to_response(self.get_context_data(form=form), status=400)


class RevokeKey(KeyPage):
    """Says what will stop working; then ends the key."""

    template_name = "keys/revoke.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(key=own_key(self.reader.actor, self.kwargs["key_id"]), **kwargs)

    def post(self, request: HttpRequest, key_id: UUID, **kwargs: Any) -> HttpResponse:
        key = KeyEngine().revoke_key(key_id=key_id, actor=self.reader.actor)
        tell(request, _("The key %(label)s opens nothing any more.") % {"label": key.label})
        return redirect(self.reader.url("keys"))


def show_once(page: KeyPage, key: ApiKey, token: str) -> HttpResponse:
    """The page with the token, which no page can show again and no cache may keep."""
    page.template_name = "keys/made.html"
    context = ProjectPage.get_context_data(page, key=key, token=token)
    response = page.render_to_response(context, status=201)
    response["Cache-Control"] = "no-store"
    return response
