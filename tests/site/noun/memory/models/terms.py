"""Terms: what a word means in a project."""

from django.db import models

from memory.models.projects import ProjectRow


class Term(ProjectRow):
    """A word and its meaning; a project has each word once."""

    name = models.CharField(max_length=60)
    meaning = models.CharField(max_length=300)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_term_of_a_name")]

    def __str__(self) -> str:
        return self.name
