"""Terms: what a word means in a project."""

from django.db import models

from memory.models.nodes import uuid7
from memory.models.projects import Project


class Term(models.Model):
    """A word and its meaning; a project has each word once."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=60)
    meaning = models.CharField(max_length=300)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_term_of_a_name")]

    def __str__(self) -> str:
        return self.name
