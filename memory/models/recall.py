"""The log of searches and their results, for analytics and recall checks."""

from django.db import models

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7
from memory.models.projects import Project


class RecallLog(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="recalls")
    at = models.DateTimeField()
    branch = models.CharField(max_length=200)
    query = models.TextField()
    fact_ids = JSONTextField(default=list)
    session_id = models.CharField(max_length=200, blank=True)
    agent_id = models.CharField(max_length=200, blank=True)
    surface = models.CharField(max_length=20)
