"""The audit: who did what in a project."""

from typing import Any

import django_filters as df
from django.utils.translation import gettext_lazy as _

from memory.answers.audit import AuditShape, audit_entry
from memory.engines.audit.trail import AuditEngine
from memory.engines.fields.orders import AUDIT
from memory.models import AuditEntry
from memory.views.filter_tokens import refuse_words
from memory.views.labels import ACTION_LABELS, FIELDS
from memory.views.list_base import Listing


class AuditFilterSet(df.FilterSet):
    action = df.ChoiceFilter(choices=[(name, name) for name in ACTION_LABELS])
    by = df.CharFilter()
    kind = df.CharFilter()
    target = df.CharFilter()
    after = df.IsoDateTimeFilter()
    before = df.IsoDateTimeFilter()

    class Meta:
        model = AuditEntry
        fields: list[str] = []


class Audit(Listing):
    template_name = "audit.html"
    section, scope = "audit", "admin"
    title = _("Audit")
    filters, words = AuditFilterSet, ACTION_LABELS
    labels = {
        "action": _("Action"),
        "by": _("Who"),
        "kind": _("Kind of actor"),
        "target": _("Target"),
        "after": FIELDS["after"],
        "before": FIELDS["before"],
    }
    order, export_shape, render_row = AUDIT, AuditShape, staticmethod(audit_entry)
    extra_context = {
        "lead": _(
            "Who did what in this project, newest first. Nothing here can be changed; sealed entries are"
            " chained, so that a change would show."
        ),
        "search": _("Filters, such as by:Mira or target:main"),
        "drawing": "search",
        "none_fits": _("No entry fits."),
        "none_yet": _("No entry fits."),
        "show_all": _("Show all entries"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        widget, action = context["form"].fields["action"].widget, self.request.GET.get("action", "")
        if action not in ("", *ACTION_LABELS):  # of another time, or mistyped
            widget.choices = [*widget.choices, (action, action)]
        return context

    def list_rows(self, payload: dict[str, Any]) -> Any:
        requested = {name: text.strip() for name, text in payload.items()}
        return AuditEngine().list_entries(actor=self.reader.actor, **requested, **self.paging())

    def search_rows(self, query: str, payload: dict[str, Any]) -> Any:
        refuse_words()
