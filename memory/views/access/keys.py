"""API keys: create, with the token shown once, rotate, revoke. For maintainers."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django import forms
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import pgettext_lazy

from memory.engines.access.keys import KeyEngine, own_key
from memory.engines.fields.keys import KEY
from memory.engines.support import validation as c
from memory.engines.support.pagination import MAX_PAGE_SIZE
from memory.models import ApiKey
from memory.operations.keys import KEYS
from memory.views.access.agent_setup import setup_context
from memory.views.frame.base import ProjectPage
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage, ConfirmPage
from memory.views.generic.field_widgets import DeclaredForm
from memory.views.generic.list_page import ListPage, count_page
from memory.views.text.times import format_age


@dataclass(frozen=True)
class Preset:
    """What a key is for: its scope, in the reader's words."""

    scope: str
    title: Any
    words: Any


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
BOUNDS = (
    *("branch_patterns", "default_branch", "agent_id", "user_id", "app_id"),
    *("rate_per_minute", "max_facts", "max_bytes"),
)


class KeyForm(DeclaredForm):
    """One choice for what a key is for; the scopes themselves are for who needs another one."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        titles = [(name, one.title) for name, one in PRESETS.items()]
        self.fields["preset"] = forms.ChoiceField(
            label=lazy("What is it for?"), choices=titles, required=False, initial=DEFAULT_PRESET
        )
        self.fields["days"] = forms.ChoiceField(
            label=lazy("Expiry"), choices=list(DAYS.items()), required=False
        )
        scopes = [("", lazy("what the choice above says")), *KEY["scopes"].form_choices]
        self.fields["scopes"].widget = forms.Select(choices=scopes)
        self.order_fields(["label", "preset", "scopes", *BOUNDS, "days", "expires_at"])

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

    def read_values(self, *, is_whole: bool = False) -> dict[str, Any]:
        values = super().read_values(is_whole=is_whole)
        preset = c.one_of(PRESETS)("preset", self.data.get("preset") or DEFAULT_PRESET)
        days = c.one_of(DAYS)("days", self.data.get("days", ""))
        scopes = values.get("scopes") or [PRESETS[preset].scope]
        if days and "expires_at" not in values:
            values["expires_at"] = timezone.now() + timedelta(days=int(days))
        patterns = [word for text in values.get("branch_patterns", ()) for word in text.split()]
        return {**values, "scopes": scopes, "branch_patterns": patterns}


class KeyPage(ActionPage):
    scope, section = "admin", "keys"
    needs_now = False


class Keys(KeyPage, ListPage):
    """The keys of the project, and a form for a new one."""

    template_name = "keys/list.html"
    title = lazy("Agents & keys")
    operation = KEYS["list"]
    actions = {
        "create": Action(
            KEYS["create"],
            fields=("label", "scopes", *BOUNDS, "expires_at"),
            form=KeyForm,
            button=lazy("Make the key"),
        )
    }
    extra_context = {
        "lead": lazy(
            "A key says who an agent is and what it may do. Give each agent its own: then every memory says"
            " where it came from. If one leaks, revoke only that one."
        ),
        "search": lazy("Filters, such as state:valid or agent:NAME"),
        "drawing": "key",
        "none_fits": lazy("No key matches."),
        "show_all": lazy("Show all keys"),
        "none_yet": lazy("There is no key yet: no agent can reach this project."),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(
            form=self.get_form("create"), **setup_context(self.request, self.reader), **kwargs
        )

    def render_done(self, name: str, result: tuple[ApiKey, str]) -> HttpResponse:
        return show_once(self, *result)


class RotateKey(ConfirmPage, KeyPage):
    """A form for the end of the old key; its answer shows the new one."""

    template_name = "keys/rotate.html"
    title = lazy("Rotate a key")
    actions = {
        "confirm": Action(KEYS["rotate"], fields=("grace_seconds", "take_over"), button=lazy("Rotate"))
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(key=own_key(self.reader.actor, self.kwargs["key_id"]), **kwargs)

    def render_done(self, name: str, result: tuple[ApiKey, str]) -> HttpResponse:
        return show_once(self, *result)


class RevokeKey(ConfirmPage, KeyPage):
    """A confirmation with its consequences, which revokes the key."""

    template_name = "keys/revoke.html"
    title = lazy("Revoke a key")
    actions = {
        "confirm": Action(
            KEYS["revoke"],
            lazy("The key %(label)s no longer works."),
            opens=("keys",),
            button=lazy("Revoke"),
            tone="danger",
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(key=own_key(self.reader.actor, self.kwargs["key_id"]), **kwargs)


def show_once(page: KeyPage, key: ApiKey, token: str) -> HttpResponse:
    """Render the page with the token, which is shown only once and never cached."""
    page.template_name = "keys/made.html"
    setup = setup_context(page.request, page.reader, key, token)
    context = ProjectPage.get_context_data(page, key=key, title=_("The new key"), **setup)
    response = page.render_to_response(context, status=201)
    response["Cache-Control"] = "no-store"
    return response


def describe_keys(reader: ViewContext) -> Any:
    """Return how many keys let agents in, and when one was used last, for the overview of the settings."""
    page = KeyEngine().list_keys(
        actor=reader.actor, state="valid", ordering="-last_used_at", limit=MAX_PAGE_SIZE
    )
    if not page.results:
        return _("none")
    used = page.results[0].last_used_at
    words = {"n": count_page(page), "when": format_age(used) if used else _("never")}
    return _("%(n)s valid, last used: %(when)s") % words
