"""The filters of facts as a form: every one stands in the address and can be taken away by a link."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.engines.filters import CHECKS, FactFilter
from memory.models import Fact, FactAssessment
from memory.views.forms import DayInput
from memory.views.reader import with_query
from memory.views.wording import FIELDS, WORDS, worded

# Those that have a field; the others come by links and stand as chips.
CHOICES: dict[str, Iterable[str]] = {
    "status": Fact.Status.values,
    "verification_status": FactAssessment.Status.values,
    "kind": Fact.Kind.values,
    "priority": Fact.Priority.values,
}
DAYS = ("created_after", "created_before")
SHOWN = ("category", *CHOICES, "tags", "agent_id", *DAYS)


class FilterForm(forms.Form):
    """Bound to the address; what a value means the engine says."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request.GET)
        self.request = request
        for name in SHOWN:
            self.fields[name] = forms.CharField(label=FIELDS[name], required=False, widget=_widget(name))

    @property
    def given(self) -> dict[str, str]:
        """The filters of the address; one that is given several times means any of its values."""
        lists = {name: self.request.GET.getlist(name) for name in CHECKS}
        return {name: text for name, values in lists.items() if (text := ",".join(filter(None, values)))}

    @property
    def filters(self) -> FactFilter:
        """Raises Invalid."""
        return FactFilter.of(self.given)

    @property
    def chips(self) -> list[dict[str, Any]]:
        """Each filter that is set, and the address without it."""
        words = {name: values for name, values in self.request.GET.lists() if name != "cursor"}
        return [
            {
                "label": FIELDS.get(name, name),
                "value": WORDS.get(value, value) if name in CHOICES else value,
                "url": with_query(self.request.path, {**words, name: ""}),
            }
            for name, value in self.given.items()
        ]


def _widget(name: str) -> forms.Widget:
    if name in CHOICES:
        return forms.Select(choices=[("", _("any")), *worded(CHOICES[name])])
    if name in DAYS:
        return DayInput()
    return forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
