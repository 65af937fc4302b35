"""Quarantines: the list, what a new one would hide, and the page of one."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from curation.engines.fields.quarantines import QUARANTINE
from curation.engines.quarantine.engine import QuarantineEngine
from curation.models import Quarantine
from curation.operations.quarantine import QUARANTINES
from memory.engines.fields.base import Use
from memory.views.base import ProjectPage, base_context
from memory.views.field_widgets import form_field
from memory.views.flash import flash_success
from memory.views.labels import WORDS
from memory.views.list_page import ALL
from memory.views.state_list import StateListPage

quarantine_engine = QuarantineEngine()
State, Source = Quarantine.State, Quarantine.Source
STATES = {
    State.ACTIVE.value: gettext_lazy("Active"),
    State.RELEASED.value: gettext_lazy("Released"),
    ALL: gettext_lazy("All"),
}
SOURCES = {
    Source.SESSION.value: gettext_lazy("Session"),
    Source.AGENT.value: gettext_lazy("Agent"),
    Source.KEY.value: gettext_lazy("Key"),
    Source.IMPORT.value: gettext_lazy("Import"),
}
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
    extra_context = {
        "lead": gettext_lazy(
            "What a source wrote, and all that is derived from it, is hidden on every branch. A release shows"
            " all of it again, as it was."
        ),
        "search": gettext_lazy("Filters, such as source:agent"),
        "drawing": "archived",
        "form_title": gettext_lazy("Put a source into quarantine"),
        "form_button": gettext_lazy("Preview"),
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

    def build_form(self, data: Any = None) -> forms.Form:
        form = forms.Form(data, initial={"source": Source.AGENT.value})
        form.fields |= {field.name: form_field(field) for field in QUARANTINE.select_fields(Use.FORM)}
        label = QUARANTINE["source"].label
        form.fields["source"] = forms.ChoiceField(label=label, choices=list(SOURCES.items()))
        return form

    def answer_form(self, form: forms.Form) -> HttpResponse:
        """Show what would be hidden, or begin it where the button of that page was pressed.

        Both are a POST: a preview begins the quarantine and takes it back, which locks every branch.
        """
        typed = {name: self.request.POST.get(name, "").strip() for name in form.fields}
        if "begin" in self.request.POST:
            return redirect(self.begin_quarantine(typed))
        return render(self.request, "quarantine.html", self.preview_quarantine(typed))

    def preview_quarantine(self, typed: Mapping[str, str]) -> dict[str, Any]:
        found = quarantine_engine.preview_quarantine(actor=self.reader.actor, **typed)
        return {
            **base_context(self.reader, self.section),
            **describe_row(found.quarantine, found.examples),
            "title": _("Put into quarantine?"),
            "is_preview": True,
        }

    def begin_quarantine(self, typed: Mapping[str, str]) -> str:
        row = quarantine_engine.create_quarantine(actor=self.reader.actor, **typed)
        flash_success(self.request, _("%(name)s is in quarantine.") % {"name": row.label})
        return self.reader.url("quarantine", row.pk, branch="", at="")


class QuarantinePage(ProjectPage):
    """One quarantine: what it hides, and its release."""

    template_name = "quarantine.html"
    section, scope = "quarantines", "curate"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        where: dict[str, Any] = {"quarantine_id": self.kwargs["quarantine_id"], "actor": self.reader.actor}
        found = quarantine_engine.get_quarantine(**where)
        return super().get_context_data(
            title=found.quarantine.label, **describe_row(found.quarantine, found.examples), **kwargs
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        row = quarantine_engine.release_quarantine(
            quarantine_id=self.kwargs["quarantine_id"], actor=self.reader.actor
        )
        flash_success(request, _("%(name)s is released: all of it is shown again.") % {"name": row.label})
        return redirect(request.path)
