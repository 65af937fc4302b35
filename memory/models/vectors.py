"""Vectors by content hash: versions refer to them, so that copies and merges need no new ones."""

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import VectorField
from memory.db.index_tokens import vector_slot, vector_slots
from memory.models.nodes import uuid7
from memory.models.projects import Project


class Vector(models.Model):
    """The embedding of one text by one model; ``text`` is stored only until it is embedded."""

    class State(models.TextChoices):
        PENDING = "pending"
        READY = "ready"
        FAILED = "failed"
        NONE = "none"  # the model cannot read the text: its words alone find it

    slot = FixedCharField(max_length=32, primary_key=True, help_text="Of project, model and content hash.")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    model = models.CharField(max_length=200)
    content_hash = FixedCharField(max_length=64)
    n = models.BigIntegerField(default=0, help_text="The project's vector clock when it became ready.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_try = models.DateTimeField()
    error = models.CharField(max_length=300, blank=True)
    text = models.TextField(blank=True)
    data = VectorField(null=True)
    words = models.BinaryField(null=True, help_text="The words in their context, one bit a number.")

    class Meta:
        indexes = [
            models.Index(fields=["project", "model", "n"], name="vector_clock_n"),
            models.Index(fields=["state", "next_try"], name="vector_waiting"),
        ]


class VectorClock(models.Model):
    """The count of ready vectors of a project; ``epoch`` grows when some are erased, and ``read_by`` is the
    model that all texts were given to: searches use its vectors while another one replaces it.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="+")
    n = models.BigIntegerField(default=0)
    epoch = models.BigIntegerField(default=0)
    read_by = models.CharField(max_length=200, blank=True, default="")


class NearCheck(models.Model):
    """A new text that was not compared with its neighbours yet. Deleted afterwards."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    branch_id = models.BigIntegerField()
    uid = models.UUIDField()
    content_hash = FixedCharField(max_length=64)

    class Meta:
        indexes = [models.Index(fields=["project", "content_hash"], name="nearcheck_hash")]


__all__ = ["NearCheck", "Vector", "VectorClock", "vector_slot", "vector_slots"]
