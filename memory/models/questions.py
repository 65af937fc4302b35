"""Saved questions with the facts that a search should find, their runs, and the log of searches."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from memory.db.fields import JSONTextField
from memory.models.nodes import uuid7
from memory.models.projects import MadeRow, Project, ProjectRow

MAX_EXPECTED = 20  # facts of one question
MAX_QUESTIONS = 1000  # of a project: a run puts all of them


class Question(ProjectRow, MadeRow):
    """A question and the ids of the facts that should be found, on the branch where it was saved."""

    text = models.TextField()
    expected = JSONTextField(default=list)
    category = models.CharField(max_length=100, blank=True, default="")
    repository = models.CharField(max_length=1000, blank=True, default="")
    note = models.CharField(max_length=500, blank=True, default="")
    branch = models.CharField(max_length=200)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.text[:100]


class EvalRun(ProjectRow, MadeRow):
    """One run of all questions, with its figures and the ranks of each question; no text is repeated."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    branch = models.CharField(max_length=200)
    seq = models.BigIntegerField()
    is_past = models.BooleanField(default=False)  # a point was asked for, not the branch as it was then
    at = models.DateTimeField(null=True)  # the point, where it is a time: at which expiry is judged
    recipe = models.CharField(max_length=50)
    k = models.PositiveSmallIntegerField()
    against = JSONTextField(default=dict)  # branch, seq, recipe and time of the other side, if any
    question_ids = JSONTextField(default=list)  # those to put; empty once it has ended
    questions = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)  # of the questions, so far
    figures = JSONTextField(default=dict)
    results = JSONTextField(default=list)
    error = models.CharField(max_length=300, blank=True, default="")  # why it failed
    took_ms = models.FloatField(default=0)

    ENDED: ClassVar = (State.DONE, State.FAILED)

    def __str__(self) -> str:
        return f"{self.branch} · {self.recipe}"


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
