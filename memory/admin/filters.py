"""The filters of the fact list: those of every surface, with a choice where one value is the rule."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from memory.api.filters import FactFilterSet
from memory.views.wording import worded

FIRST = {
    "status": _("Status"),
    "verification_status": _("Belief"),
    "category": _("Category"),
    "kind": _("Kind"),
}
MORE = {
    "priority": _("Priority"),
    "agent_id": _("Agent"),
    "session_id": _("Session"),
    "tags": _("Tags"),
    "created_after": _("Stored after"),
    "created_before": _("Stored before"),
    "max_confidence": _("Confidence at most"),
}
HINTS = {
    "category": "security",
    "tags": "auth,tokens",
    "created_after": "2026-05-01T12:00Z",
    "created_before": "2026-06-01T12:00Z",
    "after": "2026-05-01T12:00Z",
    "before": "2026-06-01T12:00Z",
    "max_confidence": "0.5",
}


def form_of(given: QueryDict) -> forms.Form:
    """The form of the filters with what the address says. The engine checks it, and says what is wrong."""
    return filter_form(FactFilterSet, given, FIRST | MORE)


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
        else:
            field.widget = forms.TextInput({"placeholder": HINTS.get(name, "")})
    return form


def said(given: Mapping[str, Any], filters: Any = FactFilterSet) -> dict[str, str]:
    """The filters in an address that say something."""
    return {name: given[name] for name in filters.base_filters if given.get(name)}
