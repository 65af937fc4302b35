"""Points of a branch's past, as they are written on a command line."""

from datetime import datetime
from uuid import UUID

from day1site.cli.errors import CliError

MAX_DIGITS = 18


def check_point(text: str | None) -> str | None:
    """Return the text of a seq, an id or a time. Raises CliError."""
    if text is None or (text.isdecimal() and len(text) <= MAX_DIGITS):
        return text
    for parse in (UUID, datetime.fromisoformat, parse_loose_time):
        try:
            parse(text)
            return text
        except ValueError:
            continue
    raise CliError("invalid", "at must be a seq, the id of a commit or a time in ISO 8601.")


def parse_loose_time(text: str) -> datetime:
    """Parse a time as the engines do, which take more than ISO 8601. Raises ValueError."""
    from django.utils.dateparse import parse_datetime  # starts nothing

    if (parsed := parse_datetime(text)) is None:
        raise ValueError(text)
    return parsed
