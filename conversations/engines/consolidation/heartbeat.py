"""Signs of life of runs: a run whose process died stands as failed after a minute."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import DatabaseError, connection

from conversations.models import ConsolidationRun
from conversations.models.runs import VERDICTS
from memory.clock import read_time
from memory.models import Session
from memory.queue.producer import enqueue

LEASE = timedelta(seconds=60)  # without a sign of life: its process is taken for dead
BEAT_SECONDS = 15.0
QUEUE_LEASE = timedelta(minutes=15)  # of a queued run: its message is taken for lost
DIED = "The process that ran it ended."
State = ConsolidationRun.State


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
