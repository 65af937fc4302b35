"""The queue of the embedded default: messages as rows, sent in the writer's own transaction."""

from typing import Self
from uuid import UUID

from django.db import models
from django.utils import timezone

from memory.models.nodes import uuid7


class QueueQuerySet(models.QuerySet["QueueMessage"]):
    def due(self, queue: str) -> Self:
        """What may be taken now, in the order in which it should be."""
        return self.filter(queue=queue, visible_at__lte=timezone.now()).order_by("priority", "visible_at")

    def waiting(self, key: str) -> Self:
        """Messages that nobody has begun to work on."""
        return self.filter(key=key, claim=None)

    def held_by(self, holder: UUID) -> Self:
        return self.filter(claim=holder)

    def free(self) -> int:
        """Give back every claim of these messages; returns how many there were."""
        return self.exclude(claim=None).update(claim=None, visible_at=timezone.now())


class QueueMessage(models.Model):
    """A message waits until ``visible_at``; who claims it moves that time to the end of a lease."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    queue = models.CharField(max_length=100)
    priority = models.SmallIntegerField(default=0, help_text="Lower comes first.")
    visible_at = models.DateTimeField()
    claim = models.UUIDField(null=True)
    key = models.CharField(max_length=200, blank=True, help_text="Two waiting messages never have one key.")
    payload = models.TextField()

    objects = QueueQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["queue", "priority", "visible_at"], name="queue_order"),
            models.Index(fields=["key"], name="queue_key"),
        ]

    def __str__(self) -> str:
        return f"{self.queue} {self.key or self.pk}"
