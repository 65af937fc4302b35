"""Answer boost: a fact that follows a question in its session inherits a share of the question's score.

"Which car did you buy?" has the words of a search, "The red one." the answer. docs/retrieval.md has the
measurement.
"""

import re
from collections.abc import Mapping, Sequence

from memory import ranking
from memory.db.querysets import VersionedQuerySet
from memory.engines.search.fact_rows import FACT_COLUMNS, Row

# A question mark at the end of a word or quotation; one inside a URL does not count.
ASKS = re.compile("[?？]['\"’”)\\]]*(\\s|$)")


def asks(text: str) -> bool:
    """Return whether a text asks something."""
    return ("?" in text or "？" in text) and ASKS.search(text) is not None


def find_answers(rows: VersionedQuerySet, facts: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Return pairs of a fact that asks, and what follows it in its session."""
    asking = {fact.rid: fact for fact in facts if fact.session_id and asks(fact.text)}
    found = rows.read_neighbours(sorted(asking), "session_id", FACT_COLUMNS, (0, 1))
    return [(asking[rid], Row(*near[1])) for rid, near in found.items()]


def share_answers(
    scores: Mapping[int, float],
    answers: Mapping[int, int],
    speakers: Mapping[int, str],
    recipe: ranking.Recipe,
) -> dict[int, float]:
    """Return what each answer gets of its question's score."""
    return {
        after: scores[before] * recipe.reply_share
        for after, before in answers.items()
        if after in scores and before in scores and is_answered(speakers, after, before, recipe)
    }


def is_answered(speakers: Mapping[int, str], after: int, before: int, recipe: ranking.Recipe) -> bool:
    """Return whether what follows a question answers it: not where the one who asked goes on."""
    own = speakers[after]
    return not recipe.reply_by_other or not own or own != speakers[before]
