"""Consolidation: the list of runs with the form that starts one, and the report of a run."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.consolidation.report import MAX_PROPOSALS
from conversations.engines.fields import CONSOLIDATION
from conversations.models import ConsolidationRun
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.views.base import ProjectPage
from memory.views.flash import flash_success
from memory.views.state_list import ALL, StateListPage

consolidation_engine = ConsolidationEngine()
State, Level = ConsolidationRun.State, ConsolidationRun.Level
CHECKS = CONSOLIDATION.field_checks(Use.CREATE)
STATES = {
    ALL: gettext_lazy("All"),
    State.DONE.value: gettext_lazy("Done"),
    State.PARTIAL.value: gettext_lazy("Partial"),
    State.FAILED.value: gettext_lazy("Failed"),
    State.UNDONE.value: gettext_lazy("Undone"),
}
LEVELS = {
    Level.SESSION.value: gettext_lazy("Session"),
    Level.AGENT.value: gettext_lazy("Agent"),
    Level.TASK.value: gettext_lazy("Task"),
}
ACTIONS = {
    "created": gettext_lazy("new fact"),
    "confirmed": gettext_lazy("confirmed"),
    "repeated": gettext_lazy("repeated"),
    "merged": gettext_lazy("merged"),
}
LOW_YIELD, HIGH_YIELD = 0.05, 0.15  # new facts by what was read that are healthy


def describe_run(run: ConsolidationRun) -> str:
    """Return one sentence: what a run read, and what came of it."""
    read = run.messages + run.observations
    if run.level == Level.SESSION:
        text = ngettext("Read %(n)s message or observation", "Read %(n)s messages and observations", read) % {
            "n": read
        }
    else:
        text = ngettext("Read %(n)s fact", "Read %(n)s facts", read) % {"n": read}
    made = [
        ngettext("%(n)s new fact", "%(n)s new facts", run.created) % {"n": run.created},
        ngettext("%(n)s confirmed", "%(n)s confirmed", run.updated) % {"n": run.updated},
        ngettext("%(n)s repeated", "%(n)s repeated", run.deduplicated) % {"n": run.deduplicated},
    ]
    return f"{text}: {', '.join(made)}."


def judge_yield(run: ConsolidationRun) -> str:
    """Return what is unusual about a session's yield; "" for a healthy one, or one of too little to say."""
    if run.level != Level.SESSION or run.yield_rate is None or run.messages + run.observations < 20:
        return ""
    if run.yield_rate > HIGH_YIELD:
        return _("More facts than usual came of it: look whether they are worth knowing.")
    return _("Fewer facts than usual came of it.") if run.yield_rate < LOW_YIELD else ""


class Consolidations(StateListPage):
    """The runs by state, and the form that starts one."""

    template_name = "consolidations.html"
    section, scope = "consolidations", "read"
    title = gettext_lazy("Consolidation")
    states = STATES
    extra_context = {
        "lead": gettext_lazy(
            "A run makes facts of a session, or merges what an agent or a task learned twice. Each says what"
            " it did, and can be undone whole."
        ),
        "drawing": "merge",
        "form_title": gettext_lazy("Start a run"),
        "form_button": gettext_lazy("Start"),
        "none_fits": gettext_lazy("No run is in this state."),
        "none_yet": gettext_lazy("Nothing was consolidated yet. Sessions are as they end; by hand:"),
        "show_all": gettext_lazy("All runs"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return consolidation_engine.count_runs(actor=self.reader.actor)

    def list_rows(self, state: str) -> Any:
        page = consolidation_engine.list_runs(actor=self.reader.actor, state=state, **self.paging())
        for run in page.results:
            run.sentence, run.kind = describe_run(run), LEVELS[run.level]
        return page

    def build_form(self, data: Any = None) -> forms.Form:
        form = forms.Form(data, initial={"level": Level.SESSION.value})
        label = CONSOLIDATION["level"].label
        form.fields["level"] = forms.ChoiceField(label=label, choices=list(LEVELS.items()))
        help_text = _("A session’s id, an agent’s, or the short name of a task.")
        form.fields["target"] = forms.CharField(
            label=CONSOLIDATION["target"].label, required=False, help_text=help_text
        )
        return form

    def create_row(self, form: forms.Form) -> str:
        """Start the run; return the address of its report."""
        typed = {name: self.request.POST.get(name, "").strip() for name in form.fields}
        values = c.validate(typed, CHECKS)
        report = consolidation_engine.consolidate(
            level=values["level"],
            target=values["target"],
            branch_name=self.reader.branch.name,
            actor=self.reader.actor,
        )
        address: str = self.reader.url("consolidation", report.run.pk, branch="", at="")
        return address


class ConsolidationPage(ProjectPage):
    """One run: what it did, of which evidence, and its undo."""

    template_name = "consolidation.html"
    section, scope = "consolidations", "read"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        report = consolidation_engine.get_run(run_id=self.kwargs["run_id"], actor=self.reader.actor)
        run = report.run
        proposals = [(ACTIONS[one.action], one) for one in report.proposals]
        return super().get_context_data(
            title=f"{LEVELS[run.level]} {run.target}",
            run=run,
            sentence=describe_run(run),
            warning=judge_yield(run),
            proposals=proposals,
            is_cut=len(proposals) >= MAX_PROPOSALS,
            is_undoable=self.may_undo(run),
            **kwargs,
        )

    def may_undo(self, run: ConsolidationRun) -> bool:
        is_open = run.state not in (State.RUNNING, State.UNDONE) and not run.branch.archived_at
        return bool(is_open and run.commits and self.reader.can["curate"])

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        run = consolidation_engine.undo_run(run_id=self.kwargs["run_id"], actor=self.reader.actor)
        flash_success(request, _("The run over %(name)s is undone.") % {"name": run.target})
        return redirect(request.path)
