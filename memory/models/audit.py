"""The audit log. Append-only; a periodic task seals the entries of each project into a hash chain."""

from django.db import models
from django_mysql.models import FixedCharField

from memory.db.fields import JSONTextField
from memory.models.nodes import new_rid
from memory.models.projects import Project


class Entry(models.Model):
    """What was done, by whom, and in which request."""

    id = models.BigIntegerField(primary_key=True, default=new_rid, editable=False)
    at = models.DateTimeField()
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_label = models.CharField(max_length=200, blank=True)
    surface = models.CharField(max_length=20)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=300, blank=True)
    detail = JSONTextField(default=dict)
    request_id = models.CharField(max_length=64, null=True)  # added without a rewrite

    class Meta:
        abstract = True
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.action} {self.target}"


class AuditEntry(Entry):
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="audit", db_index=False)
    place = models.BigIntegerField(null=True, help_text="Its place in the sealed chain.")
    hash = FixedCharField(max_length=64, blank=True, help_text="Over this entry and the hash before it.")

    class Meta(Entry.Meta):
        indexes = [models.Index(fields=["project", "place"], name="audit_place")]


class ServerEntry(Entry):
    """An entry of the server's own trail, which outlives the projects that it tells of."""
