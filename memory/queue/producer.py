"""Sending of background tasks by name: engines never import them. A lost message only costs seconds."""

import atexit
import logging
from collections.abc import Sequence
from typing import Any

from celery import Celery
from celery.app import app_or_default
from django.db import transaction
from kombu.utils.json import dumps

from memory.clock import read_time
from memory.db.raw_select import Statement, fetch_each, plan_equal
from memory.models import QueueMessage
from memory.queue.broker import in_database
from memory.queue.publisher import publisher, send_task

logger = logging.getLogger(__name__)

NAMES = frozenset(
    {
        "conversations.compare_replay",
        "conversations.consolidate",
        "conversations.replay",
        "curation.score",
        "curation.verify",
        "memory.catch_up",
        "memory.consolidate",
        "memory.count_usage",
        "memory.deliver_webhooks",
        "memory.embed",
        "memory.hold_past",
        "memory.learn",
        "memory.near",
        "memory.run_eval",
        "memory.sweep_erasures",
        "memory.sweep_removals",
    }
)

atexit.register(publisher.flush)  # for a command that ends at once


def enqueue(name: str, *args: Any) -> None:
    """Send the task ``name`` when the running transaction commits (or now, outside of one).

    Never fails a write: when the queue does not accept it, a periodic sweep finds the work later. Raises
    ValueError for a name that no engine may send.
    """
    if name not in NAMES:
        raise ValueError(f"{name} is not among the tasks that engines send")
    app = app_or_default()
    if in_database(app.conf.broker_url):
        store_message(app, name, args)
    else:
        transaction.on_commit(lambda: publisher.queue_task(app, name, args))


def list_set_aside() -> Sequence[QueueMessage]:
    """Return the tasks that stopped their worker and wait for a person; oldest first."""
    return list(QueueMessage.objects.set_aside())


def retry_set_aside() -> int:
    """Queue the tasks again that were set aside; return their number."""
    with transaction.atomic():
        waiting = QueueMessage.objects.set_aside().order_by()
        return waiting.update(set_aside_at=None, tries=0, claim=None, visible_at=read_time())


def build_key(name: str, args: tuple[Any, ...]) -> str:
    return f"{name}{dumps(args)}"[:200]


def is_set_aside(name: str, *args: Any) -> bool:
    """Return whether the task stopped its worker each time, so that it is not sent again by itself."""
    return QueueMessage.objects.set_aside().filter(key=build_key(name, args)).exists()


def is_queued(name: str, *args: Any) -> bool:
    """Return whether the task waits or a worker has it; unknown of a queue outside of the database."""
    return QueueMessage.objects.filter(key=build_key(name, args)).exists()


def plan_waiting(key: str) -> list[Statement]:
    """Return the statement that reads whether a message waits already, for ``read_together``."""
    return plan_equal(QueueMessage, ("claim",), key=[key])


def store_message(app: Celery, name: str, args: tuple[Any, ...]) -> None:
    from memory.queue.broker.transport import KEY, short_write

    try:
        key = build_key(name, args)
        with short_write():
            # A waiting message will see what this transaction wrote, as it cannot be claimed before the
            # commit. Where writers do not queue it can be; then the sweep finds the work. One that was set
            # aside, which nobody claims, blocks a second message too.
            if (None,) not in fetch_each(plan_waiting(key)):
                send_task(app, name, args, headers={KEY: key})
    except Exception:
        logger.exception("%s%r was not queued; a sweep will find the work", name, args)
