"""The filters of the fact list: those of every surface, with a choice where one value is the rule."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_filters import IsoDateTimeFilter

from memory.api.filters import FactFilterSet
from memory.views.forms import MomentInput
from memory.views.wording import FIELDS, worded

FIRST = ("status", "verification_status", "category", "kind")
MORE = ("priority", "agent_id", "session_id", "tags", "created_after", "created_before", "max_confidence")
HINTS = {"category": "security", "tags": "auth,tokens", "max_confidence": "0.5"}


def form_of(given: QueryDict) -> forms.Form:
    """The form of the filters with what the address says. The engine checks it, and says what is wrong."""
    return filter_form(FactFilterSet, given, {name: FIELDS[name] for name in FIRST + MORE})


def filter_form(filters: Any, given: Mapping[str, Any], labels: Mapping[str, Any]) -> forms.Form:
    """The form of a FilterSet for these of its filters: a choice where its values are known."""
    form: forms.Form = filters(None, queryset=filters._meta.model._base_manager.none()).form
    form.initial = dict(given.items())  # unbound: who checks is the engine, no field calls itself wrong
    for name in list(form.fields):
        if name not in labels:
            del form.fields[name]
    form.order_fields(list(labels))
    for name, label in labels.items():
        field = form.fields[name]
        field.label, field.help_text = str(label), ""
        if known := filters.base_filters[name].extra.get("choices"):
            field.widget = forms.Select(choices=[("", _("any")), *worded(value for value, _word in known)])
        elif isinstance(filters.base_filters[name], IsoDateTimeFilter):
            field.label, field.widget = gettext("%(field)s (UTC)") % {"field": label}, MomentInput()
        else:
            field.widget = forms.TextInput({"placeholder": HINTS.get(name, "")})
    return form


def said(given: Mapping[str, Any], filters: Any = FactFilterSet) -> dict[str, str]:
    """The filters in an address that say something."""
    return {name: given[name] for name in filters.base_filters if given.get(name)}
