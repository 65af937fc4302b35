"""Rows of saved questions with their ranks, the chart of runs, and what Home shows of the newest."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from memory.actors import Actor
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import EvalEngine, compare_runs, describe_result
from memory.models.questions import EvalRun, Question
from memory.views.frame.panels import Figure
from memory.views.frame.sparklines import draw_sparkline
from memory.views.frame.view_context import ViewContext
from memory.views.text.times import format_age

CHANGES: dict[str, Any] = {
    "lost": _("lost"),
    "gained": _("gained"),
    "moved": _("moved"),
    "same": _("as before"),
    "unscored": _("does not count"),
}
TONES = {"lost": "error", "gained": "good", "moved": "warning", "unscored": "archived"}
MISSING: dict[str, Any] = {
    "erased": _("erased"),
    "absent": _("on no branch"),
    "elsewhere": _("not on this branch"),
    "unranked": _("not found"),
}
ORDER = ("lost", "gained", "moved", "unscored", "same", "")
LISTED_RUNS = 30
WIDTH, HEIGHT, PADDING = 640, 120, 12  # of the chart, in its own units


@dataclass(frozen=True)
class ExpectedFact:
    """The ranks of one expected fact, and why it has none."""

    uid: str
    rank: int | None
    before: int | None
    reason: Any = ""


@dataclass(frozen=True)
class QuestionRow:
    question: Question | None  # None for one that was deleted since, or that the reader may not read
    change: str
    facts: Sequence[ExpectedFact]
    is_compared: bool

    @property
    def word(self) -> Any:
        return CHANGES.get(self.change, "")

    @property
    def tone(self) -> str:
        return TONES.get(self.change, "")


def build_rows(actor: Actor, results: Sequence[Mapping[str, Any]]) -> list[QuestionRow]:
    """Return the results as rows, those that were lost first."""
    ids = [UUID(one["question"]) for one in results]
    known = QuestionEngine().find_questions(actor=actor, ids=ids)
    rows = [build_row(known.get(UUID(one["question"])), one) for one in results]
    return sorted(rows, key=lambda row: ORDER.index(row.change))


def build_row(question: Question | None, result: Mapping[str, Any]) -> QuestionRow:
    missing, before = result.get("missing", {}), result.get("before", {})
    uids = [*result["ranks"], *(uid for uid in missing if uid not in result["ranks"])]
    facts = [
        ExpectedFact(uid, result["ranks"].get(uid), before.get(uid), MISSING.get(missing.get(uid, ""), ""))
        for uid in uids
    ]
    change = result.get("change", "" if result["ranks"] else "unscored")
    return QuestionRow(question, change, facts, "before" in result)


def describe_results(recall: Any) -> list[dict[str, Any]]:
    """Return the results of a merge in the form in which runs store theirs."""
    return [describe_result(one, recall.k) for one in recall.results]


# ---- runs ----------------------------------------------------------------------------------------------


def describe_recall(reader: ViewContext) -> Sequence[EvalRun]:
    """Return the newest run of the saved questions on the branch, and those before that compare with it."""
    runs = EvalEngine().list_evals(actor=reader.actor, limit=LISTED_RUNS).results
    return add_figure_texts(select_comparable(runs, reader.branch.name))


def show_recall_figure(reader: ViewContext, runs: Sequence[EvalRun]) -> Figure | None:
    """Return how much of what saved questions expect the newest run found, in plain words."""
    if not runs:
        return None
    newest, text = runs[0], gettext("of what saved questions expect is among the first {k} hits")
    aside = ngettext("Recall@{k} of {n} question", "Recall@{k} of {n} questions", newest.questions)
    return Figure(
        newest.figures["percent"],
        reader.url("eval", newest.pk, branch="", at=""),
        text.format(k=newest.k),
        draw_recall(runs),
        f"{aside.format(k=newest.k, n=newest.questions)} · {format_age(newest.created_at)}",
    )


def describe_recall_changes(reader: ViewContext, runs: Sequence[EvalRun]) -> dict[str, Any]:
    """Return the newest run with those before, how each differs from the one before it, and the questions
    that the newest finds or loses since; nothing where there are not two.
    """
    if len(runs) < 2:
        return {}
    for run, before in itertools.pairwise(runs):
        run.figures["change"] = show_difference(run.figures["recall"], before.figures["recall"])
    return {"recall": runs[0], "recall_runs": runs, "recall_changes": list_changes(reader.actor, runs)}


def list_changes(actor: Actor, runs: Sequence[EvalRun]) -> list[QuestionRow]:
    now, before = (EvalEngine().get_eval(eval_id=run.pk, actor=actor) for run in runs[:2])
    results = compare_runs(now, before)
    return build_rows(actor, [one for one in results if one["change"] in ("lost", "gained")])


def show_difference(now: float, before: float) -> str:
    """Return the difference of two shares in points: +8, −8, ±0."""
    points = round(100 * now) - round(100 * before)
    return f"{'+' if points > 0 else '−' if points else '±'}{abs(points)}"


def select_comparable(runs: Sequence[EvalRun], branch_name: str) -> list[EvalRun]:
    """Return the runs on a branch as it was then that have figures, and the newest one's k and recipe."""
    own = [run for run in runs if run.branch == branch_name and not run.is_past and has_whole_recall(run)]
    return [run for run in own if (run.k, run.recipe) == (own[0].k, own[0].recipe)]


def has_whole_recall(run: EvalRun) -> bool:
    """Return whether a run has a recall that no silent embedder has lowered."""
    return run.figures.get("recall") is not None and not run.figures.get("by_words")


def draw_recall(runs: Sequence[EvalRun]) -> SafeString:
    """Return a sparkline of the recall of the runs, which are the newest first; nothing for one."""
    shares = [round(100 * run.figures["recall"]) for run in reversed(runs)]
    text = gettext("Recall of the last {n} runs: {first} percent at first, {last} percent now.")
    words = text.format(n=len(runs), first=shares[0], last=shares[-1])
    return draw_sparkline(shares, words) if len(runs) > 1 else SafeString("")


def add_figure_texts(runs: Sequence[EvalRun]) -> Sequence[EvalRun]:
    """Give the runs their recall, MRR and number of lost questions as texts."""
    for run in runs:
        recall, mrr = run.figures.get("recall"), run.figures.get("mrr")
        run.figures["percent"] = "–" if recall is None else f"{recall:.0%}"
        run.figures["mrr_text"] = "–" if mrr is None else f"{mrr:.3f}"
        run.figures["lost_text"] = str(run.figures.get("lost", ""))
    return runs


def draw_chart(runs: Sequence[EvalRun], branch_name: str, name: str) -> SafeString:
    """Draw the recall and MRR of the runs on a branch that can be compared, the oldest to the left.

    Fewer than two are no chart.
    """
    shown = select_comparable(runs, branch_name)[::-1]
    if len(shown) < 2:
        return SafeString("")
    lines = format_html_join(
        "",
        '<polyline class="{}" points="{}"></polyline>',
        ((kind, " ".join(place_points([run.figures[kind] for run in shown]))) for kind in ("mrr", "recall")),
    )
    html = (
        '<svg class="chart" viewBox="0 0 {} {}" preserveAspectRatio="none" role="img" aria-label="{}">'
        "{}{}</svg>"
    )
    grid = format_html_join("", '<line class="grid" x1="0" x2="{}" y1="{}" y2="{}"></line>', list_grid())
    return format_html(html, WIDTH, HEIGHT, name, grid, lines)


def list_grid() -> list[tuple[int, str, str]]:
    return [(WIDTH, place_value(value), place_value(value)) for value in (0, 0.5, 1)]


def place_value(value: float) -> str:
    return f"{PADDING + (1 - value) * (HEIGHT - 2 * PADDING):.1f}"


def place_points(values: Sequence[float]) -> list[str]:
    step = (WIDTH - 2 * PADDING) / (len(values) - 1)
    return [f"{PADDING + at * step:.1f},{place_value(value)}" for at, value in enumerate(values)]
