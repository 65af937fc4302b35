"""Background work: messages of the queue, and times of the schedule."""

import json
from datetime import timedelta
from typing import Any

from celery.app import app_or_default
from django.utils import timezone
from django_celery_beat.models import PeriodicTask

from memory.engines.store.check.problems import CheckedStore, Findings, ProblemKind, add_check
from memory.engines.store.check.rows import walk_rows
from memory.models import Branch, QueueMessage

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
