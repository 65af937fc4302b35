"""The filters of facts as a form: each is in the address and can be removed by a link."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.engines.facts.filters import FactFilter
from memory.engines.fields.facts import FACT_FILTERS
from memory.models import Fact, FactAssessment
from memory.views.filter_tokens import list_chips
from memory.views.labels import FIELDS, label_choices
from memory.views.widgets import MomentInput

# Filters with a form field; the others are set by tokens and links.
CHOICES: dict[str, Iterable[str]] = {
    "status": Fact.Status.values,
    "verification_status": FactAssessment.Status.values,
    "kind": Fact.Kind.values,
    "priority": Fact.Priority.values,
}
TIMES = ("created_after", "created_before")
REPEATABLE = frozenset(one.name for one in FACT_FILTERS if one.many)
SHOWN = ("category", *CHOICES, "tags", "agent_id", "session_id", "max_confidence", *TIMES)


class FilterForm(forms.Form):
    """A form bound to the address; the engine validates its values."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        super().__init__(self.active_values)
        for name in SHOWN:
            widget = filter_widget(name, self.active_values.get(name, ""))
            self.fields[name] = forms.CharField(label=FIELDS[name], required=False, widget=widget)

    @property
    def active_values(self) -> dict[str, str]:
        """Return the filters of the address; a repeated one means any of its values."""
        lists = {name: self.request.GET.getlist(name) for name in FactFilter.CHECKS}
        return {name: text for name, values in lists.items() if (text := ",".join(filter(None, values)))}

    @property
    def filters(self) -> FactFilter:
        """Parse the filters for the engine. Raises Invalid."""
        return FactFilter.from_values(self.active_values)

    @property
    def without_field(self) -> dict[str, str]:
        """Return the active filters that the form has no field for."""
        return {name: text for name, text in self.active_values.items() if name not in SHOWN}

    @property
    def active_filters(self) -> list[dict[str, Any]]:
        """Return each active filter as a token, with the address without it."""
        return list(list_chips(self.request, self.active_values, REPEATABLE))


def filter_widget(name: str, value: str = "") -> forms.Widget:
    if name in CHOICES:
        several = [(value, value)] if "," in value else []
        return forms.Select(choices=[("", _("any")), *label_choices(CHOICES[name]), *several])
    if name in TIMES:
        return MomentInput()
    return forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
