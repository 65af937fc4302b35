"""The queue of the embedded default: messages as rows, sent in the writer's own transaction."""

from django.db import models

from memory.models.nodes import uuid7


class QueueMessage(models.Model):
    """A message waits until ``visible_at``; who claims it moves that time to the end of a lease."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    queue = models.CharField(max_length=100)
    priority = models.SmallIntegerField(default=0)
    visible_at = models.DateTimeField()
    claim = models.UUIDField(null=True)
    payload = models.TextField()

    class Meta:
        indexes = [models.Index(fields=["queue", "visible_at"], name="queue_visible")]
