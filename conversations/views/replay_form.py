"""The forms of replays and batches: parameters, the state of the memory, limits; in groups with titles."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.fields import REPLAY
from conversations.engines.replays.engine import LIMITS
from memory.conf import conf
from memory.engines.fields import types as t
from memory.engines.fields.base import Field
from memory.providers.tool_chat import get_replayer
from memory.texts import split_names
from memory.views.field_widgets import OptionalText, form_field

CHANGES = (
    *("model", "temperature", "system_prompt", "extra_context"),
    *("tools_allow", "tools_deny", "max_tokens"),
)
SCORE = "score"
ORDER = (*CHANGES, *LIMITS, SCORE)
MEMORY_FIELDS: dict[str, tuple[Any, Any]] = {
    "branch": (
        lazy("Memory of the branch"),
        lazy("What a search of this branch tells on the last words of a person. Empty: nothing is told."),
    ),
    "at": (
        lazy("as it was at"),
        lazy("A time such as 2026-05-01T12:00, or the number of a commit. Empty: now."),
    ),
    "merge_request": (
        lazy("or as merge request number"),
        lazy("The memory as it would be once this request is merged."),
    ),
}
HELPS: dict[str, Any] = {
    "model": lazy("Empty: the one of the server’s settings."),
    "system_prompt": lazy("In place of that of the conversation."),
    "extra_context": lazy("Added after the system prompt."),
    "tools_allow": lazy("Names with commas between them. Empty: all that were used."),
    "tools_deny": lazy("Names with commas between them."),
}


class GroupedForm(forms.Form):
    """A form whose fields stand in groups with titles; the engine checks what is typed."""

    titles: dict[Any, Sequence[str]]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.titles = {}

    def add_group(self, title: Any, fields: Mapping[str, forms.Field]) -> None:
        self.titles[title] = list(fields)
        self.fields |= fields

    @property
    def groups(self) -> list[tuple[Any, list[forms.BoundField]]]:
        return [(title, [self[name] for name in names]) for title, names in self.titles.items()]


def add_parameters(form: GroupedForm, **further: forms.Field) -> None:
    """Add what a replay changes, the state of the memory, and its limits with further fields."""
    form.add_group(_("What is different"), {name: build_field(name) for name in CHANGES})
    memory = {
        name: OptionalText(label=label, help_text=text) for name, (label, text) in MEMORY_FIELDS.items()
    }
    form.add_group(_("Memory"), memory)
    fields = {name: form_field(REPLAY[name]) for name in LIMITS} | further
    form.add_group(_("Limits and ratings"), fields | {SCORE: form_field(REPLAY[SCORE])})


def build_field(name: str) -> forms.Field:
    """Return the field of a parameter, with words for who fills in a form."""
    field = form_field(REPLAY[name])
    if isinstance(REPLAY[name].type, t.LongText):
        field.widget.attrs["rows"] = 3
    field.help_text = HELPS.get(name, "")
    return field


def build_replay_form(data: Any = None) -> GroupedForm:
    """Return the form: parameters, the state of the memory, limits, and whether it runs at once."""
    form = GroupedForm(data, initial={"max_steps": 20, "run": bool(find_model())})
    run = {"run": forms.BooleanField(label=_("Run it now"), required=False)} if find_model() else {}
    add_parameters(form, **run)
    return form


def find_model() -> str:
    """Return the model that replays run with by default; "" where none is set."""
    try:
        return conf().replay_model if get_replayer() else ""
    except ImproperlyConfigured:
        return ""


# ---- what was typed, and how it is shown -----------------------------------------------------------


def read_parameters(typed: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters that were typed."""
    return {name: read_parameter(REPLAY[name], typed[name]) for name in ORDER if name in typed}


def read_parameter(field: Field, text: str) -> Any:
    """Return the value that a typed text stands for; the engine refuses one that is none."""
    match field.type:
        case t.ListOf():
            return split_names(text)
        case t.Whole():
            return int(text) if text.isdecimal() and len(text) < 16 else text
        case t.Number():
            return float(text) if text.replace(".", "", 1).isdecimal() and len(text) < 16 else text
        case t.Flag():
            return text == "yes"
    return text


def list_parameters(values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Return parameters with labels; what stays as it was is left out."""
    shown = [(name, values.get(name)) for name in ORDER]
    return [
        (REPLAY[name].label, show_parameter(value))
        for name, value in shown
        if value not in (None, "", []) and value is not False
    ]


def show_parameter(value: Any) -> Any:
    """Return a parameter as a person reads it."""
    if value is True:
        return _("yes")
    return ", ".join(value) if isinstance(value, list) else value
