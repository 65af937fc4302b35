"""What follows the end of a replay by itself: the comparison with its source, and scores of both."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from conversations.engines.conversations import ConversationEngine
from conversations.engines.semantic_diff.engine import SemanticDiffEngine
from conversations.models import Replay
from memory.actors import Actor
from memory.db.retry import retry_transaction
from memory.exceptions import Day1Error


class ReplayScoring(Protocol):
    """Interface of the scores of another app, which registers itself."""

    def score_replay(self, row: Replay, actor: Actor) -> None:
        """Have judges rate a replay and its source, in the background."""

    def load_scores(
        self, project_id: UUID, conversation_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[str, float]]:
        """Return the judged scores of conversations, by conversation and dimension."""


SCORINGS: list[ReplayScoring] = []


def add_scoring(scoring: ReplayScoring) -> None:
    SCORINGS.append(scoring)


def system_actor(row: Replay) -> Actor:
    """Return the actor under which a replay works by itself."""
    label = row.runner.get("label") or row.created_by
    return Actor(row.project_id, "system", label=label, scopes=frozenset({"admin"}))


@retry_transaction
def end_replay(row: Replay, open_rows: QuerySet[Replay], note: str = "") -> bool:
    """Mark a replay as done, with its comparison, if it is among these rows; return whether it was.

    Its conversation is closed, and judges begin to rate both sides where that was asked for.
    """
    actor, comparison = system_actor(row), compare_sides(row)
    values = {"state": Replay.State.DONE, "note": note[:500], "comparison": comparison, "resume_at": None}
    with transaction.atomic():
        if not open_rows.update(finished_at=timezone.now(), **values):
            return False
        ConversationEngine().close_conversation(
            conversation_id=row.conversation_id, actor=actor, branch_name=row.branch.name
        )
        for scoring in SCORINGS if row.score else ():
            scoring.score_replay(row, actor)
    return True


def list_sides(row: Replay) -> dict[str, Any]:
    """Return what a comparison takes: the source as it was when the replay was made, and the replay."""
    return {
        "first": row.source_id,
        "second": row.conversation_id,
        "branch_name": row.source_branch.name,
        "other_branch": row.branch.name,
        "points": (row.source_seq, None),
    }


def compare_sides(row: Replay) -> dict[str, Any]:
    """Return the verdict and the similarities of source and replay; {} where they cannot be compared."""
    try:
        found = SemanticDiffEngine().semantic_diff(**list_sides(row), actor=system_actor(row))
    except Day1Error:  # too long, or gone
        return {}
    return {
        "verdict": found.verdict,
        "actions": found.actions.similarity,
        "reasoning": found.reasoning.similarity,
        "result": found.outcome.result_similarity,
    }
