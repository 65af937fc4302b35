"""Queueing of texts for embedding, for any model, in the writer's transaction."""

from collections.abc import Sequence
from typing import Any

from memory.engines.embedding.engine import enqueue_texts, get_embedding_states
from memory.engines.embedding.models import embedder_is_on
from memory.engines.versions.commits import CommitWriter
from memory.models import BranchedModel, Vector
from memory.queue.producer import enqueue


def enqueue_embedding(commit: CommitWriter, rows: Sequence[BranchedModel]) -> None:
    """Queue the texts of rows for embedding, and notify the worker.

    Before the rows are written, what it reads is noted still, and they are written together.
    """
    requested = [
        row for row in rows if getattr(row, "embed", True) is not False and getattr(row, row.TEXT).strip()
    ]
    if requested and embedder_is_on():
        project_id = commit.actor.project_id
        texts = {row.content_hash: getattr(row, row.TEXT) for row in requested}  # type: ignore[attr-defined]  # models with TEXT have it
        enqueue("memory.embed", str(project_id))
        enqueue_texts(project_id, texts, commit.at)


def enqueue_missing(commit: CommitWriter, rows: Sequence[Any]) -> None:
    """Queue the texts of rows that were stored before, as far as they have no vector of the present model."""
    if not rows or not embedder_is_on():
        return
    hashes = {row.content_hash: row for row in rows}
    states = get_embedding_states(commit.actor.project_id, hashes)
    done = (Vector.State.READY, Vector.State.NONE)
    missing = [row for value, row in hashes.items() if states[value][0] not in done]
    enqueue_embedding(commit, missing)
