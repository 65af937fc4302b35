"""Texts as every surface spells them: what a database can store, how much they say, the tag of a briefing.

Standard library alone: the command line imports transcripts without Django.
"""

BRIEFING_TAG = "day1-memory"  # around what Day1 tells a program at the start of a session
BEFORE = "  before: "  # begins the line of a statement whose place the one above has taken


def count_dense(text: str) -> int:
    """Count the characters of scripts that are written without spaces, such as Chinese."""
    return sum(char > "\u2e7f" for char in text)


def measure_text(text: str) -> int:
    """Return how much a text says, in letters: a dense character says as much as two."""
    return len(text) + count_dense(text)


def make_storable(text: str) -> str:
    """Replace what no database stores: NUL, and halves of surrogate pairs."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
