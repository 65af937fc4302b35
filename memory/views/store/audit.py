"""The audit: who did what in a project."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.operations.action_labels import ACTION_LABELS
from memory.operations.audit import AUDIT
from memory.views.frame.view_context import ViewContext
from memory.views.generic.list_page import ListPage
from memory.views.text.labels import FIELDS
from memory.views.text.times import format_age


class Audit(ListPage):
    template_name = "audit.html"
    section, scope = "audit", "admin"
    title = _("Audit")
    operation, words = AUDIT["list"], ACTION_LABELS
    labels = {
        "action": _("Action"),
        "by": _("Who"),
        "kind": _("Kind of actor"),
        "target": _("Target"),
        "request_id": _("Request"),
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


def describe_newest(reader: ViewContext) -> Any:
    """Return what was done last, and when, for the overview of the settings."""
    newest = AUDIT["list"].run(actor=reader.actor, limit=1).results
    if not newest:
        return _("none")
    return f"{ACTION_LABELS.get(newest[0].action, newest[0].action)}, {format_age(newest[0].at)}"
