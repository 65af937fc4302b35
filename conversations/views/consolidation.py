"""Consolidation: the list of runs with the form that starts one, and the report of a run."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from conversations.engines.consolidation.answers import REJECTED
from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.consolidation.report import MAX_CHANGES, ConsolidationReport, RunChange
from conversations.engines.fields.consolidation import LEVEL_WORDS
from conversations.models import ConsolidationRun
from conversations.models.runs import VERDICTS
from conversations.operations.consolidation import CONSOLIDATION_RUNS
from memory.exceptions import Conflict, Day1Error, IllegalTransition, Invalid
from memory.views.access.project_settings import SettingsPage, change_settings
from memory.views.frame.base import ProjectPage
from memory.views.frame.flash import flash_warning
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.list_page import ALL
from memory.views.generic.state_list import StateListPage
from memory.views.text.error_text import error_sentence
from memory.views.text.labels import WORDS

consolidation_engine = ConsolidationEngine()
State, Level = ConsolidationRun.State, ConsolidationRun.Level
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
LEVELS = dict(LEVEL_WORDS)
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
        return _("More facts than usual came of it: check whether they are worth knowing.")
    return _("Fewer facts than usual came of it.") if run.yield_rate < LOW_YIELD else ""


def tell_started(report: ConsolidationReport) -> str:
    queued = report.run.state == State.QUEUED
    return _("A language model reads the session; this page will tell of it.") if queued else ""


class Consolidations(SettingsPage, StateListPage):
    """The runs by state, the form that starts one, and what happens every night."""

    template_name = "consolidations.html"
    section, scope = "consolidations", "read"
    title = gettext_lazy("Consolidation")
    operation, states, words = CONSOLIDATION_RUNS["runs"], STATES, WORDS | LEVELS
    actions = {
        "create": Action(
            CONSOLIDATION_RUNS["start_run"],
            tell_started,
            fields=("level", "target", "dry_run"),
            opens=("consolidation", "run.pk"),
            button=gettext_lazy("Start"),
        ),
        **change_settings(
            "consolidate_agents",
            "propose_reflections",
            "dream_min_size",
            "dream_cohesion",
            "dream_min_age_cycles",
            "dream_every_n_cycles",
            "dream_allow_zero_confirmation",
            "dream_origins",
        ),
    }
    extra_context = {
        "lead": gettext_lazy(
            "A run makes facts of a session, merges what an agent or a task learned twice, or proposes"
            " reflections. Each says what it did, and can be undone whole."
        ),
        "search": gettext_lazy("Filters, such as level:session or target:s1"),
        "drawing": "merge",
        "form_title": gettext_lazy("Start a run"),
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

    def render_done(self, name: str, result: Any) -> HttpResponse:
        """Show what a dry run would do."""
        if name != "create" or not result.run.dry_run:
            return super().render_done(name, result)
        context = ProjectPage.get_context_data(self, **describe_report(result, False))
        return self.response_class(self.request, ["consolidation.html"], context)


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


class ConsolidationPage(ActionPage):
    """One run: what it did, of which evidence, its undo, and the answers to some of its changes."""

    template_name = "consolidation.html"
    section, scope, usual = "consolidations", "read", "undo"
    needs_now = False
    actions = {
        "accept": Action(CONSOLIDATION_RUNS["accept"], gettext_lazy("Accepted: it is verified.")),
        "sure": Action(
            CONSOLIDATION_RUNS["accept"],
            gettext_lazy("Accepted: they are verified."),
            fixed={"min_confidence": MIN_SURE},
        ),
        "reject": Action(CONSOLIDATION_RUNS["reject"], gettext_lazy("Rejected: it is as before the run.")),
        "undo": Action(CONSOLIDATION_RUNS["undo"], gettext_lazy("The run over %(target)s is undone.")),
    }

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

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        ticked = self.request.POST.getlist("fact") if name in ("accept", "reject") else []
        return super().carry_out(name, values | ({"fact_ids": ticked} if ticked else {}))

    def render_refused(self, name: str, error: Day1Error) -> HttpResponse:
        """Name what stands in the way of an old tab or a second click."""
        if not isinstance(error, REFUSALS):
            raise error
        report = consolidation_engine.get_run(run_id=self.kwargs["run_id"], actor=self.reader.actor)
        flash_warning(self.request, " ".join([error_sentence(error), *name_changed(error, report)]))
        return redirect(self.request.path)


def name_changed(error: Day1Error, report: ConsolidationReport) -> Iterator[str]:
    """Yield the first facts of a run that stand in the way of an answer or its undo."""
    changed = {str(uid) for uid in error.data.get("changed", ())}
    found = (one.fact.essence for one in report.changes if str(one.fact.uid) in changed)
    yield from (f"“{essence}”" for essence in islice(found, MAX_NAMED))
