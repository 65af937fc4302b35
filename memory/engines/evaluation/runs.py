"""EvalEngine: runs of all saved questions at a branch, point and recipe, alone or compared with another."""

import time
from collections.abc import Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Annotated, Any, Unpack
from uuid import UUID

from django.utils import timezone

from memory.actors import Actor
from memory.db.transactions import retry_methods
from memory.engines.evaluation.asking import Place, ask_questions
from memory.engines.evaluation.figures import Ranks, Result, summarise
from memory.engines.evaluation.questions import select_questions
from memory.engines.facts.assessment import parse_expiry_time
from memory.engines.fields.questions import AGAINST, DEFAULT_K, EVAL_K, MAX_K, RECIPE, SIDE
from memory.engines.search.ranked import get_recipe
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.lookup import MAIN, find_branch, resolve_point
from memory.exceptions import BranchArchived, Conflict, Invalid, NotFound, UnknownField
from memory.models.branches import Branch
from memory.models.questions import EvalRun, Question
from memory.queue.producer import enqueue, is_queued, is_set_aside

MAX_AT_ONCE = 100  # questions that are put while the caller waits; a worker puts more
BATCH_SIZE = 50  # after so many the run says how far it is
LOST_AFTER = timedelta(minutes=5)  # without being done
SWEPT = timedelta(days=7)  # age of runs that are still queued again
ERROR_CHARACTERS = 300
STOPPED = "The server stopped each time while it put the questions. Start a new run."
LATE = f"No worker put the questions within {SWEPT.days} days. Start a new run when one runs."


@retry_methods
class EvalEngine:
    def start_eval(
        self,
        *,
        actor: Actor,
        branch_name: str = MAIN,
        at: Any = None,
        recipe: Annotated[str, RECIPE] = "",
        k: Annotated[int, EVAL_K] = DEFAULT_K,
        against: Annotated[Mapping[str, Any] | None, AGAINST] = None,
    ) -> EvalRun:
        """Put all questions to a branch and keep the figures; ``against`` is the side before, if any.

        It has ``branch``, ``at`` and ``recipe``, each as this side has it unless given. Up to a hundred
        questions are put at once; with more the run is queued for a worker. Needs the scopes write, and
        read on the branches. Raises Conflict without questions, Invalid, UnknownField, BranchNotFound,
        NotFound, BranchArchived.
        """
        actor.require_scope("write")
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MAX_K:
            raise Invalid("{field} must be 1 to {most}.", field="k", most=MAX_K)
        side = {"branch": branch_name, "at": at, "recipe": recipe}
        now, before = resolve_side(actor, side), resolve_against(actor, side, against)
        ids = list(select_questions(actor).order_by("pk").values_list("pk", flat=True))
        if not ids:
            raise Conflict("There are no saved questions: save one from a search first.")
        run = EvalRun(project_id=actor.project_id, **now, is_past=at is not None, k=k, against=before)
        run.created_at, run.created_by = actor.write_time(), actor.label
        run.questions, run.question_ids = len(ids), [str(uid) for uid in ids]
        run.save()
        if len(ids) > MAX_AT_ONCE:
            enqueue("memory.run_eval", str(run.pk))
            return run
        return carry_out(run)

    def get_eval(self, *, eval_id: UUID, actor: Actor) -> EvalRun:
        """Return a run. Raises NotFound, also where the actor may not use its branches."""
        actor.require_scope("read")
        run = EvalRun.objects.filter(project=actor.project_id, pk=eval_id).first()
        if run is None or not may_read(actor, run):
            raise NotFound("There is no run with this id.")
        return run

    def list_evals(self, *, actor: Actor, **paging: Unpack[Paging]) -> Page[EvalRun]:
        """List the runs, newest first, without the ranks of their questions."""
        actor.require_scope("read")
        rows = EvalRun.objects.filter(project=actor.project_id)
        allowed = rows
        if actor.branch_patterns:
            hidden = [run.pk for run in rows.only("branch", "against") if not may_read(actor, run)]
            allowed = rows.exclude(pk__in=hidden)
        return paginate(allowed.defer("results"), "-id", **paging, of=rows)


def compare_runs(run: EvalRun, before: EvalRun) -> list[dict[str, Any]]:
    """Return the results of a run with what became of each question since an earlier one that put it too."""
    earlier = {one["question"]: one["ranks"] for one in before.results}
    rows = [(one, earlier[one["question"]]) for one in run.results if one["question"] in earlier]
    return [
        {
            **one,
            "before": ranks,
            "change": Result(one["question"], one["ranks"], ranks).describe_change(run.k),
        }
        for one, ranks in rows
    ]


def may_read(actor: Actor, run: EvalRun) -> bool:
    names = [run.branch, *([run.against["branch"]] if run.against else [])]
    return all(actor.may_use(name) for name in names)


def resolve_against(
    actor: Actor, side: Mapping[str, Any], against: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Return the other side of a comparison; {} without one. Raises UnknownField, Invalid."""
    if against is None:
        return {}
    against = check_side(against)
    same = side if against.get("branch", side["branch"]) == side["branch"] else {**side, "at": None}
    try:
        found = resolve_side(actor, {**same, **against})
    except Invalid as error:
        error.data["field"] = f"against.{error.data.get('field', '')}".rstrip(".")
        raise
    return {**found, "at": found["at"].isoformat()} if "at" in found else found


def check_side(side: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is given of the other side, checked. Raises UnknownField, Invalid."""
    checks = {one.name: one.type.build_check() for one in SIDE.fields}
    found = {}
    for name, value in side.items():
        field = f"against.{name}"
        if name not in checks:
            raise UnknownField(field=field)
        if value is not None and (name, value) != ("recipe", ""):
            found[name] = checks[name](field, value)
    return found


def resolve_side(actor: Actor, side: Mapping[str, Any]) -> dict[str, Any]:
    """Return branch and recipe by name, the seq of the point, and ``at`` where the point is a time.

    Raises BranchNotFound, BranchArchived, Invalid, NotFound.
    """
    actor.require_scope("read", side["branch"])
    recipe, at = get_recipe(actor, side["recipe"]), side["at"]
    branch = find_open_branch(actor, side["branch"])
    found = {"branch": branch.name, "seq": resolve_point(branch, at), "recipe": recipe.name}
    return {**found, "at": parse_expiry_time(at)} if isinstance(at, datetime) else found


def find_open_branch(actor: Actor, name: str) -> Branch:
    """Return a branch on which a search finds something. Raises BranchNotFound, BranchArchived."""
    branch = find_branch(actor, name)
    if branch.archived_at:
        raise BranchArchived(
            "The branch {name} is archived, and a search finds nothing on it: restore it first.", name=name
        )
    return branch


def carry_out(run: EvalRun) -> EvalRun:
    """Put the questions of a run and keep its figures, saying after each batch how far it is.

    They are put in nobody's session, so that no repository is preferred. Raises BranchArchived where a
    branch was archived meanwhile: what was not found there says nothing.
    """
    started, results = time.perf_counter(), list[Result]()
    actor = Actor(run.project_id, "system", label=run.created_by, scopes=frozenset({"read"}))
    questions = load_questions(run)
    place, before = build_place(actor, describe_side(run)), build_place(actor, run.against)
    assert place is not None  # only the other side may be missing
    found = ask_questions(questions, place, before, actor, run.k)
    run.state, run.questions = EvalRun.State.RUNNING, len(questions)
    while batch := list(islice(found, BATCH_SIZE)):
        check_branches(run, actor)
        results += batch
        run.done = len(results)
        run.save(update_fields=["state", "questions", "done"])
    run.figures, run.results = summarise(results, run.k), [describe_result(one, run.k) for one in results]
    run.took_ms, run.state = round((time.perf_counter() - started) * 1000, 1), EvalRun.State.DONE
    run.question_ids = []
    run.save()
    return run


def check_branches(run: EvalRun, actor: Actor) -> None:
    """Raise BranchNotFound or BranchArchived where a search of the run finds nothing any more."""
    for side in filter(None, (describe_side(run), run.against)):
        find_open_branch(actor, side["branch"])


def load_questions(run: EvalRun) -> list[Question]:
    """Return the questions of a run, but for those that were deleted since."""
    rows = Question.objects.filter(project=run.project_id, pk__in=[UUID(text) for text in run.question_ids])
    return list(rows.order_by("pk"))


def run_queued(run_id: UUID) -> None:
    """Carry out a run that was queued, or keep why it cannot be; one that has ended stays."""
    run = EvalRun.objects.filter(pk=run_id).exclude(state__in=EvalRun.ENDED).first()
    if run is None:
        return
    try:
        carry_out(run)
    except (BranchArchived, NotFound) as error:  # else it is tried again
        end_failed(run, error.text)


def end_failed(run: EvalRun, reason: str) -> None:
    run.state, run.error, run.question_ids = EvalRun.State.FAILED, reason[:ERROR_CHARACTERS], []
    run.save()


def queue_lost() -> None:
    """Queue the runs again that should have ended by now, unless their message waits or a worker has it.

    One that cannot end any more fails: its task was set aside, or nobody took it for days.
    """
    now = timezone.now()
    unfinished = EvalRun.objects.exclude(state__in=EvalRun.ENDED)
    for run in unfinished.filter(created_at__lt=now - LOST_AFTER):
        task = ("memory.run_eval", str(run.pk))
        if is_set_aside(*task):
            end_failed(run, STOPPED)
        elif run.created_at < now - SWEPT:
            end_failed(run, LATE)
        elif not is_queued(*task):
            enqueue(*task)


def describe_side(run: EvalRun) -> dict[str, Any]:
    return {"branch": run.branch, "seq": run.seq, "recipe": run.recipe, "at": run.at}


def build_place(actor: Actor, side: Mapping[str, Any]) -> Place | None:
    if not side:
        return None
    at = c.parse_time("at", side["at"]) if side.get("at") else None
    return Place(side["branch"], get_recipe(actor, side["recipe"]), side["seq"], expiry_time=at)


def describe_result(result: Result, k: int) -> dict[str, Any]:
    """Return a result as it is stored: ids and ranks, no text."""
    row: dict[str, Any] = {"question": str(result.question), "ranks": describe_ranks(result.ranks)}
    if result.before is not None:
        row |= {"before": describe_ranks(result.before), "change": result.describe_change(k)}
    if result.missing:
        row["missing"] = {str(uid): reason for uid, reason in result.missing.items()}
    return row


def describe_ranks(ranks: Ranks) -> dict[str, int | None]:
    return {str(uid): rank for uid, rank in ranks.items()}
