"""The scheduler of periodic tasks: defaults in code, changes of the admin in the database."""

from typing import Any, Self

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
