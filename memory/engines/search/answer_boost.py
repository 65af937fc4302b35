"""Answers stand after their questions: a fact that follows a question in its session shares its score.

"Which car did you buy?" holds the words of a search, "The red one." the answer. docs/retrieval.md has the
measurement.
"""

import re
from collections.abc import Sequence

from memory.db.querysets import VersionedQuerySet
from memory.engines.fact_rows import FactRow
from memory.engines.scoring import Scored

# A question mark at the end of a word or quotation; one inside a URL asks nothing.
ASKS = re.compile("[?？]['\"’”)\\]]*(\\s|$)")


def replies(rows: VersionedQuerySet, facts: Sequence[FactRow]) -> dict[int, int]:
    """Of each fact that follows an asking one in its session: its row id, and that of the question."""
    asking = [fact.rid for fact in facts if fact.session_id and ASKS.search(fact.fact_text)]
    return {after: before for before, after in rows.following(asking, "session_id").items()}


def inherit(hits: dict[int, Scored], answers: dict[int, int]) -> None:
    """An answer scores at least as its question did by itself; it stands behind it, since it is younger."""
    own = {rid: hit.score for rid, hit in hits.items()}
    for after, before in answers.items():
        if after in hits and own.get(before, 0.0) > own[after]:
            hits[after].score = hits[after].signals["reply"] = own[before]
