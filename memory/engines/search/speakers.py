"""Speakers: who says a text, by the name before its first colon, and whether a question names them."""

import re
from collections.abc import Collection

from memory.engines.search.rows import Row
from memory.texts import count_dense

# "[8 May, 2023] Anna: …" or "Anna: …": at most three words of a name.
SPEAKER = re.compile(r"\s*(?:\[[^\]\n]{0,60}\]\s*)?([^\W\d_][\w.'’-]{0,29}(?: [\w.'’-]{1,30}){0,2})[:：]\s")
ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai", "agent"})  # which say no name


def name_speaker(row: Row) -> str:
    """Return who says a row: the name before its text, else the role of a message."""
    return find_speaker(row.text) or row.role


def find_speaker(text: str) -> str:
    """Return the name before a text's first colon, in lower case; empty where there is none."""
    match = SPEAKER.match(text)
    return match[1].casefold() if match else ""


def find_named(speakers: Collection[str], question: str) -> frozenset[str]:
    """Return the speakers whose name stands in the question as a word."""
    folded = question.casefold()
    names = {name for name in speakers if name and name not in ROLES}
    return frozenset(name for name in names if _stands_in(name, folded))


def _stands_in(name: str, folded: str) -> bool:
    if count_dense(name):  # such scripts have no spaces between words
        return name in folded
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", folded) is not None
