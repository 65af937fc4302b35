"""Quarantines: the list, what a new one would hide, and the page of one."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.engines.fields.quarantines import QUARANTINE, SOURCE_WORDS
from curation.engines.quarantine.engine import QuarantineDetail, QuarantineEngine
from curation.models import Quarantine
from curation.operations.quarantine import QUARANTINES
from memory.engines.fields.base import Use
from memory.views.frame.base import ProjectPage
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.list_page import ALL
from memory.views.generic.state_list import StateListPage
from memory.views.text.labels import WORDS

quarantine_engine = QuarantineEngine()
State, Source = Quarantine.State, Quarantine.Source
STATES = {
    State.ACTIVE.value: gettext_lazy("Active"),
    State.RELEASED.value: gettext_lazy("Released"),
    ALL: gettext_lazy("All"),
}
SOURCES = dict(SOURCE_WORDS)
KINDS = {
    "fact": gettext_lazy("Facts"),
    "link": gettext_lazy("Links"),
    "relation": gettext_lazy("Relations"),
    "observation": gettext_lazy("Observations"),
    "conversation": gettext_lazy("Conversations"),
    "message": gettext_lazy("Messages"),
    "verdict": gettext_lazy("Verdicts"),
    "confirmation": gettext_lazy("Confirmations"),
    "session": gettext_lazy("Sessions"),
    "handoff": gettext_lazy("Handoffs"),
    "bundle": gettext_lazy("Bundles"),
    "score": gettext_lazy("Scores"),
}


def list_counts(row: Quarantine) -> list[tuple[Any, int]]:
    """Return the counts of a quarantine in the reader's words."""
    return [(KINDS.get(kind, kind), number) for kind, number in row.counts.items()]


def describe_row(row: Quarantine, facts: Sequence[Any]) -> dict[str, Any]:
    """Return a quarantine, its counts and facts that it hides, for its page."""
    return {"row": row, "kind": SOURCES[row.source], "counts": list_counts(row), "facts": facts}


class Quarantines(StateListPage):
    """The list by state, the form for a new one, and what that would hide with the button that begins it."""

    template_name = "quarantines.html"
    section, scope = "quarantines", "curate"
    title = gettext_lazy("Quarantine")
    operation, states, words = QUARANTINES["list"], STATES, WORDS | SOURCES
    actions = {
        "create": Action(
            QUARANTINES["create"],
            fields=QUARANTINE.field_names(Use.FORM),
            fixed={"dry_run": True},
            button=gettext_lazy("Preview"),
        ),
        "begin": Action(
            QUARANTINES["create"],
            gettext_lazy("%(label)s is in quarantine."),
            fields=QUARANTINE.field_names(Use.FORM),
            joins="create",
            opens=("quarantine", "pk"),
        ),
    }
    extra_context = {
        "lead": gettext_lazy(
            "What a source wrote, and all that is derived from it, is hidden on every branch. A release shows"
            " all of it again, as it was."
        ),
        "search": gettext_lazy("Filters, such as source:agent"),
        "drawing": "archived",
        "form_title": gettext_lazy("Quarantine a source"),
        "none_fits": gettext_lazy("No quarantine is in this state."),
        "none_yet": gettext_lazy("Nothing is in quarantine. The first step counts what would be hidden:"),
        "show_all": gettext_lazy("Active quarantines"),
        "sources": SOURCES,
    }

    def count_rows(self) -> Mapping[str, int]:
        return quarantine_engine.count_quarantines(actor=self.reader.actor)

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        page = super().list_rows(filters)
        for row in page.results:
            row.shown_counts = list_counts(row)
            row.kind = SOURCES[row.source]
        return page

    def find_values(self, name: str) -> dict[str, Any]:
        return {"source": Source.AGENT.value}

    def render_done(self, name: str, result: QuarantineDetail) -> HttpResponse:
        """Show what would be hidden, with the button that begins it.

        Both are a POST: a preview begins the quarantine and takes it back, which locks every branch.
        """
        if name == "begin":
            return super().render_done(name, result.quarantine)
        shown = describe_row(result.quarantine, result.examples)
        title = _("Quarantine it?")
        context = ProjectPage.get_context_data(self, **shown, title=title, is_preview=True)
        return self.response_class(self.request, ["quarantine.html"], context)


class QuarantinePage(ActionPage):
    """One quarantine: what it hides, and its release."""

    template_name = "quarantine.html"
    section, scope = "quarantines", "curate"
    usual = "release"
    actions = {
        "release": Action(
            QUARANTINES["release"], gettext_lazy("%(label)s is released: all of it is shown again.")
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        where: dict[str, Any] = {"quarantine_id": self.kwargs["quarantine_id"], "actor": self.reader.actor}
        found = quarantine_engine.get_quarantine(**where)
        return super().get_context_data(
            title=found.quarantine.label, **describe_row(found.quarantine, found.examples), **kwargs
        )
