"""Rows of any kind of memory as ranking reads them."""

from dataclasses import dataclass
from uuid import UUID

from memory import ranking


@dataclass(slots=True)
class Row:
    """Columns of a candidate for ranking, for any kind of memory."""

    rid: int
    uid: UUID
    text: str
    content_hash: str  # of the text: the key of its vector
    standing: ranking.RankingInputs
    same: str = ""  # equal for rows with the same text
    session_id: str = ""
    kind: str = ""
    repository: str = ""
    role: str = ""  # of a message
