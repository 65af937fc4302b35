"""The rows of runs: claimed by one worker at a time, and ended in a state that says how it went."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.engines.consolidation.heartbeat import DIED, LEASE, QUEUE_LEASE, show_life
from conversations.models import ConsolidationRun
from conversations.models.runs import COUNTS
from memory.actors import Actor
from memory.clock import read_time
from memory.db.bulk_sql import insert_all
from memory.db.transactions import retry_transaction, write_transaction
from memory.engines.audit.trail import record_entry
from memory.exceptions import Conflict
from memory.models import Branch, Commit

PROGRESS = ("calls", "input_tokens", "output_tokens", "mode", "model", "prompt", "lease_until")
State, Level = ConsolidationRun.State, ConsolidationRun.Level


class _RolledBack(Exception):
    """The end of a dry run, which leaves nothing."""


@contextmanager
def dry_transaction(is_dry: bool) -> Iterator[None]:
    """Roll back what is written inside, where that is wanted."""
    if not is_dry:
        yield
        return
    try:
        with write_transaction():
            yield
            raise _RolledBack
    except _RolledBack:
        return


@contextmanager
def open_run(branch: Branch, level: str, target: str, actor: Actor) -> Iterator[ConsolidationRun]:
    """Claim a target for a run that ends with the block, as ``carry_out`` says.

    Raises Conflict while another run has the target.
    """
    run = claim_run(branch, level, target, actor)
    with carry_out(run, actor):
        yield run


@contextmanager
def carry_out(run: ConsolidationRun, actor: Actor) -> Iterator[ConsolidationRun]:
    """End a claimed run with the block: done, or as the block says, failed on an error. One that the block
    postponed waits on.
    """
    try:
        with show_life(run):
            yield run
    except Exception as error:
        if not transaction.get_connection().needs_rollback:  # a dry run, whose row goes anyway
            end_run(run, State.FAILED, f"{type(error).__name__}"[:500])
        raise
    if run.state != State.QUEUED:
        finish_run(run, actor)


@retry_transaction
def finish_run(run: ConsolidationRun, actor: Actor) -> None:
    with transaction.atomic():
        end_run(run, State.PARTIAL if run.note else State.DONE, run.note)
        if run.commits:
            record_entry(actor, "consolidation.run", str(run.pk), describe_counts(run))


@retry_transaction
def claim_run(
    branch: Branch, level: str, target: str, actor: Actor, state: str = State.RUNNING, **fields: Any
) -> ConsolidationRun:
    """Store a run that has its target, or the ``slot`` of its fields, alone. Raises Conflict."""
    now, slot = read_time(), fields.pop("slot", f"{branch.pk}:{level}:{target}")
    run = ConsolidationRun(
        project_id=branch.project_id,
        branch=branch,
        level=level,
        target=target,
        state=state,
        slot=slot,
        lease_until=now + (QUEUE_LEASE if state == State.QUEUED else LEASE),
        started_at=now,
        created_by=actor.label[:200],
        **fields,
    )
    with transaction.atomic():
        dead = ConsolidationRun.objects.filter(slot=slot, state=State.RUNNING, lease_until__lt=now)
        dead.update(slot=None, state=State.FAILED, note=DIED, finished_at=now)
        if not insert_all([run], ignore_conflicts=True):
            raise Conflict("{target} is being consolidated already.", target=target)
    return run


@retry_transaction
def end_run(run: ConsolidationRun, state: str, note: str) -> None:
    run.state, run.note, run.finished_at = state, note[:500], timezone.now()
    run.slot = run.lease_until = None
    run.save(force_update=True)


@retry_transaction
def postpone_run(run: ConsolidationRun, seconds: float) -> None:
    """Give a run back, to be taken again after so many seconds."""
    run.state, run.lease_until = State.QUEUED, read_time() + timedelta(seconds=seconds)
    run.save(force_update=True)


def take_queued(run_id: UUID) -> ConsolidationRun | None:
    """Begin a queued run; return None for one that another worker has, or that was given up."""
    queued = ConsolidationRun.objects.filter(pk=run_id, state=State.QUEUED)
    if not queued.update(state=State.RUNNING, lease_until=read_time() + LEASE):
        return None
    return ConsolidationRun.objects.select_related("branch").get(pk=run_id)


def show_progress(run: ConsolidationRun) -> None:
    """Store what a language model was asked so far, as a sign of life."""
    run.lease_until = read_time() + LEASE
    ConsolidationRun.objects.filter(pk=run.pk).update(**{name: getattr(run, name) for name in PROGRESS})


def list_own_seqs(run: ConsolidationRun) -> set[tuple[int, int]]:
    """Return the commits of a run as branch and number."""
    commits = Commit.objects.filter(pk__in=[UUID(uid) for uid in run.commits])
    return set(commits.values_list("branch_id", "seq"))


def drop_run(run: ConsolidationRun) -> None:
    """Delete the row of a run that read nothing and changed nothing."""
    ConsolidationRun.objects.filter(pk=run.pk).delete()


def store_commit(run: ConsolidationRun, commit: Commit | None, counts: Mapping[str, int]) -> dict[str, Any]:
    """Store a commit of a run and what it did, in the commit's transaction; return the new values.

    The run itself is changed by its caller, after the transaction, which may be run twice.
    """
    values: dict[str, Any] = {name: getattr(run, name) + number for name, number in counts.items()}
    values["commits"] = [*run.commits, *([str(commit.pk)] if commit else [])]
    values["lease_until"] = read_time() + LEASE
    ConsolidationRun.objects.filter(pk=run.pk).update(**values)
    return values


def describe_counts(run: ConsolidationRun) -> dict[str, Any]:
    """Return what the audit trail says of a run."""
    counts = {name: getattr(run, name) for name in COUNTS}
    return {"level": run.level, "target": run.target, "branch": run.branch.name, "state": run.state, **counts}


def is_empty(run: ConsolidationRun) -> bool:
    """Return whether a run read nothing new and changed nothing."""
    return not (run.commits or any(getattr(run, name) for name in COUNTS))


def find_read_to(branch: Branch, level: str, target: str) -> datetime | None:
    """Return up to which commit's time earlier runs have read a target."""
    runs = ConsolidationRun.objects.filter(branch=branch, level=level, target=target, read_to__isnull=False)
    return runs.order_by("-read_to").values_list("read_to", flat=True).first()
