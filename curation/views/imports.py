"""Imports from other products: the list by state, and the page of one with the report of its doctor."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy

from curation.engines.fields.imports import DUPLICATE, FINDING_WORDS, LEFT_OUT
from curation.engines.imports.engine import ImportEngine, ImportReport
from curation.models import MemoryImport
from curation.operations.imports import IMPORTS
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.list_page import ALL, ListPage
from memory.views.text.labels import WORDS

import_engine = ImportEngine()
State = MemoryImport.State
STATES = {
    ALL: gettext_lazy("All"),
    State.READING.value: gettext_lazy("Being read"),
    State.FINISHED.value: gettext_lazy("Finished"),
    State.PROPOSED.value: gettext_lazy("Proposed"),
}
OUTCOMES = {
    "new": gettext_lazy("New facts"),
    "known": gettext_lazy("Known from an earlier run"),
    "duplicate": gettext_lazy("Say what another fact says"),
    "refused": gettext_lazy("Refused"),
    "broken": gettext_lazy("Places that could not be read"),
    "relations": gettext_lazy("Relations"),
    "links": gettext_lazy("Links"),
    "redacted": gettext_lazy("Secrets taken out"),
}
FINDINGS = dict(FINDING_WORDS)
MAX_SHOWN = 20  # records that are no fact of their own: first those that did not come


class Imports(ListPage):
    """The imports of the project; a new one begins at the command line, where the file is."""

    template_name = "imports.html"
    section = "imports"
    title = gettext_lazy("Imports")
    operation, states, words = IMPORTS["list"], STATES, WORDS | STATES
    extra_context = {
        "lead": gettext_lazy(
            "What other memory products left, each on a branch apart with a doctor’s report. What is good"
            " of it goes on as a merge request."
        ),
        "search": gettext_lazy("Filters, such as product:mem0"),
        "drawing": "down",
        "none_fits": gettext_lazy("No import is in this state."),
        "none_yet": gettext_lazy("Nothing was imported from another product. Where its file is, say:"),
        "show_all": gettext_lazy("All imports"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return import_engine.count_imports(actor=self.reader.actor)


class ImportPage(ActionPage):
    """One import: what became of its records, what its doctor found, and the merge request of the rest."""

    template_name = "import.html"
    section, usual = "imports", "propose"
    actions = {
        "propose": Action(
            IMPORTS["propose"],
            gettext_lazy("The merge request is open."),
            fields=("without", "title"),
            opens=("merge-request", "number"),
            button=gettext_lazy("Ask for a merge of the rest"),
            drawing="merge",
        )
    }

    def find_values(self, name: str) -> dict[str, Any]:
        return {"without": list(LEFT_OUT)}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        where: dict[str, Any] = {"import_id": self.kwargs["import_id"], "actor": self.reader.actor}
        report = import_engine.get_import(**where)
        parts = import_engine.list_parts(report.row, actor=self.reader.actor)
        return super().get_context_data(
            title=str(report.row),
            row=report.row,
            report=report,
            parts=parts if len(parts) > 1 else (),
            named=sorted(report.row.named, key=lambda one: one["state"] == DUPLICATE)[:MAX_SHOWN],
            outcomes=list_outcomes(report.row),
            findings=list_findings(report),
            may_propose=self.reader.is_now
            and self.reader.can["write"]
            and report.row.state == State.FINISHED
            and report.facts > 0,
            **kwargs,
        )


def list_outcomes(row: MemoryImport) -> list[tuple[Any, int]]:
    """Return what became of the records, in words, without what there was none of, then what was left out."""
    skipped = row.counts.get("skipped") or {}
    came = [(word, number) for name, word in OUTCOMES.items() if (number := row.counts.get(name))]
    return [*came, *skipped.items()]


def list_findings(report: ImportReport) -> list[dict[str, Any]]:
    """Return each finding with its word, its facts, their tag, and their share of the whole."""
    branch, total = report.row.branch.name, max(report.facts, 1)
    return [
        {
            "word": FINDINGS[name],
            "number": number,
            "tag": f"{branch}:{name}",
            "share": round(100 * number / total),
        }
        for name, number in report.findings.items()
        if number
    ]
