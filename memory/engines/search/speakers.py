"""Speakers: who says a text of a conversation, and whom a question names."""

import re
from collections.abc import Collection

from memory.engines.search.fact_rows import Row
from memory.texts import count_dense

# "[8 May, 2023] Anna: …" or "Anna: …": at most three words of a name.
SPEAKER = re.compile(r"\s*(?:\[[^\]\n]{0,60}\]\s*)?([^\W\d_][\w.'’-]{0,29}(?: [\w.'’-]{1,30}){0,2})[:：]\s")
NAMED_WITHIN = 180  # characters of a text, among which its speaker stands
ASKING = frozenset({"user", "human"})
FIRST_PERSON = re.compile(r"(?<!\w)(?:i|i['’](?:m|ve|d|ll)|my|mine|me|myself|we|our|ours|us)(?!\w)")
SECOND_PERSON = re.compile(r"(?<!\w)(?:you|you['’](?:re|ve|d|ll)|your|yours|yourself)(?!\w)")
OF_ONESELF, OF_NOBODY, OF_ANOTHER = 2.0, 1.0, 0.0  # how much a text tells of who says it
ROLES = frozenset({"user", "assistant", "system", "tool", "human", "ai", "agent"})  # which say no name


def name_speaker(row: Row) -> str:
    """Return who says a row: the name before its text, else the role of a message."""
    return find_speaker(row.text) or row.role


def find_speaker(text: str) -> str:
    """Return the name before a text's first colon, in lower case; empty where there is none."""
    if ":" not in text and "：" not in text:  # most texts, which the pattern would read to its name's end
        return ""
    match = SPEAKER.match(text)
    return match[1].casefold() if match else ""


def weigh_telling(text: str) -> float:
    """Return how much a text tells of its speaker: "I went camping" does, "your trip was long" of another; in
    other languages than English all texts weigh the same.
    """
    folded = text.casefold()
    if FIRST_PERSON.search(folded):
        return OF_ONESELF
    return OF_ANOTHER if SECOND_PERSON.search(folded) else OF_NOBODY


def find_named(speakers: Collection[str], question: str) -> frozenset[str]:
    """Return the speakers whose name stands in the question as a word; "my" and the like name the user."""
    folded = question.casefold()
    names = {name for name in speakers if name and name not in ROLES and stands_in(name, folded)}
    return frozenset(names | (ASKING.intersection(speakers) if FIRST_PERSON.search(folded) else set()))


def stands_in(word: str, folded: str) -> bool:
    """Return whether a word stands in a text in lower case, and not as a part of another."""
    if count_dense(word):  # such scripts have no spaces between words
        return word in folded
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", folded) is not None
