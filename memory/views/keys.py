"""API keys: create, with the token shown once, rotate, revoke. For maintainers."""

from dataclasses import dataclass
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

from memory.engines.access.keys import MAX_RATE, KeyEngine, own_key
from memory.exceptions import Day1Error
from memory.models import ApiKey
from memory.operations.keys import KEYS
from memory.views.agent_setup import setup_context
from memory.views.base import ProjectPage
from memory.views.flash import flash_success
from memory.views.list_page import ListPage
from memory.views.times import label_in_zone
from memory.views.widgets import MomentInput, add_form_error


@dataclass(frozen=True)
class Preset:
    """What a key is for: its scope, in the reader's words."""

    scope: str
    title: Any
    words: Any


SCOPES = {
    "read": lazy("read: search and read"),
    "propose": lazy("propose: also propose facts that a person accepts"),
    "write": lazy("write: also write facts and branches"),
    "curate": lazy("curate: also verify, archive and answer the review queue"),
    "merge": lazy("merge: also approve and merge"),
    "admin": lazy("admin: everything, keys included"),
}
PRESETS = {
    "writer": Preset(
        "write", lazy("Agent that writes"), lazy("Searches, captures its sessions, stores what it learns.")
    ),
    "proposer": Preset(
        "propose",
        lazy("Agent that proposes"),
        lazy("Searches; what it learns waits until a person accepts it."),
    ),
    "reader": Preset("read", lazy("Reader"), lazy("Searches and reads; changes nothing.")),
    "curator": Preset(
        "curate", lazy("Curator's script"), lazy("Also verifies, archives and answers the review queue.")
    ),
    "admin": Preset("admin", lazy("Admin"), lazy("Everything, keys and members included.")),
}
DEFAULT_PRESET = "writer"
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
    expires_at = forms.DateTimeField(
        label=label_in_zone(lazy("or at a time of its own")), required=False, widget=MomentInput()
    )
    rate_per_minute = forms.IntegerField(
        label=lazy("Requests a minute"), required=False, min_value=1, max_value=MAX_RATE
    )

    def key_arguments(self) -> dict[str, Any]:
        """Return the arguments of KeyEngine.create_key."""
        payload = dict(self.cleaned_data)
        if (days := payload.pop("days", "")) and not payload["expires_at"]:
            payload["expires_at"] = timezone.now() + timedelta(days=int(days))
        if payload["rate_per_minute"] is None:
            del payload["rate_per_minute"]
        patterns = payload["branch_patterns"].replace(",", " ").split()
        return {**payload, "scopes": [payload["scopes"]], "branch_patterns": patterns}


class PresetKeyForm(KeyForm):
    """One choice for what a key is for; the scopes themselves are for who needs another one."""

    preset = forms.ChoiceField(
        label=lazy("What is it for?"),
        choices=[(name, one.title) for name, one in PRESETS.items()],
        required=False,
        initial=DEFAULT_PRESET,
    )
    scopes = forms.ChoiceField(
        label=lazy("It may"),
        choices=[("", lazy("what the choice above says")), *SCOPES.items()],
        required=False,
    )

    @property
    def presets(self) -> list[tuple[str, Preset, bool]]:
        """The choices with their words, and which one is taken."""
        return [(name, one, self["preset"].value() == name) for name, one in PRESETS.items()]

    @property
    def more(self) -> list[forms.BoundField]:
        """The fields that most keys leave as they are."""
        return [field for field in self if field.name not in ("label", "preset")]

    @property
    def has_more(self) -> bool:
        """Whether one of those was filled in or refused."""
        return self.is_bound and any(field.errors or field.value() for field in self.more)

    def clean(self) -> dict[str, Any]:
        found = super().clean() or self.cleaned_data
        preset = found.pop("preset", "") or DEFAULT_PRESET
        if not self.errors:
            found["scopes"] = found["scopes"] or PRESETS[preset].scope
        return found


class RotateForm(forms.Form):
    grace = forms.ChoiceField(label=lazy("The old key ends"), choices=list(GRACE.items()), initial="0")
    take_over = forms.BooleanField(
        label=lazy("Take it over"),
        required=False,
        help_text=lazy(
            "It is yours from now on. Otherwise it ends when who made it first leaves the project."
        ),
    )


class KeyPage(ProjectPage):
    scope = "admin"
    section = "keys"


class Keys(ListPage, KeyPage):
    """The keys of the project, and a form for a new one."""

    template_name = "keys/list.html"
    title = lazy("Agents & keys")
    operation = KEYS["list"]
    extra_context = {
        "lead": lazy(
            "A key says who an agent is and what it may do. Give each agent its own: then every memory says"
            " where it came from. If one leaks, revoke only that one."
        ),
        "search": lazy("Filters, such as state:valid or agent:ledger"),
        "drawing": "key",
        "none_fits": lazy("No key fits."),
        "show_all": lazy("Show all keys"),
        "none_yet": lazy("There is no key yet: no agent can reach this project."),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", PresetKeyForm())
        return super().get_context_data(**setup_context(self.request, self.reader), **kwargs)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        form = PresetKeyForm(request.POST)
        if form.is_valid():
            try:
                return show_once(
                    self, *KeyEngine().create_key(actor=self.reader.actor, **form.key_arguments())
                )
            except Day1Error as error:
                add_form_error(form, error)
        return self.render_to_response(self.get_context_data(form=form), status=400)


class RotateKey(KeyPage):
    """A form for the end of the old key; its answer shows the new one."""

    template_name = "keys/rotate.html"
    title = lazy("Rotate a key")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        kwargs.setdefault("form", RotateForm())
        return super().get_context_data(key=own_key(self.reader.actor, self.kwargs["key_id"]), **kwargs)

    def post(self, request: HttpRequest, key_id: UUID, **kwargs: Any) -> HttpResponse:
        form = RotateForm(request.POST)
        if form.is_valid():
            payload = form.cleaned_data
            options = {"grace_seconds": int(payload["grace"]), "take_over": payload["take_over"]}
            try:
                made = KeyEngine().rotate_key(key_id=key_id, actor=self.reader.actor, **options)
                return show_once(self, *made)
            except Day1Error as error:
                add_form_error(form, error)
        return self.render_to_response(self.get_context_data(form=form), status=400)


class RevokeKey(KeyPage):
    """A confirmation with its consequences, which revokes the key."""

    template_name = "keys/revoke.html"
    title = lazy("Revoke a key")
    extra_context = {"verb": lazy("Revoke")}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(key=own_key(self.reader.actor, self.kwargs["key_id"]), **kwargs)

    def post(self, request: HttpRequest, key_id: UUID, **kwargs: Any) -> HttpResponse:
        key = KeyEngine().revoke_key(key_id=key_id, actor=self.reader.actor)
        flash_success(request, _("The key %(label)s opens nothing any more.") % {"label": key.label})
        return redirect(self.reader.url("keys"))


def show_once(page: KeyPage, key: ApiKey, token: str) -> HttpResponse:
    """Render the page with the token, which is shown only once and never cached."""
    page.template_name = "keys/made.html"
    setup = setup_context(page.request, page.reader, key, token)
    context = ProjectPage.get_context_data(page, key=key, title=_("The new key"), **setup)
    response = page.render_to_response(context, status=201)
    response["Cache-Control"] = "no-store"
    return response
