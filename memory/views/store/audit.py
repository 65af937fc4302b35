"""The audit: who did what in a project."""

from django.utils.translation import gettext_lazy as _

from memory.answers.audit import AuditShape, audit_entry
from memory.engines.audit.trail import AuditEngine
from memory.engines.fields.filters import one_of, recorded
from memory.engines.fields.orders import AUDIT
from memory.engines.fields.types import OpenChoice, Reference
from memory.operations.base import Answer, Operation
from memory.operations.columns import Column
from memory.views.generic.list_page import ListPage
from memory.views.text.labels import ACTION_LABELS, FIELDS

ENTRIES = Operation(
    "list",
    AuditEngine().list_entries,
    "List the entries of the audit, newest first",
    Answer(AuditShape, audit_entry),
    filters=(
        one_of("action", OpenChoice([(name, name) for name in ACTION_LABELS]), "Entries of this action."),
        one_of("by", Reference(200), "Entries of this actor."),
        one_of("kind", Reference(100), "Entries of this kind of actor."),
        one_of("target", Reference(500), "Entries about this."),
        *recorded("Entries"),
    ),
    order=AUDIT,
    columns=(
        Column("at", _("When"), tone="nowrap"),
        Column("actor_label", _("Who")),
        Column("action", _("Action")),
        Column("target", _("Target")),
        Column("detail", _("Details"), tone="text small maybe"),
        Column("surface", _("Surface")),
        Column("place", _("Sealed")),
    ),
)


class Audit(ListPage):
    template_name = "audit.html"
    section, scope = "audit", "admin"
    title = _("Audit")
    operation, words = ENTRIES, ACTION_LABELS
    labels = {
        "action": _("Action"),
        "by": _("Who"),
        "kind": _("Kind of actor"),
        "target": _("Target"),
        "after": FIELDS["after"],
        "before": FIELDS["before"],
    }
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
