"""Texts as every surface spells them: what a database can store, and the tag around a briefing.

Standard library alone: the command line imports transcripts without Django.
"""

BRIEFING_TAG = "day1-memory"  # around what Day1 tells a program at the start of a session


def make_storable(text: str) -> str:
    """Replace what no database stores: NUL, and halves of surrogate pairs."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
