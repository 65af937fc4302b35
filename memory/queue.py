"""Work for later, by name: engines never import tasks. A lost message costs seconds, never data."""

import logging
from time import monotonic
from typing import Any

from celery import Celery
from celery.app import app_or_default
from django.db import transaction
from kombu.utils.json import dumps

from memory.broker import in_database
from memory.models import QueueMessage

logger = logging.getLogger(__name__)

NAMES = frozenset(
    {"memory.catch_up", "memory.consolidate", "memory.embed", "memory.near", "memory.hold_past"}
)

PAUSE = 5.0  # seconds in which a broker that did not answer is not asked again

_silent_until = 0.0


def enqueue(name: str, *args: Any) -> None:
    """Send the task ``name`` when the running transaction commits (or now, outside of one).

    Never fails a write: when the queue does not take it, the sweep of beat finds the work later.
    Raises ValueError for a name that no engine may send.
    """
    if name not in NAMES:
        raise ValueError(f"{name} is not among the tasks that engines send")
    app = app_or_default()
    if in_database(app.conf.broker_url):
        _store(app, name, args)
    else:
        transaction.on_commit(lambda: _publish(app, name, args))


def _store(app: Celery, name: str, args: tuple[Any, ...]) -> None:
    from memory.broker.transport import KEY, short_write

    try:
        key = f"{name}{dumps(args)}"[:200]
        with short_write():
            # One that waits will see what this transaction wrote, as it cannot be taken before the
            # commit. Where writers do not queue it can: then the sweep sees it.
            if not QueueMessage.objects.waiting(key).exists():
                _send(app, name, args, headers={KEY: key})
    except Exception:
        logger.exception("%s%r was not queued; a sweep will find the work", name, args)


def _send(app: Celery, name: str, args: tuple[Any, ...], **options: Any) -> None:
    app.send_task(name, args=args, ignore_result=True, retry=False, **options)


def _publish(app: Celery, name: str, args: tuple[Any, ...]) -> None:
    global _silent_until
    if monotonic() < _silent_until:
        return
    try:
        _send(app, name, args)
    except Exception as error:
        _silent_until = monotonic() + PAUSE
        logger.warning("The broker does not answer, the sweeps will find the work: %s", error)
