"""Log filters for refused requests."""

from logging import LogRecord


def without_traceback(record: LogRecord) -> bool:
    """Drop the traceback of requests that Django refuses, such as an unknown Host; always return True."""
    if record.name.startswith("django.security"):
        record.exc_info, record.exc_text = None, None
    return True
