"""The filters of facts as a form: each is in the address and can be removed by a link."""

from collections.abc import Collection, Iterable
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.engines.facts.filters import FactFilter
from memory.engines.fields.facts import FACT_FILTERS
from memory.models import Fact, FactAssessment
from memory.views.filter_tokens import list_chips, list_unknown, refuse_unknown
from memory.views.labels import FIELDS, WORDS, label_choices
from memory.views.times import in_zone
from memory.views.widgets import MomentInput

# Filters with a fixed set of values.
CHOICES: dict[str, Iterable[str]] = {
    "status": Fact.Status.values,
    "verification_status": FactAssessment.Status.values,
    "kind": Fact.Kind.values,
    "priority": Fact.Priority.values,
}
TOKEN_CHOICES = {name: dict(label_choices(values)) for name, values in CHOICES.items()}
TIMES = ("created_after", "created_before", "valid_at", "valid_after", "valid_before")
REPEATABLE = frozenset(one.name for one in FACT_FILTERS if one.many)
SHOWN = (
    "category",
    *CHOICES,
    "tags",
    "agent_id",
    "session_id",
    "min_confidence",
    "max_confidence",
    *TIMES[:2],
)


class FilterForm(forms.Form):
    """A form bound to the address, with a field for each filter in it; the engine validates its values.

    ``others`` are the page's parameters that are no filters.
    """

    def __init__(self, request: HttpRequest, others: Collection[str] = ()) -> None:
        self.request, self.others = request, others
        super().__init__(self.active_values)
        for name in dict.fromkeys((*SHOWN, *self.active_values)):
            widget = filter_widget(name, self.active_values.get(name, ""))
            label = in_zone(FIELDS[name]) if name in TIMES else FIELDS.get(name, name)
            self.fields[name] = forms.CharField(label=label, required=False, widget=widget)

    @property
    def active_values(self) -> dict[str, str]:
        """Return the filters of the address; a repeated one means any of its values."""
        lists = {name: self.request.GET.getlist(name) for name in FactFilter.CHECKS}
        return {name: text for name, values in lists.items() if (text := ",".join(filter(None, values)))}

    @property
    def filters(self) -> FactFilter:
        """Parse the filters for the engine. Raises Invalid."""
        self.refuse_unknown()
        return FactFilter.from_values(self.active_values)

    def refuse_unknown(self) -> None:
        """Raise Invalid for an address with an unknown filter."""
        refuse_unknown(self.request, FactFilter.CHECKS, self.others)

    @property
    def active_filters(self) -> list[dict[str, Any]]:
        """Return each active filter as a token, with the address without it."""
        active = self.active_values | list_unknown(self.request, {*FactFilter.CHECKS, *self.others})
        return list(list_chips(self.request, active, REPEATABLE, TOKEN_CHOICES))


def filter_widget(name: str, value: str = "") -> forms.Widget:
    if name in CHOICES:
        several = (
            [(value, ", ".join(str(WORDS.get(one, one)) for one in value.split(",")))] if "," in value else []
        )
        return forms.Select(choices=[("", _("any")), *label_choices(CHOICES[name]), *several])
    if name in TIMES:
        return MomentInput()
    return forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
