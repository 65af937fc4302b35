"""Background work: the Celery app, the schedule, and both as threads of the server's own process.

``manage.py celery worker`` and ``manage.py celery beat`` run the same on machines of their own.
"""

import logging
import os
import sys
import threading
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from time import monotonic
from types import ModuleType
from typing import Any

from celery import Celery, signals
from celery.fixups.django import DjangoFixup
from celery.loaders.app import AppLoader
from celery.schedules import crontab
from celery.worker import state
from django.db import close_old_connections, connections

from memory.db.backend import get_backend
from memory.exceptions import QuotaExceeded
from memory.queue.broker import in_database, register_transport
from memory.queue.broker.wake import listen_to_group, notify

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "day1site.settings.dev")
register_transport()

logger = logging.getLogger(__name__)

RESTART_SECONDS = 5.0  # seconds before a failed thread restarts
REPAIR_POLL_SECONDS = 5.0  # while the store is damaged, so that nothing is sent and no task is begun

DAY_SECONDS = 86_400

# Defaults by task: seconds between two runs, or hour and minute of a run each night, or of one day of the
# week, in UTC. Changes are stored in the database (admin). What a server or its machine slept through runs
# when it is awake again.
SCHEDULE: list[tuple[str, float | tuple[int, int] | tuple[int, int, str], dict[str, Any]]] = [
    ("memory.sweep_embeddings", 30, {}),
    ("memory.sweep_near", 60, {}),
    ("memory.sweep_branches", 60, {}),
    ("memory.seal_audit", 60, {}),
    ("memory.deliver_webhooks", 15, {}),
    ("memory.sweep_sessions", 300, {}),
    ("memory.sweep_evals", 300, {}),
    ("memory.abandon_sessions", 900, {}),
    ("memory.expire", 3600, {}),
    ("memory.age_facts", (3, 10), {}),
    ("memory.clear_tasks", 60, {}),
    ("memory.count_usage", 600, {}),
    ("memory.sweep_copies", 3600, {}),
    ("memory.sweep_erasures", 300, {}),
    ("memory.sweep_removals", 300, {}),
    ("memory.check_store", (4, 10, "sun"), {}),
    ("memory.tidy", 3600, {}),
    ("memory.backup", (1, 40), {}),
    ("conversations.sweep_replays", 60, {}),
    ("conversations.sweep_runs", 60, {}),
    ("conversations.consolidate_agents", (2, 10), {}),
    ("curation.dream", (2, 40), {}),
    ("curation.sweep_verification", 60, {}),
    ("curation.sweep_scorings", 60, {}),
    ("curation.verify_due", 3600, {}),
    ("analytics.update_tallies", 300, {}),
]


def _entry(name: str, when: Any, options: dict[str, Any]) -> dict[str, Any]:
    # A run that is still queued when the next is due is dropped, so that a stopped worker finds no backlog.
    if not isinstance(when, tuple):
        return {"task": name, "schedule": when, "options": {"expire_seconds": int(when), **options}}
    hour, minute, *days = when
    schedule = crontab(hour=hour, minute=minute, day_of_week=days[0] if days else "*")
    seconds = DAY_SECONDS * (7 if days else 1)
    return {"task": name, "schedule": schedule, "options": {"expire_seconds": seconds, **options}}


class Loader(AppLoader):
    """Celery's loader, without the current folder: its files are anybody's."""

    def import_from_cwd(
        self, module: str, imp: Callable[..., Any] | None = None, package: str | None = None
    ) -> Any:
        return (imp or self.import_module)(module, package=package)

    def find_module(self, module: str) -> ModuleType:
        return import_module(module)


def install_django_fixup(celery_app: Celery) -> Any:
    """Install Celery's adaptation to Django, which puts the current folder on Python's path."""
    fixup: Any = DjangoFixup(celery_app)
    path = list(sys.path)
    installed = fixup.install()
    sys.path[:] = path
    return installed


class App(Celery):
    @cached_property
    def Beat(self) -> type:
        from memory.queue.broker.scheduler import Beat

        return self.subclass_with_self(Beat)


FIXUPS: list[Any] = [install_django_fixup]  # the stubs know names alone
app = App("day1", loader=Loader, fixups=FIXUPS)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = {name: _entry(name, when, options) for name, when, options in SCHEDULE}
app.autodiscover_tasks()
app.set_default()  # for threads that did not import this
app.Task.throws = (QuotaExceeded,)  # no error of the server: health and Home say that a project is full


@signals.task_prerun.connect
def _drop_dead_connections(**_: Any) -> None:
    # As before a request. A new connection for every task, Celery's way, costs more than most tasks.
    close_old_connections()


class Background:
    """Thread of this process that works until ``stop``, and restarts after errors."""

    name = ""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
        self._thread.start()

    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, timeout: float = 5.0) -> bool:
        """Stop the thread; return False when it still runs after ``timeout`` seconds (it ends with the
        process).
        """
        self._stopping.set()
        end = monotonic() + timeout
        while self.alive() and monotonic() < end:
            self._interrupt()  # repeatedly: Celery reads its queue once more before it stops
            self._thread.join(0.05)
        return not self.alive()

    def _run(self) -> None:
        while not self._stopping.is_set():
            if get_backend().find_damage():
                self._stopping.wait(REPAIR_POLL_SECONDS)
                continue
            try:
                self._work()
            except Exception:
                logger.exception("%s has failed", self.name)
            connections.close_all()
            if not self._stopping.wait(RESTART_SECONDS):
                logger.warning("%s starts again", self.name)

    def _work(self) -> None:
        raise NotImplementedError

    def _interrupt(self) -> None:
        """Interrupt a wait in ``_work``."""


class Worker(Background):
    """Celery worker. One for each process: Celery keeps its stop signal in a module."""

    name = "day1-worker"

    def __init__(self) -> None:
        self.ready = threading.Event()
        # Django's checks ran when this process started. They import the whole site, which must not happen in
        # two threads at once.
        os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
        super().__init__()

    def _work(self) -> None:
        state.should_stop = None
        if in_database(app.conf.broker_url):
            from memory.queue.broker.transport import free_claims

            free_claims()
        app.WorkController(
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
            ready_callback=lambda _: self.ready.set(),
        ).start()

    def _interrupt(self) -> None:
        state.should_stop = os.EX_OK  # type: ignore[assignment]  # the stubs know its first value alone
        notify()


class Beat(Background):
    """Beat scheduler. Only one may run for a database, or every task is sent twice."""

    name = "day1-beat"

    def _work(self) -> None:
        from memory.queue.broker.scheduler import Scheduler

        scheduler = Scheduler(app=app)
        wait = 0.0
        while not self._stopping.wait(wait):
            wait = REPAIR_POLL_SECONDS if get_backend().find_damage() else scheduler.tick()
        scheduler.close()


def start_worker() -> Worker:
    """Start a worker in threads of this process."""
    quiet()
    listen_to_group()
    return Worker()


def start_beat() -> Beat:
    """Start the scheduler in a thread of this process."""
    quiet()
    return Beat()


def quiet() -> None:
    for chatty in ("celery", "django_celery_beat", "kombu"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
