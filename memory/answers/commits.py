"""What is answered of commits."""

from typing import Any

from rest_framework import serializers as s

from memory.answers.rendering import build_renderer
from memory.engines.branches.commit_titles import count_kinds


class CommitShape(s.Serializer):
    """A commit: every change belongs to one."""

    id = s.UUIDField()
    seq = s.IntegerField(help_text="Its number on its branch.")
    at = s.DateTimeField()
    kind = s.CharField()
    message = s.CharField()
    actor_kind = s.CharField()
    actor_id = s.CharField(help_text="Of the key or user: labels may be those of several.")
    actor_label = s.CharField()
    surface = s.CharField()
    session_id = s.CharField()
    task_id = s.CharField()
    agent_id = s.CharField()
    added = s.IntegerField()
    changed = s.IntegerField()
    removed = s.IntegerField()


class TitledCommitShape(CommitShape):
    """A commit with its title: what a person or an agent wrote, else what changed."""

    title = s.CharField()


class CommitDetailShape(TitledCommitShape):
    """A commit with its branch, and how many changes of each kind it made."""

    branch = s.CharField(source="branch.name")
    counts = s.DictField(child=s.IntegerField(), help_text="Of facts, verdicts, confirmations, answers, …")


commit = build_renderer(CommitShape)
titled_commit = build_renderer(TitledCommitShape)
_commit_detail = build_renderer(CommitDetailShape, "counts")


def commit_detail(row: Any) -> dict[str, Any]:
    return _commit_detail(row, counts=count_kinds(row.tally))
