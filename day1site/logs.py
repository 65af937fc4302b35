"""Log lines: their request, and filters for what is no fault of the code or any stranger can cause."""

import logging
from logging import LogRecord
from time import monotonic

from memory.db.errors import StorageRefused
from memory.exceptions import StoreDamaged
from memory.request_context import get_request_id

# What a request without a key can cause: an unknown Host, a broken header, a form without its cookie.
STRANGERS = ("django.security", "uvicorn.error")
MAX_LENGTH = 300  # characters of such a line
MAX_LINES = 30  # a minute, of each process
MINUTE_SECONDS = 60.0
ESCAPES = {number: f"\\x{number:02x}" for number in (*range(32), 127)}


def without_traceback(record: LogRecord) -> bool:
    """Drop the traceback of requests that Django refuses, such as an unknown Host, and of writes that the
    disk or a damaged store refused, which the worker tries again every second; always return True.
    """
    error = record.exc_info[1] if record.exc_info else None
    if record.name.startswith("django.security") or isinstance(error, StorageRefused | StoreDamaged):
        record.exc_info, record.exc_text = None, None
    return True


def with_request_id(record: LogRecord) -> bool:
    """Add the id of the request to a record; always return True."""
    if request_id := get_request_id():
        record.request_id = request_id
    return True


class TextFormatter(logging.Formatter):
    """Lines for people, which end with the id of the request."""

    def formatMessage(self, record: LogRecord) -> str:  # logging's name
        line, request_id = super().formatMessage(record), getattr(record, "request_id", "")
        return f"{line} [{request_id}]" if request_id else line


class StrangersFilter(logging.Filter):
    """Lines that strangers cause: no errors, one line each, short, and so many a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._since, self._lines = 0.0, 0

    def filter(self, record: LogRecord) -> bool:
        if record.name == "django.request" and getattr(record, "status_code", 0) == 503:
            return False  # its reason has a line of its own; that of a damaged store stands there once
        if not record.name.startswith(STRANGERS) or record.exc_info:  # an error of the server has a traceback
            return True
        if record.levelno > logging.WARNING:
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        text = record.getMessage()[:MAX_LENGTH].translate(ESCAPES)
        left_out = self.count_line()
        record.msg, record.args = f"{text} ({left_out} lines before were left out)" if left_out else text, ()
        return self._lines <= MAX_LINES and record.levelno >= logging.getLogger().level

    def count_line(self) -> int:
        """Count a line of this minute; return how many were left out of the one before, at its end."""
        self._lines += 1
        if monotonic() - self._since < MINUTE_SECONDS:
            return 0
        left_out = max(0, self._lines - 1 - MAX_LINES)
        self._since, self._lines = monotonic(), 1
        return left_out
