"""Scores: one dimension of a rating of a fact or of anything else."""

from django.db import models

from curation.models.verifications import Verification
from memory.models import Project
from memory.models.nodes import uuid7


class Score(models.Model):
    """What a scorer gives a target in one dimension, 0 to 1, and why."""

    class Target(models.TextChoices):
        FACT = "fact"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    verification = models.ForeignKey(Verification, null=True, on_delete=models.CASCADE, related_name="scores")
    target_type = models.CharField(max_length=20, choices=Target.choices)
    target_id = models.UUIDField()
    scorer = models.CharField(max_length=50)
    dimension = models.CharField(max_length=50)
    value = models.FloatField()
    explanation = models.TextField(blank=True, default="")
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["project", "target_type", "target_id"], name="score_target")]

    def __str__(self) -> str:
        return f"{self.dimension} {self.value}"
