"""Consolidation: the list of runs with the form that starts one, and the report of a run."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django import forms
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.engines.consolidation.answers import REJECTED
from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.consolidation.report import MAX_CHANGES, ConsolidationReport, RunChange
from conversations.engines.fields import CONSOLIDATION
from conversations.models import ConsolidationRun
from conversations.models.runs import VERDICTS
from conversations.operations.consolidation import CONSOLIDATION_RUNS
from conversations.views.nightly_form import NightlyForm
from memory.engines.fields.base import Use
from memory.engines.support import validation as c
from memory.exceptions import Conflict, Day1Error, IllegalTransition, Invalid
from memory.views.base import ProjectPage
from memory.views.error_text import error_sentence
from memory.views.flash import flash_success, flash_warning
from memory.views.labels import WORDS
from memory.views.list_page import ALL
from memory.views.project_settings import SAVE, SettingsPage
from memory.views.state_list import StateListPage
from memory.views.widgets import add_form_error

consolidation_engine = ConsolidationEngine()
State, Level = ConsolidationRun.State, ConsolidationRun.Level
CHECKS = CONSOLIDATION.field_checks(Use.CREATE)
STATES = {
    ALL: gettext_lazy("All"),
    State.QUEUED.value: gettext_lazy("Queued"),
    State.RUNNING.value: gettext_lazy("Running"),
    State.DONE.value: gettext_lazy("Done"),
    State.PARTIAL.value: gettext_lazy("Partial"),
    State.FAILED.value: gettext_lazy("Failed"),
    State.UNDONE.value: gettext_lazy("Undone"),
}
UNENDED = (State.QUEUED, State.RUNNING)
LEVELS = {
    Level.SESSION.value: gettext_lazy("Session"),
    Level.AGENT.value: gettext_lazy("Agent"),
    Level.TASK.value: gettext_lazy("Task"),
    Level.DREAMING.value: gettext_lazy("Dreaming"),
}
ACTIONS = {
    "created": gettext_lazy("new fact"),
    "confirmed": gettext_lazy("confirmed"),
    "repeated": gettext_lazy("repeated"),
    "merged": gettext_lazy("merged"),
}
ANSWERS = {"accepted": gettext_lazy("accepted"), "rejected": gettext_lazy("rejected")}
REFUSALS = (Conflict, IllegalTransition, Invalid)  # which an old tab or a second click may meet
MAX_NAMED = 3  # facts that a refusal names
MIN_SURE = 0.95  # confidence of the changes that are accepted together
LOW_YIELD, HIGH_YIELD = 0.05, 0.15  # new facts by what was read that are healthy


def describe_run(run: ConsolidationRun) -> str:
    """Return one sentence: what a run read, and what came of it."""
    if run.prompt == VERDICTS:
        text = ngettext(
            "Asked the model about %(n)s statement.", "Asked the model about %(n)s statements.", run.calls
        )
        return text % {"n": run.calls}
    read = run.messages + run.observations
    if run.level == Level.SESSION:
        text = ngettext("Read %(n)s message or observation", "Read %(n)s messages and observations", read) % {
            "n": read
        }
    else:
        text = ngettext("Read %(n)s fact", "Read %(n)s facts", read) % {"n": read}
    if run.level == Level.DREAMING:
        proposes = ngettext("proposes %(n)s reflection", "proposes %(n)s reflections", run.created)
        return f"{text}; {proposes % {'n': run.created}}."
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


class Consolidations(SettingsPage, StateListPage):
    """The runs by state, the form that starts one, and what happens every night."""

    template_name = "consolidations.html"
    section, scope = "consolidations", "read"
    title = gettext_lazy("Consolidation")
    operation, states, words = CONSOLIDATION_RUNS["runs"], STATES, WORDS | LEVELS
    settings_form = NightlyForm
    extra_context = {
        "lead": gettext_lazy(
            "A run makes facts of a session, merges what an agent or a task learned twice, or proposes"
            " reflections. Each says what it did, and can be undone whole."
        ),
        "search": gettext_lazy("Filters, such as level:session or target:s1"),
        "drawing": "merge",
        "form_title": gettext_lazy("Start a run"),
        "form_button": gettext_lazy("Start"),
        "none_fits": gettext_lazy("No run is in this state."),
        "none_yet": gettext_lazy("Nothing was consolidated yet. Sessions are as they end; by hand:"),
        "show_all": gettext_lazy("All runs"),
    }

    def count_rows(self) -> Mapping[str, int]:
        return consolidation_engine.count_runs(actor=self.reader.actor)

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        page = super().list_rows(filters)
        for run in page.results:
            run.sentence, run.kind = describe_run(run), LEVELS[run.level]
        return page

    def build_form(self, data: Any = None) -> forms.Form:
        form = forms.Form(data, initial={"level": Level.SESSION.value})
        label = CONSOLIDATION["level"].label
        form.fields["level"] = forms.ChoiceField(label=label, choices=list(LEVELS.items()))
        help_text = _("A session’s id, an agent’s, or the short name of a task; dreaming reads this branch.")
        form.fields["target"] = forms.CharField(
            label=CONSOLIDATION["target"].label, required=False, help_text=help_text
        )
        form.fields["dry_run"] = forms.BooleanField(label=_("Dry run"), required=False)
        return form

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Start a run, show what it would do, or save the settings."""
        if request.POST.get("do") == SAVE:
            return self.save_settings(request)
        form = self.build_form(request.POST)
        if not form.is_valid() or not form.cleaned_data["dry_run"]:
            return super().post(request, *args, **kwargs)
        self.reader.require_now()
        try:
            report = self.consolidate(form, dry_run=True)
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        context = ProjectPage.get_context_data(self, **describe_report(report, False))
        return self.response_class(request, ["consolidation.html"], context)

    def create_row(self, form: forms.Form) -> str:
        """Start the run; return the address of its report."""
        report = self.consolidate(form)
        if report.run.state == State.QUEUED:
            flash_success(self.request, _("A language model reads the session; this page will tell of it."))
        address: str = self.reader.url("consolidation", report.run.pk, branch="", at="")
        return address

    def consolidate(self, form: forms.Form, *, dry_run: bool = False) -> ConsolidationReport:
        typed = {name: self.request.POST.get(name, "").strip() for name in ("level", "target")}
        values = c.validate({name: text for name, text in typed.items() if text}, CHECKS)
        return consolidation_engine.consolidate(
            level=values["level"],
            target=values.get("target") or "",
            branch_name=self.reader.branch.name,
            actor=self.reader.actor,
            dry_run=dry_run,
        )


def describe_report(report: ConsolidationReport, may_answer: bool) -> dict[str, Any]:
    """Return what a page tells of a run, with the answers that a reader may give to each change."""
    run = report.run
    changes = [
        (ACTIONS[one.action], ANSWERS.get(one.answer, ""), list_verbs(one) if may_answer else (), one)
        for one in report.changes
    ]
    return {
        "title": f"{LEVELS[run.level]} {run.target}",
        "run": run,
        "sentence": describe_run(run),
        "notes": list_notes(report),
        "entries": list_entries(run),
        "changes": changes,
        "shown_branch": find_shown_branch(report),
    }


def find_shown_branch(report: ConsolidationReport) -> str:
    """Return the branch that shows what a run did: of dreaming its own, until that is merged."""
    if report.run.level == Level.DREAMING and report.changes and not report.run.dry_run:
        return report.changes[0].fact.branch.name
    return report.run.branch.name


def list_notes(report: ConsolidationReport) -> list[str]:
    """Return what a reader has to know of a run before its changes."""
    run = report.run
    notes = [_("This was a dry run: nothing is written.")] if run.dry_run else []
    notes += [judge_yield(run), run.note]
    if len(report.changes) >= MAX_CHANGES:
        notes.append(_("Only the first of them are listed; the counts are of all."))
    if not (report.changes or run.commits) and run.state not in UNENDED:
        notes.append(_("It changed nothing."))
    return list(filter(None, notes))


def list_entries(run: ConsolidationRun) -> list[tuple[str, str]]:
    """Return what a run took and cost, and what the recall gate said, each with its title."""
    entries = [(_("Duration"), describe_duration(run)), (_("Cost"), describe_cost(run))]
    if run.yield_rate is not None and run.level == Level.SESSION:
        entries.append((_("Yield"), f"{run.yield_rate:.1%}"))
    if run.cycle is not None:
        entries.append((_("Cycle"), str(run.cycle)))
    if run.recall:
        entries.append((_("Recall, before and after"), run.recall.partition(": ")[2]))
    return [(title, text) for title, text in entries if text]


def describe_duration(run: ConsolidationRun) -> str:
    if run.finished_at is None:
        return ""
    seconds = (run.finished_at - run.started_at).total_seconds()
    return _("%(seconds)s s") % {"seconds": round(seconds, 1 if seconds < 60 else None)}


def describe_cost(run: ConsolidationRun) -> str:
    """Return what a run asked of a language model."""
    if not run.calls:
        return _("none: no language model was asked")
    calls = ngettext("%(n)s call", "%(n)s calls", run.calls) % {"n": intcomma(run.calls)}
    counts = {"sent": intcomma(run.input_tokens), "received": intcomma(run.output_tokens)}
    tokens = _("%(sent)s tokens sent, %(received)s received") % counts
    return " · ".join(filter(None, [calls, tokens, run.model]))


def list_verbs(change: RunChange) -> list[tuple[str, str]]:
    """Return the answers that are left for a change, with their words."""
    if change.answer == REJECTED:
        return []
    accept = [] if change.answer else [("accept", _("Accept"))]
    return [*accept, ("reject", _("Reject"))]


class ConsolidationPage(ProjectPage):
    """One run: what it did, of which evidence, and its undo."""

    template_name = "consolidation.html"
    section, scope = "consolidations", "read"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        report = consolidation_engine.get_run(run_id=self.kwargs["run_id"], actor=self.reader.actor)
        run = report.run
        is_undoable = self.may_undo(run)
        may_answer = is_undoable and run.level != Level.DREAMING
        shown = describe_report(report, may_answer)
        open_changes = [one for one in report.changes if may_answer and not one.answer]
        sure = sum(one.fact.confidence >= MIN_SURE for one in open_changes)
        return super().get_context_data(**shown, is_undoable=is_undoable, sure=sure, least=MIN_SURE, **kwargs)

    def may_undo(self, run: ConsolidationRun) -> bool:
        is_open = run.state not in (*UNENDED, State.UNDONE) and not run.branch.archived_at
        return bool(is_open and run.commits and self.reader.can["curate"])

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Undo the run, or answer some of its changes."""
        where: dict[str, Any] = {"run_id": self.kwargs["run_id"], "actor": self.reader.actor}
        try:
            flash_success(request, self.carry_out(where))
        except REFUSALS as error:
            report = consolidation_engine.get_run(**where)
            flash_warning(request, " ".join([error_sentence(error), *name_changed(error, report)]))
        return redirect(request.path)

    def carry_out(self, where: Mapping[str, Any]) -> str:
        """Do what the button says; return what to tell of it."""
        uids = [c.parse_uuid("fact", uid) for uid in self.request.POST.getlist("fact")]
        match self.request.POST.get("do", ""):
            case "accept":
                consolidation_engine.accept_changes(**where, fact_ids=uids)
                return _("Accepted: it is verified.")
            case "sure":
                consolidation_engine.accept_changes(**where, min_confidence=MIN_SURE)
                return _("Accepted: they are verified.")
            case "reject":
                consolidation_engine.reject_changes(**where, fact_ids=uids)
                return _("Rejected: it is as before the run.")
        run = consolidation_engine.undo_run(**where)
        return _("The run over %(name)s is undone.") % {"name": run.target}


def name_changed(error: Day1Error, report: ConsolidationReport) -> Iterator[str]:
    """Yield the first facts of a run that stand in the way of an answer or its undo."""
    changed = {str(uid) for uid in error.data.get("changed", ())}
    found = (one.fact.essence for one in report.changes if str(one.fact.uid) in changed)
    yield from (f"“{essence}”" for essence in islice(found, MAX_NAMED))
