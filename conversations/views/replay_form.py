"""The form of a replay: parameters, the state of the memory, limits, in groups with titles."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.fields.replays import MEMORY_STATE, REPLAY
from conversations.engines.replays.engine import LIMITS
from memory.conf import conf
from memory.providers.tool_chat import get_replayer
from memory.views.generic.field_widgets import DeclaredForm

CHANGES = (
    *("model", "temperature", "system_prompt", "extra_context"),
    *("tools_allow", "tools_deny", "max_tokens"),
)
SCORE = "score"
ORDER = (*CHANGES, *LIMITS, SCORE)
FIRST = ("model", "branch", "system_prompt")  # of the form; the others are folded
MEMORY_TITLES = {field.name: field.label for field in MEMORY_STATE.fields}


class ReplayForm(DeclaredForm):
    """What a replay changes, the memory that it is told from, its limits, and whether it runs at once."""

    titles = {
        lazy("What is different"): (*FIRST, "run"),
        lazy("Further changes"): [name for name in (*CHANGES, *MEMORY_TITLES) if name not in FIRST],
        lazy("Limits and ratings"): (*LIMITS, SCORE),
    }
    open_groups = 1

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if find_model():
            self.fields["run"] = forms.BooleanField(label=_("Run it now"), required=False)


def find_model() -> str:
    """Return the model that replays run with by default; "" where none is set."""
    return conf().replay_model if has_replayer() else ""


def has_replayer() -> bool:
    """Return whether the server can run replays itself."""
    try:
        return bool(get_replayer())
    except ImproperlyConfigured:
        return False


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
