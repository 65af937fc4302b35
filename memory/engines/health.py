"""Whether the memory is well: alive, and what waits or failed in a project."""

import threading
from datetime import datetime, timedelta
from typing import Any

from celery.app import app_or_default
from django.db import DatabaseError, connection
from django.db.models import Min
from django.utils import timezone
from kombu.exceptions import OperationalError

from memory.actors import Actor
from memory.broker import in_database
from memory.engines.embedding import EmbeddingEngine
from memory.models import QueueMessage

WORKER = "day1-worker"  # the name of the thread in which `up` runs the worker
LATE = timedelta(seconds=60)  # what waits longer than this has no worker
PATIENCE = 1.0  # seconds for a worker behind another broker to answer

Told = dict[str, Any]


def health(actor: Actor | None) -> Told:
    """``status`` for everybody; the parts that it is made of for who has a key."""
    if (state := database()) != "ok":
        return {"status": "degraded", "database": state}
    queue = backlog()
    parts: Told = {"database": state, "worker": worker(queue), "queue": queue}
    if actor is None:
        return {"status": status_of(parts)}
    actor.require("read")
    parts["embedding"] = EmbeddingEngine().backlog(actor.project_id)
    return {"status": status_of(parts), **parts}


def status_of(parts: Told) -> str:
    trouble = parts["worker"] == "stopped" or parts.get("embedding", {}).get("error")
    return "degraded" if trouble else "ok"


def database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return "ok"
    except DatabaseError:
        return "error"


def backlog() -> Told:
    """The messages that nobody has begun to work on, where the queue is in the database."""
    if not in_database(app_or_default().conf.broker_url):
        return {"waiting": None, "oldest_seconds": None}
    waiting = QueueMessage.objects.filter(claim=None, visible_at__lte=timezone.now())
    return {"waiting": waiting.count(), "oldest_seconds": _age(waiting.aggregate(at=Min("visible_at"))["at"])}


def _age(since: datetime | None) -> float:
    return 0.0 if since is None else round((timezone.now() - since).total_seconds(), 3)


def anybody_answers() -> bool:
    """Whether a worker behind another broker does; False where the broker itself does not."""
    try:
        return bool(app_or_default().control.ping(timeout=PATIENCE, limit=1))
    except (OperationalError, OSError):
        return False


def worker(queue: Told) -> str:
    """running, stopped, or unknown: another process may run it, and has had nothing to do."""
    if any(thread.name == WORKER for thread in threading.enumerate()):
        return "running"
    if queue["oldest_seconds"] is None:
        return "running" if anybody_answers() else "stopped"
    return "stopped" if queue["oldest_seconds"] > LATE.total_seconds() else "unknown"
