"""Points of a branch's past, as they are said on a command line."""

from datetime import datetime
from uuid import UUID

from memory.engines import cleaning as c
from memory.exceptions import Invalid


def point(text: str | None) -> int | UUID | datetime | None:
    """A point of a branch's past as the engines take it: a seq, a commit's id or a time."""
    if text is None:
        return None
    if text.isdecimal() and len(text) < 19:
        return int(text)
    try:
        return UUID(text)
    except ValueError:
        pass
    try:
        return c.moment("at", text)
    except Invalid:
        raise Invalid("at must be a seq, the id of a commit or a time in ISO 8601.", field="at") from None
