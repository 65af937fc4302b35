"""What follows the end of a replay by itself: the comparison with its source, and scores of both."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.replays.scores import list_scorings
from conversations.engines.semantic_diff.engine import SemanticDiff, SemanticDiffEngine, list_segments
from conversations.models import Replay
from memory.actors import Actor
from memory.db.transactions import retry_transaction
from memory.engines.embedding.engine import EmbeddingEngine, get_embedding_states
from memory.engines.support.leases import FIRST_WAIT
from memory.exceptions import Day1Error
from memory.models import Vector
from memory.queue.producer import enqueue

COMPARE_TASK = "conversations.compare_replay"


def system_actor(row: Replay) -> Actor:
    """Return the actor under which a replay works by itself."""
    label = row.runner.get("label") or row.created_by
    return Actor(row.project_id, "system", label=label, scopes=frozenset({"admin"}))


@retry_transaction
def end_replay(row: Replay, open_rows: QuerySet[Replay], note: str = "", **fields: Any) -> bool:
    """Mark a replay as done, with its comparison, if it is among these rows; return whether it was.

    Its conversation is closed, and judges begin to rate both sides where that was asked for. ``fields`` are
    stored with it.
    """
    actor, now = system_actor(row), timezone.now()
    values = {"state": Replay.State.DONE, "note": note[:500], **fields, **compare_sides(row, FIRST_WAIT)}
    with transaction.atomic():
        if not open_rows.update(finished_at=now, **values):
            return False
        if values["resume_at"]:
            enqueue(COMPARE_TASK, str(row.pk))
        ConversationEngine().close_conversation(
            conversation_id=row.conversation_id, actor=actor, branch_name=row.branch.name
        )
        for scoring in list_scorings() if row.score else ():
            scoring.score_replay(row, actor)
    return True


def list_sides(row: Replay) -> dict[str, Any]:
    """Return what a comparison takes: the source as it was when the replay was made, and the replay."""
    return {
        "conversation_id": row.source_id,
        "other": row.conversation_id,
        "branch_name": row.source_branch.name,
        "other_branch": row.branch.name,
        "points": (row.source_seq, None),
    }


def compare_again(replay_id: UUID) -> None:
    """Compare a replay that ended before all texts had their vectors, after a try to embed these."""
    row = list_compared_early().select_related("branch", "source_branch").filter(pk=replay_id).first()
    if row is None or row.finished_at is None:
        return
    EmbeddingEngine().embed_pending(row.project_id)
    age = (timezone.now() - row.finished_at).total_seconds()
    list_compared_early().filter(pk=row.pk).update(**compare_sides(row, max(age, FIRST_WAIT)))


def list_compared_early() -> QuerySet[Replay]:
    """Return the replays that are done, and were compared while texts waited for their vectors."""
    return Replay.objects.filter(state=Replay.State.DONE, resume_at__isnull=False)


def compare_sides(row: Replay, wait_seconds: float) -> dict[str, Any]:
    """Return the comparison of source and replay ({} where there can be none), and when it is made again.

    It is made again while a text waits for its vector: until then words are compared.
    """
    try:
        found = SemanticDiffEngine().semantic_diff(**list_sides(row), actor=system_actor(row))
    except Day1Error:  # too long, or gone
        return {"comparison": {}, "resume_at": None}
    comparison = {
        "verdict": found.verdict,
        "actions": found.actions.similarity,
        "reasoning": found.reasoning.similarity,
        "result": found.outcome.result_similarity,
        "method": found.reasoning.method,
    }
    again = timezone.now() + timedelta(seconds=wait_seconds) if has_pending_vectors(found) else None
    return {"comparison": comparison, "resume_at": again}


def has_pending_vectors(found: SemanticDiff) -> bool:
    """Return whether a text that was compared waits for its vector."""
    sides = found.comparison.first, found.comparison.second
    hashes = [row.content_hash for side in sides for row in list_segments(side) if row.embed]
    states = get_embedding_states(found.comparison.project_id, hashes)
    return any(state == Vector.State.PENDING for state, _ in states.values())
