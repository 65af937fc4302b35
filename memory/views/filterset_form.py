"""The form of a FilterSet of the API: a choice where values are known, a field for a time where it is one."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from django_filters import IsoDateTimeFilter

from memory.views.labels import FIELDS, WORDS, label_choices
from memory.views.times import in_zone
from memory.views.widgets import MomentInput


def filter_form(
    filters: Any, payload: Mapping[str, Any], labels: Mapping[str, Any], words: Mapping[str, Any] = WORDS
) -> forms.Form:
    """Return the form of the labelled filters of a FilterSet, and of those that the address has.

    Where the values are known, it is a choice of their ``words``.
    """
    labels = {**{name: FIELDS.get(name, name) for name in active_filters(payload, filters)}, **labels}
    form: forms.Form = filters(None, queryset=filters._meta.model._base_manager.none()).form
    form.initial = dict(payload.items())  # unbound: the engine validates, not the fields
    for name in list(form.fields):
        if name not in labels:
            del form.fields[name]
    form.order_fields(list(labels))
    for name, label in labels.items():
        field = form.fields[name]
        field.label, field.help_text = str(label), ""
        if known := list_choices(filters, words).get(name):
            field.widget = forms.Select(choices=[("", _("any")), *known.items()])
        elif isinstance(filters.base_filters[name], IsoDateTimeFilter):
            field.label, field.widget = in_zone(label), MomentInput()
        else:
            field.widget = forms.TextInput()
    return form


def list_choices(filters: Any, words: Mapping[str, Any] = WORDS) -> dict[str, dict[str, Any]]:
    """Return the values of each filter that has a fixed set of them, with their words."""
    known = {name: one.extra.get("choices") for name, one in filters.base_filters.items()}
    return {
        name: dict(label_choices((value for value, _word in values), words))
        for name, values in known.items()
        if values
    }


def active_filters(payload: Mapping[str, Any], filters: Any) -> dict[str, str]:
    """Return the filters of an address that are not empty."""
    return {name: payload[name] for name in filters.base_filters if payload.get(name)}
