"""The engine of consolidation: runs of sessions, of agents' facts and of tasks; listed, read and undone."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Protocol, Unpack
from uuid import UUID

from django.db.models import Count, QuerySet

from conversations.engines.consolidation import runs
from conversations.engines.consolidation.answers import list_answer_commits
from conversations.engines.consolidation.extraction import find_extraction
from conversations.engines.consolidation.judging import judge_statements
from conversations.engines.consolidation.levels import FactSource, consolidate_facts, read_facts
from conversations.engines.consolidation.report import (
    CONFIDENT,
    FACT_IDS,
    ConsolidationReport,
    accept,
    build_report,
    choose_changes,
    raise_scopes,
    reject,
    require_ended,
)
from conversations.engines.consolidation.session import (
    ASKS_NO_MODEL,
    REST_UNREAD,
    plan_piece,
    read_session,
    run_session,
    set_read,
    write_piece,
)
from conversations.engines.fields.consolidation import CONSOLIDATION_FILTERS, CURRENT_CYCLE, RUN_BRANCH
from conversations.engines.orders import RUNS
from conversations.models import ConsolidationRun
from conversations.models.runs import VERDICTS
from memory.actors import Actor
from memory.db.transactions import dry_transaction, write_transaction
from memory.engines.agent_tasks.completion import list_durable
from memory.engines.agent_tasks.rules import find_task, require_part
from memory.engines.branches.revert import RevertEngine
from memory.engines.fields.common import DRY_RUN
from memory.engines.fields.filters import make_filter_checks
from memory.engines.sessions.creation import refuse_erased_session
from memory.engines.sessions.learning import system_actor
from memory.engines.sessions.manager import get_session, require_scope
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.versions.branch_access import filter_allowed_branches
from memory.engines.versions.lookup import MAIN, find_branch, find_reverted, require_live
from memory.engines.versions.policies import require_curator
from memory.exceptions import Conflict, IllegalTransition, Invalid, NotFound
from memory.extensions import find_extension
from memory.models import Branch, Commit, Session
from memory.queue.producer import enqueue


class LevelEngine(Protocol):
    """Runs of one level, and their undo."""

    def consolidate(
        self, *, branch_name: str, actor: Actor, dry_run: bool, current_cycle: int | None
    ) -> ConsolidationReport: ...

    def undo_run(self, *, run_id: UUID, actor: Actor) -> ConsolidationRun: ...


def find_level_engine(level: str) -> LevelEngine | None:
    """Return the engine that makes and undoes the runs of a level; None for one of this app."""
    made = find_extension("consolidation_levels", level)
    return made() if made else None


Level, State = ConsolidationRun.Level, ConsolidationRun.State
FILTERS = make_filter_checks(CONSOLIDATION_FILTERS)


class ConsolidationEngine:
    """Runs by rule. Each takes ``dry_run``, which answers the same report and writes nothing."""

    def consolidate_session(
        self, *, session_id: str, actor: Actor, dry_run: bool = False
    ) -> ConsolidationReport:
        """Make facts of what an ended session decided and repaired.

        With a language model the run is queued, and its row says how far it is; a dry run asks none.
        Raises NotFound, Conflict for one that is active, erased, or being consolidated, BranchArchived,
        BranchReadOnly, scope and branch refusals.
        """
        actor.require_scope("write")
        session = get_session(actor, session_id, is_shown=True)
        require_scope(actor, "write", session)
        require_live(session.branch)
        refuse_erased_session(session)
        if session.status == Session.Status.ACTIVE:
            raise Conflict("The session {key} is still active: end it first.", key=session.key)
        if dry_run:
            return try_session(session, actor)
        if find_extraction() is not None:
            return queue_session(session, actor)
        with runs.open_run(session.branch, Level.SESSION, session.key, actor) as run:
            run_session(session, run, system_actor(session))
        return read_report(run)

    def carry_out_queued(self, *, run_id: UUID) -> None:
        """Carry out a queued run, once; a session that was erased or archived meanwhile fails it."""
        run = runs.take_queued(run_id)
        if run is None:
            return
        session = Session.objects.select_related("branch").get(branch=run.branch, key=run.target)
        with runs.carry_out(run, replace(system_actor(session), label=run.created_by)):
            require_live(session.branch)
            refuse_erased_session(session)
            read = judge_statements if run.prompt == VERDICTS else run_session
            read(session, run, system_actor(session))
        if run.prompt == VERDICTS and run.state == State.DONE and not run.calls:
            runs.drop_run(run)  # there was nothing to ask

    def consolidate_agent(
        self, *, agent_id: str, actor: Actor, branch_name: str = MAIN, dry_run: bool = False
    ) -> ConsolidationReport:
        """Supersede what an agent's sessions learned twice on a branch, and sum up what it knows there.

        Raises NotFound for an agent without facts, Conflict while another run has it, Invalid,
        BranchNotFound, BranchArchived, BranchReadOnly, scope and branch refusals.
        """
        agent_id = c.plain_text("agent_id", agent_id)
        branch = find_open_branch(actor, branch_name)
        source = read_facts(branch, agent_id)
        if not agent_id or not source.facts:
            raise NotFound("{agent} has no active facts on this branch.", agent=agent_id or "?")
        return run_facts(source, Level.AGENT, agent_id, actor, dry_run)

    def consolidate_task(
        self, *, task: UUID | str, actor: Actor, dry_run: Annotated[bool, DRY_RUN] = False
    ) -> ConsolidationReport:
        """Supersede what the agents of a task learned twice, and say which facts outlive it.

        Raises NotFound, Conflict while another run has it, BranchArchived, scope and branch refusals.
        """
        row = find_task(actor, task, "write")
        require_part(actor, row)
        branch = find_open_branch(actor, row.branch.name)
        source = read_facts(branch)
        with dry_transaction(dry_run):
            report = run_facts(source, Level.TASK, row.slug, actor, False)
            durable = list_durable(row, actor)
            report.run.durable, report.run.dry_run = len(durable), dry_run
            report.run.save(update_fields=["durable"])
        return replace(report, durable=durable)

    def consolidate(
        self,
        *,
        level: str,
        actor: Actor,
        target: str = "",
        branch_name: str = MAIN,
        dry_run: Annotated[bool, DRY_RUN] = False,
        current_cycle: Annotated[int | None, CURRENT_CYCLE] = None,
    ) -> ConsolidationReport:
        """Start a run of a level; sessions and tasks have a branch of their own. Raises as their methods."""
        if engine := find_level_engine(level):
            return engine.consolidate(
                branch_name=branch_name, actor=actor, dry_run=dry_run, current_cycle=current_cycle
            )
        if current_cycle is not None:
            raise Invalid("Only dreaming counts in cycles.", field="current_cycle")
        if not target:
            raise Invalid("{field} is needed.", field="target")
        if level == Level.SESSION:
            return self.consolidate_session(session_id=target, actor=actor, dry_run=dry_run)
        if level == Level.TASK:
            return self.consolidate_task(task=target, actor=actor, dry_run=dry_run)
        return self.consolidate_agent(agent_id=target, branch_name=branch_name, actor=actor, dry_run=dry_run)

    # ---- runs ----------------------------------------------------------------------------------

    def list_runs(
        self,
        *,
        actor: Actor,
        branch_name: Annotated[str, RUN_BRANCH] = "",
        level: str = "",
        state: str = "",
        target: str = "",
        **paging: Unpack[Sorting],
    ) -> Page[ConsolidationRun]:
        """List the runs on branches that the actor may use, newest first. Raises Invalid."""
        actor.require_scope("read", branch_name or None)
        requested = c.validate({"level": level, "state": state, "target": target}, FILTERS)
        requested["branch__name"] = branch_name
        rows = list_visible_runs(actor).filter(**c.drop_empty(requested))
        return paginate(rows, RUNS, **paging)

    def count_runs(self, *, actor: Actor) -> dict[str, int]:
        """Return how many runs the actor may see, by state."""
        actor.require_scope("read")
        counted = list_visible_runs(actor).order_by().values_list("state").annotate(n=Count("pk"))
        return dict.fromkeys(State.values, 0) | dict(counted)

    def get_run(self, *, run_id: UUID, actor: Actor) -> ConsolidationReport:
        """Return a run with what it did. Raises NotFound."""
        actor.require_scope("read")
        return build_report(find_run(actor, run_id))

    def undo_run(self, *, run_id: UUID, actor: Actor) -> ConsolidationRun:
        """Revert all commits of a run, the last one first, or none. Sources that it read stay read.

        Raises NotFound, IllegalTransition for a run that still runs, was undone or changed nothing, and
        Conflict with the ids that later work changed or built on, scope and branch refusals.
        """
        run = find_run(actor, run_id)
        if engine := find_level_engine(run.level):
            return engine.undo_run(run_id=run_id, actor=actor)
        actor.require_scope("curate", run.branch.name)
        with write_transaction():
            run = ConsolidationRun.objects.select_for_update().get(pk=run.pk)
            require_undoable(run)
            for commit in list_standing(run):
                RevertEngine().revert_commit(commit_id=commit.pk, actor=raise_scopes(actor))
            runs.mark_undone(run, actor)
        return run

    def accept_changes(
        self,
        *,
        run_id: UUID,
        actor: Actor,
        fact_ids: Annotated[Iterable[UUID], FACT_IDS] = (),
        min_confidence: Annotated[float | None, CONFIDENT] = None,
    ) -> ConsolidationReport:
        """Verify facts that a run made, confirmed or kept, and all of at least a confidence that nobody
        answered yet.

        Raises NotFound for facts that the run did not change, IllegalTransition for a run that has not ended
        or is undone, Conflict for facts that changed since, Invalid, scope and branch refusals.
        """
        least = None if min_confidence is None else CONFIDENT.check("min_confidence", min_confidence)
        run = find_answerable(actor, run_id)
        accept(run, choose_changes(run, set(fact_ids), least), actor)
        return build_report(run)

    def reject_changes(
        self, *, run_id: UUID, fact_ids: Annotated[Iterable[UUID], FACT_IDS], actor: Actor
    ) -> ConsolidationReport:
        """Undo what a run did to some facts, and that they were accepted; the rest stays. What they come from
        is not learned again.

        Raises as ``accept_changes``, and Conflict with the ids that later work changed or built on.
        """
        run = find_answerable(actor, run_id)
        changes = choose_changes(run, set(fact_ids), None)
        reject(run, changes, list_standing(run), actor)
        return build_report(run)


# ---- pieces ----------------------------------------------------------------------------------------


def run_facts(
    source: FactSource, level: str, target: str, actor: Actor, dry_run: bool
) -> ConsolidationReport:
    """Run a level that reads facts."""
    system = Actor(
        actor.project_id, "system", label="day1", scopes=frozenset({"admin"}), surface=actor.surface
    )
    with dry_transaction(dry_run):
        with runs.open_run(source.branch, level, target, actor) as run:
            consolidate_facts(source, run, system)
        report = read_report(run, dry_run)
    return report


def try_session(session: Session, actor: Actor) -> ConsolidationReport:
    """Return what a run would do. All reading and comparing comes before the lock of the store is taken; what
    is written under it, all findings in one commit, is rolled back.
    """
    source = read_session(session)
    piece = source.join_pieces()
    plan = plan_piece(source, piece)
    with dry_transaction(True):
        with runs.open_run(session.branch, Level.SESSION, session.key, actor) as run:
            if plan:
                write_piece(source, run, plan, piece, system_actor(session))
            note = ASKS_NO_MODEL if find_extraction() else ""
            set_read(source, run, note if source.is_whole else REST_UNREAD)
        report = read_report(run, dry_run=True)
    return report


def queue_session(session: Session, actor: Actor) -> ConsolidationReport:
    """Claim a session for a run that a worker carries out: a model may take minutes. Raises Conflict."""
    run = runs.claim_run(session.branch, Level.SESSION, session.key, actor, State.QUEUED)
    enqueue("conversations.consolidate", str(run.pk))
    return ConsolidationReport(run)


def read_report(run: ConsolidationRun, dry_run: bool = False) -> ConsolidationReport:
    run.dry_run = dry_run
    run.branch.refresh_from_db(fields=["head", "head_at"])
    return build_report(run)


def find_open_branch(actor: Actor, name: str) -> Branch:
    """Return a branch whose facts the actor may change. Raises BranchNotFound and refusals."""
    actor.require_scope("write", name)
    branch = require_live(find_branch(actor, name))
    require_curator(actor, name)
    return branch


def list_visible_runs(actor: Actor) -> QuerySet[ConsolidationRun]:
    rows = ConsolidationRun.objects.filter(project=actor.project_id).select_related("branch")
    return filter_allowed_branches(rows, actor)


def find_run(actor: Actor, run_id: UUID) -> ConsolidationRun:
    """Return a run on a branch that the actor may use. Raises NotFound."""
    run = list_visible_runs(actor).filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no consolidation run with this id.")
    return run


def find_answerable(actor: Actor, run_id: UUID) -> ConsolidationRun:
    """Return a run that has ended, on a branch where the actor curates. Raises NotFound, IllegalTransition
    for one whose merge request decides, and refusals.
    """
    run = find_run(actor, run_id)
    actor.require_scope("curate", run.branch.name)
    require_live(run.branch)
    require_ended(run)
    if find_level_engine(run.level):
        raise IllegalTransition(
            "The merge request of this run decides on what it proposes: accept or reject it there."
        )
    return run


def require_undoable(run: ConsolidationRun) -> None:
    """Refuse the undo of a run that has not ended, or has nothing to undo. Raises IllegalTransition."""
    require_ended(run)
    if not run.commits:
        raise IllegalTransition("This run changed nothing.")


def list_standing(run: ConsolidationRun) -> Sequence[Commit]:
    """Return the commits of a run, and of the answers to it, that nobody has reverted, the last one first."""
    ids = [*(UUID(uid) for uid in run.commits), *list_answer_commits(run)]
    undone = find_reverted(ids)
    commits = Commit.objects.filter(pk__in=ids).order_by("-seq")
    return [commit for commit in commits if commit.pk not in undone]
