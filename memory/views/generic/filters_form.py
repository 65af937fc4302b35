"""The form of a list's filters: a choice where values are known, a field for a time where it is one."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from django import forms
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from memory.engines.facts.filters import FactFilter
from memory.engines.fields.fact_filters import FACT_FILTERS
from memory.engines.fields.filters import FilterField
from memory.engines.fields.types import Choice, Moment, OpenChoice
from memory.views.frame.widgets import MomentInput
from memory.views.generic.filter_tokens import list_chips, list_unknown, refuse_unknown
from memory.views.text.labels import FIELDS, WORDS, label_choices
from memory.views.text.times import in_zone

TYPED = {"autocomplete": "off", "spellcheck": "false"}


def build_filter_form(
    filters: Mapping[str, FilterField],
    active: Mapping[str, str],
    labels: Mapping[str, Any],
    words: Mapping[str, Any] = WORDS,
) -> forms.Form | None:
    """Return the form of the labelled filters, and of those that the address has; None without labels.

    Where the values are known, it is a choice of their ``words``.
    """
    if not labels:
        return None
    form = forms.Form(initial=dict(active))  # unbound: the engine validates, not the fields
    for name in {**labels, **active}:
        label, one = labels.get(name, FIELDS.get(name, name)), filters[name]
        title = in_zone(label) if isinstance(one.type, Moment) else label
        widget = choose_widget(one, active.get(name, ""), words)
        form.fields[name] = forms.CharField(label=title, required=False, widget=widget)
    return form


def choose_widget(one: FilterField, value: str, words: Mapping[str, Any]) -> forms.Widget:
    if isinstance(one.type, Moment):
        return MomentInput()
    if not (known := list_choices([one], words).get(one.name)):
        return forms.TextInput(attrs=TYPED)
    several = ", ".join(str(words.get(part, part)) for part in value.split(","))
    may_be_other = "," in value or isinstance(one.type, OpenChoice)
    others = [(value, several)] if may_be_other and value not in ("", *known) else []
    return forms.Select(choices=[("", _("any")), *known.items(), *others])


def list_choices(
    filters: Iterable[FilterField], words: Mapping[str, Any] = WORDS
) -> dict[str, dict[str, Any]]:
    """Return the values of each filter that has a fixed set of them, with their words."""
    return {
        one.name: dict(label_choices((value for value, _word in one.type.choices), words))
        for one in filters
        if isinstance(one.type, Choice)
    }


def active_filters(address: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the filters of an address that are not empty."""
    return {name: text for name in names if (text := address.get(name, "").strip())}


# ---- facts -----------------------------------------------------------------------------------------

FACTS = {one.name: one for one in FACT_FILTERS}
TOKEN_CHOICES = list_choices(FACT_FILTERS)
REPEATABLE = frozenset(one.name for one in FACT_FILTERS if one.many)
SHOWN = (
    *(
        "category",
        "status",
        "verification_status",
        "kind",
        "priority",
        "tags",
        "agent_id",
        "session_id",
        "user_id",
    ),
    *("min_confidence", "max_confidence", "created_after", "created_before"),
)


class FilterForm:
    """The filters of facts in an address, and their form; ``others`` are parameters that are no filters,
    ``usual`` are filters that the page sets, and shows in its own words.
    """

    def __init__(
        self, request: HttpRequest, others: Collection[str] = (), usual: Mapping[str, str] | None = None
    ) -> None:
        self.request, self.others, self.usual = request, others, usual or {}
        labels = {name: FIELDS[name] for name in SHOWN}
        self.form = build_filter_form(FACTS, self.active_values, labels)

    def __iter__(self) -> Any:
        return iter(self.form or ())

    @property
    def active_values(self) -> dict[str, str]:
        """Return the filters of the address; a repeated one means any of its values."""
        lists = {name: self.request.GET.getlist(name) for name in FACTS}
        return {name: text for name, values in lists.items() if (text := ",".join(filter(None, values)))}

    @property
    def filters(self) -> FactFilter:
        """Parse the filters for the engine. Raises Invalid."""
        self.refuse_unknown()
        return FactFilter.from_values({**self.usual, **self.active_values})

    def refuse_unknown(self) -> None:
        """Raise Invalid for an address with an unknown filter."""
        refuse_unknown(self.request, FACTS, self.others)

    @property
    def active_filters(self) -> list[dict[str, Any]]:
        """Return each active filter as a token, with the address without it."""
        active = self.active_values | list_unknown(self.request, {*FACTS, *self.others})
        return list(list_chips(self.request, active, REPEATABLE, TOKEN_CHOICES))
