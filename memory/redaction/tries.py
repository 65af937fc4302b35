"""Patterns of many texts that look at each character once."""

import re
from collections.abc import Collection

JOINER = "[ _.-]?"  # what may stand for a space between the words of a name


def join_forms(forms: Collection[str]) -> str:
    """Return a pattern of any of the texts, the longest first; a space in them may be any sign that joins."""
    rests: dict[str, set[str]] = {}
    for form in filter(None, forms):
        rests.setdefault(form[0], set()).add(form[1:])
    parts = [
        (JOINER if head == " " else re.escape(head)) + join_forms(rest)
        for head, rest in sorted(rests.items())
    ]
    return f"(?:{'|'.join(parts)}){'?' if '' in forms else ''}" if parts else ""
