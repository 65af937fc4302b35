"""Saved views: what a curator looks at in the queue, under a name."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7
from memory.models.projects import Project


class SavedView(models.Model):
    """Reasons, filters and a branch of the queue. It is its owner's; a shared one all curators may use."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    owner = models.CharField(max_length=100, help_text="The key or user that made it.")
    owner_label = models.CharField(max_length=200, blank=True)
    name = models.CharField(max_length=100)
    branch = models.CharField(max_length=200, blank=True, help_text="Its name; empty: main.")
    reasons = JSONTextField(default=list)
    filters = JSONTextField(default=dict)
    shared = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["project", "owner", "name"], name="saved_view_name")]

    def __str__(self) -> str:
        return self.name
