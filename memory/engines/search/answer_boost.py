"""Answer boost: a fact that follows a question in its session inherits a share of the question's score.

"Which car did you buy?" has the words of a search, "The red one." the answer. docs/retrieval.md has the
measurement.
"""

import re
from collections.abc import Mapping, Sequence

from memory import ranking
from memory.db.querysets import VersionedQuerySet
from memory.engines.search.fact_rows import FactRow

# A question mark at the end of a word or quotation; one inside a URL does not count.
ASKS = re.compile("[?？]['\"’”)\\]]*(\\s|$)")


def find_answers(rows: VersionedQuerySet, facts: Sequence[FactRow]) -> dict[int, int]:
    """Return the facts that follow a question in their session: row id -> row id of the question."""
    asking = [fact.rid for fact in facts if fact.session_id and ASKS.search(fact.fact_text)]
    return {after: before for before, after in rows.next_in_group(asking, "session_id").items()}


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
