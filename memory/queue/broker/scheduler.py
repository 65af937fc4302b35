"""The scheduler of periodic tasks: defaults in code, changes of the admin in the database."""

from datetime import datetime, timedelta
from time import time
from typing import Any, Self

from celery import beat, platforms
from celery.apps.beat import Beat as CeleryBeat
from celery.schedules import schedstate
from django.db.models import QuerySet
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

MAX_AHEAD = timedelta(minutes=1)  # of a last run, beyond which the clock was set back since
LONG_AGO = timedelta(days=366)


class Entry(ModelEntry):
    last_run_at: datetime

    @classmethod
    def from_entry(cls, name: str, app: Any = None, **entry: Any) -> Self:
        """Return the stored entry if there is one: a restart must not undo changes of the admin."""
        if stored := PeriodicTask.objects.filter(name=name).first():
            return cls(stored, app=app)
        return super().from_entry(name, app=app, **entry)

    def is_due(self) -> schedstate:
        """Return whether it is due: at once where its last run is still to come, by a clock that was wrong.

        Otherwise it would wait until the clock is there again.
        """
        if self.last_run_at - self._default_now() > MAX_AHEAD:
            self.last_run_at = self._default_now() - LONG_AGO
        return super().is_due()


class Scheduler(DatabaseScheduler):
    Entry = Entry
    _ticked_at = 0.0

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due. When the clock was set back, what was to come is reckoned anew."""
        now = time()
        if now < self._ticked_at - MAX_AHEAD.total_seconds():
            self._heap = None
            self._last_full_sync = datetime.now()
        self._ticked_at = now
        wait: float = super().tick(*args, **kwargs)
        return wait

    def enabled_models_qs(self) -> QuerySet[PeriodicTask]:
        """Return all enabled tasks.

        The library leaves out those whose hour is more than two away: a machine that slept through the night
        would never run what was due then.
        """
        return self.Model.objects.enabled()


class Beat(CeleryBeat):
    def install_sync_handler(self, service: beat.Service) -> None:
        """End at SIGTERM and SIGINT, in whatever it is doing.

        Celery's own handler writes the schedule first, and so closes the connection of the query that it
        interrupts: the query's error takes the place of the exit, and beat goes on.
        """

        def stop(*_: Any) -> None:
            service.stop()
            raise SystemExit

        platforms.signals.update(SIGTERM=stop, SIGINT=stop)
