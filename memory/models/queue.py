"""The queue of the default broker: messages as rows, sent in the writer's own transaction."""

from typing import Self
from uuid import UUID

from django.db import models

from memory.clock import read_time
from memory.models.nodes import uuid7


class QueueQuerySet(models.QuerySet["QueueMessage"]):
    def due(self, queue: str) -> Self:
        """Return messages that may be claimed now, in order of delivery."""
        due = self.filter(queue=queue, visible_at__lte=read_time(), set_aside_at=None)
        return due.order_by("priority", "visible_at")

    def held_by(self, holder: UUID) -> Self:
        return self.filter(claim=holder)

    def set_aside(self) -> Self:
        """Return messages whose work stopped its worker each time; oldest first."""
        return self.exclude(set_aside_at=None).order_by("set_aside_at")

    def free(self) -> int:
        """Release every claim of these messages; return their number."""
        return self.exclude(claim=None).update(claim=None, visible_at=read_time())


class QueueMessage(models.Model):
    """A message, due at ``visible_at``; a claim moves that time to the end of a lease."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    queue = models.CharField(max_length=100)
    priority = models.SmallIntegerField(default=0, help_text="Lower comes first.")
    visible_at = models.DateTimeField()
    claim = models.UUIDField(null=True)
    key = models.CharField(max_length=200, blank=True, help_text="Two waiting messages never have one key.")
    payload = models.TextField()
    tries = models.PositiveSmallIntegerField(default=0, help_text="How often its work was begun.")
    set_aside_at = models.DateTimeField(null=True, help_text="Since when it waits for a person.")

    objects = QueueQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["queue", "priority", "visible_at"], name="queue_order"),
            models.Index(fields=["key"], name="queue_key"),
        ]

    def __str__(self) -> str:
        return f"{self.queue} {self.key or self.pk}"
