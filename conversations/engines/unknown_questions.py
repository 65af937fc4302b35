"""Questions of persons about which a project knows nothing, by the least evidence that it has set."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

from memory.engines.search.answer_boost import ASKS
from memory.engines.search.candidates import PreparedQuery
from memory.engines.search.evidence import rate_rows, read_least
from memory.engines.search.ranked import read_recipe
from memory.models.hashes import normalise_text

UNKNOWN = "Day1: nothing is known here on this."
POOR = "Day1: nothing is known here on this; nearest:"


def is_unknown(
    question: PreparedQuery, rows: Sequence[Any], cosines: Mapping[int, float], project_id: UUID
) -> bool:
    """Return whether a prompt asks something to which all of these rows have less than the least evidence.

    False where the project has set none: then what is found is known. An earlier question answers none.
    """
    if not ASKS.search(question.text) or not (least := read_least(project_id)):
        return False
    telling = [row for row in rows if not ASKS.search(getattr(row, row.TEXT))]
    ratings = rate_rows(telling, cosines, question, read_recipe(project_id), project_id)
    return max(ratings, default=0.0) < least


def mark_question(question: PreparedQuery, project_id: UUID) -> UUID:
    """Return the id by which a session remembers that it was told of a question."""
    return uuid5(project_id, f"unknown: {normalise_text(question.text)}")
