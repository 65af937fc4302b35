"""Answer boost: a fact that follows a question in its session inherits the question's score.

"Which car did you buy?" has the words of a search, "The red one." the answer. docs/retrieval.md has the
measurement.
"""

import re
from collections.abc import Sequence

from memory.db.querysets import VersionedQuerySet
from memory.engines.search.fact_rows import FactRow
from memory.engines.search.scoring import Scored

# A question mark at the end of a word or quotation; one inside a URL does not count.
ASKS = re.compile("[?？]['\"’”)\\]]*(\\s|$)")


def find_answers(rows: VersionedQuerySet, facts: Sequence[FactRow]) -> dict[int, int]:
    """Return the facts that follow a question in their session: row id -> row id of the question."""
    asking = [fact.rid for fact in facts if fact.session_id and ASKS.search(fact.fact_text)]
    return {after: before for before, after in rows.next_in_group(asking, "session_id").items()}


def boost_answers(hits: dict[int, Scored], answers: dict[int, int]) -> None:
    """Raise each answer's score to its question's own; the answer sorts after it, since it is younger."""
    own = {rid: hit.score for rid, hit in hits.items()}
    for after, before in answers.items():
        if after in hits and own.get(before, 0.0) > own[after]:
            hits[after].score = hits[after].signals["reply"] = own[before]
