"""The filters of facts as a form: each is in the address and can be removed by a link."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.engines.facts.filters import FactFilter
from memory.models import Fact, FactAssessment
from memory.views.labels import FIELDS, WORDS, label_choices
from memory.views.view_context import with_query
from memory.views.widgets import MomentInput

# Filters with a form field; the others are set by links and shown as chips.
CHOICES: dict[str, Iterable[str]] = {
    "status": Fact.Status.values,
    "verification_status": FactAssessment.Status.values,
    "kind": Fact.Kind.values,
    "priority": Fact.Priority.values,
}
TIMES = ("created_after", "created_before")
SHOWN = ("category", *CHOICES, "tags", "agent_id", "session_id", "max_confidence", *TIMES)


class FilterForm(forms.Form):
    """A form bound to the address; the engine validates its values."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.GET)
        self.request = request
        for name in SHOWN:
            self.fields[name] = forms.CharField(
                label=FIELDS[name], required=False, widget=filter_widget(name)
            )

    @property
    def given(self) -> dict[str, str]:
        """Return the filters of the address; a repeated one means any of its values."""
        lists = {name: self.request.GET.getlist(name) for name in FactFilter.CHECKS}
        return {name: text for name, values in lists.items() if (text := ",".join(filter(None, values)))}

    @property
    def filters(self) -> FactFilter:
        """Parse the filters for the engine. Raises Invalid."""
        return FactFilter.of(self.given)

    @property
    def chips(self) -> list[dict[str, Any]]:
        """Return each active filter, with the address without it."""
        words = {name: values for name, values in self.request.GET.lists() if name != "cursor"}
        return [
            {
                "label": FIELDS.get(name, name),
                "value": WORDS.get(value, value) if name in CHOICES else value,
                "url": with_query(self.request.path, {**words, name: ""}),
            }
            for name, value in self.given.items()
        ]


def filter_widget(name: str) -> forms.Widget:
    if name in CHOICES:
        return forms.Select(choices=[("", _("any")), *label_choices(CHOICES[name])])
    if name in TIMES:
        return MomentInput()
    return forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
