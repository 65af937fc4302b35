"""Texts that are to be embedded, of any model: left for the worker in the writer's transaction."""

from collections.abc import Sequence

from memory.engines.commits import CommitWriter
from memory.engines.embedding import embedder_is_on, want
from memory.models import BranchedModel
from memory.queue import enqueue


def announce(commit: CommitWriter, rows: Sequence[BranchedModel]) -> None:
    """Leave the texts of new rows that want a vector to be embedded, and say so to the worker."""
    wanted = [row for row in rows if getattr(row, "embed", True) and getattr(row, row.TEXT).strip()]
    if wanted and embedder_is_on():
        project_id = commit.actor.project_id
        texts = {row.content_hash: getattr(row, row.TEXT) for row in wanted}  # type: ignore[attr-defined]
        want(project_id, texts, commit.at)
        enqueue("memory.embed", str(project_id))
