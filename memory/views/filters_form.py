"""The form of a list's filters: a choice where values are known, a field for a time where it is one."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.engines.fields.filters import FilterField
from memory.engines.fields.types import Choice, Moment
from memory.views.labels import FIELDS, WORDS, label_choices
from memory.views.times import in_zone
from memory.views.widgets import MomentInput


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
        form.fields[name] = forms.CharField(label=title, required=False, widget=choose_widget(one, words))
    return form


def choose_widget(one: FilterField, words: Mapping[str, Any]) -> forms.Widget:
    if known := list_choices([one], words):
        return forms.Select(choices=[("", _("any")), *known[one.name].items()])
    return MomentInput() if isinstance(one.type, Moment) else forms.TextInput()


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
