"""Answers to deletions: nothing, the erasure that was asked for, or a report on many."""

from typing import Any

from rest_framework import serializers as s

from memory.answers.erasures import erasure
from memory.answers.rendering import build_renderer
from memory.engines.deletion.memories import Deletion
from memory.models import Erasure


class DeletionShape(s.Serializer):
    """What was deleted by a filter; with ``dry_run`` what would be: nothing was deleted."""

    dry_run = s.BooleanField()
    count = s.IntegerField(help_text="How many fit.")
    ids = s.ListField(child=s.CharField(), help_text="The first 10 of them.")
    counts = s.DictField(
        child=s.IntegerField(), help_text="Kind -> number, with what belongs to them and goes along."
    )
    commit_id = s.UUIDField(
        source="commit.pk", allow_null=True, help_text="Undo it to bring all back; null where there is none."
    )


_render_counts = build_renderer(DeletionShape, "commit_id")


def render_deletion(done: Deletion) -> dict[str, Any]:
    """Return what was deleted by a filter."""
    return _render_counts(done, commit_id=str(done.commit.pk) if done.commit else None)


def render_done(result: Any) -> dict[str, Any] | None:
    """Return nothing of what was hidden, and of what was erased the erasure."""
    return erasure(result) if isinstance(result, Erasure) else None


def find_code(result: Any) -> int:
    """Return the status of a deletion: 202 where the erasure still waits for something."""
    if not isinstance(result, Erasure):
        return 204
    return 200 if result.state == Erasure.State.DONE else 202
