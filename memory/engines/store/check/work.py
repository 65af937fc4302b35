"""Background work: messages of the queue, and times of the schedule."""

import json
import logging
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from celery.app import app_or_default
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.check.rows import walk_rows
from memory.models import Branch, Erasure, EvalRun, NearCheck, QueueMessage, Session, Vector

GRACE = timedelta(minutes=5)  # between the clocks of machines that share a store
UNKNOWN_TASK = ProblemKind(
    "unknown_task",
    "messages of the queue with a task that this Day1 does not have",
    repair="deletes the message; a sweep finds the work that it announced",
)
UNREADABLE_MESSAGE = ProblemKind(
    "unreadable_message",
    "messages of the queue that cannot be read",
    repair="deletes the message; a sweep finds the work that it announced",
)
SET_ASIDE = ProblemKind(
    "task_set_aside",
    "tasks that stopped their worker and wait for a person",
    repair="deletes those of which the work is done",
    advice="Look into the log, mend the reason, and run them again: manage.py retry_tasks.",
)
BEAT_IN_FUTURE = ProblemKind(
    "beat_in_future",
    "periodic tasks whose last run lies in the future, so that they rest until then",
    repair="takes them as run now",
)
COMMIT_IN_FUTURE = ProblemKind(
    "commit_in_future",
    "branches whose newest commit lies in the future",
    advice="The clock of the machine was set back, or was wrong then: set it right.",
)
logger = logging.getLogger(__name__)
Done = Callable[..., bool]  # takes the arguments of a task


def is_embedded(project_id: str) -> bool:
    return not Vector.objects.filter(project=UUID(project_id), state=Vector.State.PENDING).exists()


def is_compared(project_id: str) -> bool:
    return not NearCheck.objects.filter(project=UUID(project_id)).exists()


def is_learned(session_pk: int) -> bool:
    """Return whether a session was learned from, or never will be."""
    waiting = Q(consolidated_at=None) | Q(consolidated_at__lt=F("ended_at"))
    live = Session.objects.filter(erased_at=None, branch__archived_at=None)
    return not live.filter(waiting, pk=session_pk).exists()


def is_ended(session_pk: int) -> bool:
    """Return whether a session runs no more: its end learns from all of it."""
    return not Session.objects.filter(pk=session_pk, status=Session.Status.ACTIVE, erased_at=None).exists()


def is_pinned(branch_pk: int) -> bool:
    return not Branch.objects.live().filter(pk=branch_pk, indexed=False).exists()


def is_evaluated(run_id: str) -> bool:
    return not EvalRun.objects.filter(pk=UUID(run_id)).exclude(state__in=EvalRun.ENDED).exists()


def is_erased() -> bool:
    return not Erasure.objects.filter(state=Erasure.State.PENDING).exists()


# An app to the right adds its own tasks here.
FINISHED: dict[str, Done] = {
    "memory.embed": is_embedded,
    "memory.near": is_compared,
    "memory.consolidate": is_learned,
    "memory.learn": is_ended,
    "memory.hold_past": is_pinned,
    "memory.run_eval": is_evaluated,
    "memory.sweep_erasures": is_erased,
}


@add_check("queue", "Messages of the queue, each with a task that is known")
def check_queue(store: CheckedStore, findings: Findings) -> None:
    known = load_task_names()
    for batch in walk_rows(store, store.rows(QueueMessage), findings):
        for message in batch:
            check_message(message, known, findings)


def load_task_names() -> set[str]:
    app = app_or_default()
    app.loader.import_default_modules()
    return set(app.tasks)


def check_message(message: QueueMessage, known: set[str], findings: Findings) -> None:
    name = read_task(message)
    if name is None:
        findings.add(UNREADABLE_MESSAGE, str(message.pk))
    elif name not in known:
        findings.add(UNKNOWN_TASK, f"{name} ({message.pk})")
    elif message.set_aside_at:
        findings.add(SET_ASIDE, message.key or name)


def read_task(message: QueueMessage) -> str | None:
    """Return the name of a message's task; None where it cannot be read."""
    try:
        return str(json.loads(message.payload)["headers"]["task"])
    except (ValueError, TypeError, KeyError):
        return None


@add_check("clock", "Times of the schedule and of commits, none of them to come")
def check_clock(store: CheckedStore, findings: Findings) -> None:
    now = timezone.now()
    for batch in walk_rows(store, find_early_tasks(store.rows(PeriodicTask)), Findings("")):
        for task in batch:
            findings.add(BEAT_IN_FUTURE, f"{task.name}: {task.last_run_at:%Y-%m-%d %H:%M} UTC")
    for batch in walk_rows(store, store.rows(Branch).filter(head_at__gt=now + GRACE), Findings("")):
        for branch in batch:
            findings.add(COMMIT_IN_FUTURE, f"{branch.name}: {branch.head_at:%Y-%m-%d %H:%M} UTC")


def find_early_tasks(tasks: Any) -> Any:
    """Return the periodic tasks whose last run is still to come."""
    return tasks.filter(last_run_at__gt=timezone.now() + GRACE)


# ---- tasks that were set aside -----------------------------------------------------------------------


def clear_finished() -> int:
    """Delete the messages that were set aside and of which the work is done; return how many.

    A sweep does the work of a lost message: nothing is left then that a person could run again.
    """
    finished = list_finished()
    for message in finished:
        logger.warning("The task %s was set aside; its work is done, so it is gone", message.key)
    if finished:
        with transaction.atomic():
            QueueMessage.objects.set_aside().order_by().filter(pk__in=[one.pk for one in finished]).delete()
    return len(finished)


def list_finished() -> Sequence[QueueMessage]:
    """Return the messages that were set aside and of which the work is done."""
    return [message for message in QueueMessage.objects.set_aside() if is_finished(message)]


def is_finished(message: QueueMessage) -> bool:
    name, bracket, args = message.key.partition("[")
    if name not in FINISHED:
        return False
    try:
        return FINISHED[name](*json.loads(bracket + args))
    except (ValueError, TypeError):  # a key that was cut
        return False
