"""The form of a FilterSet of the API: a choice where values are known, a field for a time where it is one."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_filters import IsoDateTimeFilter

from memory.views.labels import label_choices
from memory.views.widgets import MomentInput


def filter_form(filters: Any, payload: Mapping[str, Any], labels: Mapping[str, Any]) -> forms.Form:
    """Return the form of these filters of a FilterSet, with choices where the values are known."""
    form: forms.Form = filters(None, queryset=filters._meta.model._base_manager.none()).form
    form.initial = dict(payload.items())  # unbound: the engine validates, not the fields
    for name in list(form.fields):
        if name not in labels:
            del form.fields[name]
    form.order_fields(list(labels))
    for name, label in labels.items():
        field = form.fields[name]
        field.label, field.help_text = str(label), ""
        if known := filters.base_filters[name].extra.get("choices"):
            field.widget = forms.Select(
                choices=[("", _("any")), *label_choices(value for value, _word in known)]
            )
        elif isinstance(filters.base_filters[name], IsoDateTimeFilter):
            field.label, field.widget = gettext("%(field)s (UTC)") % {"field": label}, MomentInput()
        else:
            field.widget = forms.TextInput()
    return form


def active_filters(payload: Mapping[str, Any], filters: Any) -> dict[str, str]:
    """Return the filters of an address that are not empty."""
    return {name: payload[name] for name in filters.base_filters if payload.get(name)}
