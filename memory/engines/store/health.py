"""Health of the store: liveness, and the waiting or failed work of a project."""

import logging
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from celery.app import app_or_default
from django.db import DatabaseError, connection
from django.db.models import Min
from django.utils import timezone

from memory.actors import Actor
from memory.db.backend import get_backend, get_features, get_file_check
from memory.db.lineage import EVERYBODY
from memory.db.process_group import get_group
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.store.backups import describe_backups
from memory.engines.store.check.results import describe_last
from memory.engines.support.model_budgets import read_spending
from memory.engines.support.usage import UsageEngine, report_usage
from memory.models import QueueMessage, Vector
from memory.queue.broker import in_database
from memory.queue.publisher import publisher

logger = logging.getLogger(__name__)

WORKER = "day1-worker"  # name of the thread in which `up` runs the worker
LATE = timedelta(seconds=60)  # anything that waits longer has no worker
TIMEOUT_SECONDS = 1.0  # seconds to wait for a worker behind another broker

HealthReport = dict[str, Any]


def check_health(actor: Actor | None) -> HealthReport:
    """Return the health: ``status`` for everybody, and its parts for an actor of no single end user."""
    if (state := check_database()) != "ok":
        return describe_trouble(state, actor)
    queue, answering = count_backlog(), check_broker()
    parts: HealthReport = {
        "database": state,
        "storage": check_storage(),
        "broker": answering,
        "worker": check_worker(queue, answering),
        "queue": queue,
        "store_check": describe_last(),
    }
    if (backups := describe_backups()) is not None:
        parts["backup"] = backups
    if actor is None or actor.end_user != EVERYBODY:  # whose parts count what is others'
        return {"status": get_overall_status(parts)}
    if actor.project_id is None:  # a key of the server
        return {"status": get_overall_status(parts), **parts}
    actor.require_scope("read")
    parts["embedding"] = EmbeddingEngine().count_backlog(actor.project_id)
    parts["quota"] = report_usage(UsageEngine().get_usage(actor=actor))
    return {"status": get_overall_status(parts), **parts}


def get_overall_status(parts: HealthReport) -> str:
    stopped = parts["worker"] == "stopped" or parts["broker"] != "ok" or parts["queue"]["set_aside"]
    trouble = stopped or parts["storage"] != "ok" or parts.get("embedding", {}).get("error")
    trouble = trouble or parts.get("quota", {}).get("full")
    trouble = trouble or parts.get("backup", {}).get("overdue") or parts["store_check"]["problems"]
    return "degraded" if trouble else "ok"


def check_database() -> str:
    """Return ok, damaged where a part of it cannot be read, or error where nothing can."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations")
    except DatabaseError:
        return "error"
    return "damaged" if get_backend().find_damage() else "ok"


def is_damaged() -> bool:
    """Return whether nothing is written to the store before it is repaired."""
    return get_backend().find_damage() is not None


def read_past_damage(past: bool = True) -> AbstractContextManager[None]:
    """Let this thread read what can be read of a damaged store, for a page that says so."""
    return get_backend().read_past_damage(past)


def is_reading_past_damage() -> bool:
    return get_backend().reads_past_damage


def describe_trouble(state: str, actor: Actor | None) -> HealthReport:
    """Return the health of a store that cannot be read, or not all of it: the rest is not asked."""
    damage = get_backend().find_damage()
    if damage is None:
        return {"status": "degraded", "database": state}
    if actor is None or actor.end_user != EVERYBODY:  # whose parts count what is others'
        return {"status": "failing"}
    actor.require_scope("read")
    parts = {"damage": asdict(damage), "store_check": describe_last()}
    return {"status": "failing", "database": state, **parts}


def check_storage() -> str:
    """Return ok, low, full, read_only or failing: whether the disk takes writes."""
    state = get_backend().storage_state()
    return state


def count_backlog() -> HealthReport:
    """Count the due and unclaimed messages, and those set aside, where the queue is in the database."""
    if not in_database(app_or_default().conf.broker_url):
        return {"waiting": None, "oldest_seconds": None, "set_aside": None}
    waiting = QueueMessage.objects.filter(claim=None, visible_at__lte=timezone.now(), set_aside_at=None)
    return {
        "waiting": waiting.count(),
        "oldest_seconds": age_seconds(waiting.aggregate(at=Min("visible_at"))["at"]),
        "set_aside": QueueMessage.objects.set_aside().count(),
    }


def read_figures() -> Iterator[tuple[str, str, float]]:
    """Yield name, help and value of what waits now, in all projects, where it is known."""
    queue = count_backlog()
    if queue["waiting"] is not None:
        yield "queue_messages", "Messages of the queue that are due.", queue["waiting"]
        yield "queue_oldest_seconds", "For how long the oldest of them has been due.", queue["oldest_seconds"]
        yield "queue_set_aside", "Messages that failed again and again.", queue["set_aside"]
    pending = Vector.objects.filter(n=0, state=Vector.State.PENDING)
    yield "embedding_pending", "Texts that wait for their vector.", pending.count()
    if get_features().has_online_backup:
        yield (
            "log_bytes",
            "Size of the database's write-ahead log.",
            get_file_check().read_state()["log_bytes"],
        )
    yield from read_spending()


def age_seconds(since: datetime | None) -> float:
    return 0.0 if since is None else round((timezone.now() - since).total_seconds(), 3)


def check_broker() -> str:
    """Return ok, or silent where another broker than the database does not answer."""
    app = app_or_default()
    return "ok" if in_database(app.conf.broker_url) or publisher.ping_broker(app) else "silent"


def ping_workers() -> bool:
    """Return whether a worker behind another broker answers; False where the broker itself does not."""
    try:
        return bool(app_or_default().control.ping(timeout=TIMEOUT_SECONDS, limit=1))
    except Exception as error:  # of several libraries, one for each kind of broker
        logger.warning("The broker does not answer: %s", error)
        return False


def check_worker(queue: HealthReport, answering: str) -> str:
    """Return running, stopped, or unknown: a worker in another process may simply have had nothing to do."""
    group = get_group()
    if (group and group.has_worker) or any(thread.name == WORKER for thread in threading.enumerate()):
        return "running"
    if queue["oldest_seconds"] is None:
        return "running" if answering == "ok" and ping_workers() else "stopped"
    return "stopped" if queue["oldest_seconds"] > LATE.total_seconds() else "unknown"
