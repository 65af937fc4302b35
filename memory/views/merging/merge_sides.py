"""A version of a memory as the pages of merges show it: its text, and what links and verdicts are about."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.views.text.labels import EDGES, WORDS

# The field with the text of a memory; others are told by their name.
TEXTS = {"fact": "fact_text", "message": "content", "observation": "summary"}
Lines = Mapping[UUID, str]


@dataclass(frozen=True)
class Side:
    """A version of a memory: its text, or that it was removed."""

    text: str
    removed: bool = False

    @classmethod
    def from_row(cls, row: Any, lines: Lines) -> "Side | None":
        """Return a version as it is shown; ``lines`` has those of the memories that it is about."""
        return None if row is None else cls(describe_row(row, lines), row.deleted)


def describe_row(row: Any, lines: Lines) -> str:
    """Return the text of a version; an id stands where a memory is not visible."""
    match row.KIND.name:
        case "link":
            edge = EDGES.get(row.link_type, (row.link_type,))[0]
            ends = (str(lines.get(uid, uid)) for uid in (row.from_id, row.to_id))
            return f" → {edge} → ".join(ends)
        case "verdict":
            return f"{WORDS.get(row.status, row.status)}: {lines.get(row.uid, row.uid)}"
        case name:
            return str(getattr(row, TEXTS.get(name, ""), row))
