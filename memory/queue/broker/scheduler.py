"""The scheduler of periodic tasks: defaults in code, changes of the admin in the database."""

from typing import Any, Self

from django.db.models import QuerySet
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry


class Entry(ModelEntry):
    @classmethod
    def from_entry(cls, name: str, app: Any = None, **entry: Any) -> Self:
        """Return the stored entry if there is one: a restart must not undo changes of the admin."""
        if stored := PeriodicTask.objects.filter(name=name).first():
            return cls(stored, app=app)
        return super().from_entry(name, app=app, **entry)


class Scheduler(DatabaseScheduler):
    Entry = Entry

    def enabled_models_qs(self) -> QuerySet[PeriodicTask]:
        """Return all enabled tasks.

        The library leaves out those whose hour is more than two away: a machine that slept through the night
        would never run what was due then.
        """
        return self.Model.objects.enabled()
