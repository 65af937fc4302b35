"""The rows of runs: claimed by one worker at a time, and ended in a state that says how it went.

One whose process died stands as failed after a minute.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from conversations.models import ConsolidationRun
from conversations.models.runs import COUNTS, VERDICTS
from memory.actors import Actor
from memory.clock import read_time
from memory.db.bulk_sql import insert_all
from memory.db.transactions import retry_transaction
from memory.engines.audit.trail import record_entry
from memory.exceptions import RunTaken
from memory.models import Branch, Commit, Session
from memory.queue.producer import enqueue

LEASE = timedelta(seconds=60)  # without a sign of life: its process is taken for dead
BEAT_SECONDS = 15.0
QUEUE_LEASE = timedelta(minutes=15)  # of a queued run: its message is taken for lost
DIED = "The process that ran it ended."


@contextmanager
def show_life(run: ConsolidationRun) -> Iterator[None]:
    """Renew the lease of a run as long as the block lasts. A dry run's row is seen by nobody else."""
    if connection.in_atomic_block:
        yield
        return
    stopping = threading.Event()
    threading.Thread(target=renew_lease, args=(run, stopping), daemon=True).start()
    try:
        yield
    finally:
        stopping.set()  # and no wait: the thread may be in a query


def renew_lease(run: ConsolidationRun, stopping: threading.Event) -> None:
    rows = ConsolidationRun.objects.filter(pk=run.pk, state=State.RUNNING)
    while not stopping.wait(BEAT_SECONDS):
        try:
            rows.update(lease_until=read_time() + LEASE)
        except DatabaseError:  # the next beat may come through
            continue
        finally:
            connection.close()


def end_dead_runs() -> None:
    """Mark runs as failed whose process died, and begin those of sessions anew; queue those again whose
    message was lost, that waited for a model, or that died asking for verdicts.
    """
    now = read_time()
    dead = ConsolidationRun.objects.filter(lease_until__lt=now)
    dead.filter(state=State.RUNNING, prompt=VERDICTS).update(state=State.QUEUED)
    for run in dead.filter(state=State.RUNNING):
        ended = {"slot": None, "state": State.FAILED, "note": DIED, "finished_at": now}
        if dead.filter(pk=run.pk, state=State.RUNNING).update(**ended):
            queue_session(run)
    for run_id in list(dead.filter(state=State.QUEUED).values_list("pk", flat=True)):
        if dead.filter(pk=run_id, state=State.QUEUED).update(lease_until=now + QUEUE_LEASE):
            enqueue("conversations.consolidate", str(run_id))


def queue_session(run: ConsolidationRun) -> None:
    """Queue the session of a dead run."""
    if run.level == ConsolidationRun.Level.SESSION:
        rows = Session.objects.filter(branch=run.branch_id, key=run.target)
        for pk in rows.values_list("pk", flat=True):
            enqueue("memory.consolidate", pk)


PROGRESS = ("calls", "input_tokens", "output_tokens", "mode", "model", "prompt", "lease_until")
State, Level = ConsolidationRun.State, ConsolidationRun.Level


@contextmanager
def open_run(branch: Branch, level: str, target: str, actor: Actor) -> Iterator[ConsolidationRun]:
    """Claim a target for a run that ends with the block, as ``carry_out`` says.

    Raises RunTaken while another run has the target.
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
    """Store a run that has its target, or the ``slot`` of its fields, alone. Raises RunTaken."""
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
        if not insert_all([run], ignore_conflicts=True):
            dead = ConsolidationRun.objects.filter(slot=slot, state=State.RUNNING, lease_until__lt=now)
            dead.update(slot=None, state=State.FAILED, note=DIED, finished_at=now)
            if not insert_all([run], ignore_conflicts=True):
                raise RunTaken(target=target)
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


def set_values(run: ConsolidationRun, values: Mapping[str, Any]) -> None:
    """Set what ``store_commit`` has stored."""
    for name, value in values.items():
        setattr(run, name, value)


def mark_undone(run: ConsolidationRun, actor: Actor) -> None:
    """Store that somebody has undone a run, in the transaction of that."""
    run.state, run.undone_at, run.undone_by = State.UNDONE, timezone.now(), actor.label[:200]
    run.save(update_fields=["state", "undone_at", "undone_by"])
    record_entry(actor, "consolidation.undo", str(run.pk), describe_counts(run))


def describe_counts(run: ConsolidationRun) -> dict[str, Any]:
    """Return what the audit trail says of a run."""
    counts = {name: getattr(run, name) for name in COUNTS}
    return {"level": run.level, "target": run.target, "branch": run.branch.name, "state": run.state, **counts}


def is_empty(run: ConsolidationRun) -> bool:
    """Return whether a run read nothing new and changed nothing."""
    return not (run.commits or any(getattr(run, name) for name in COUNTS))
