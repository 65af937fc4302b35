"""Log filters for what is no fault of the code."""

from logging import LogRecord

from memory.db.errors import StorageRefused
from memory.exceptions import StoreDamaged


def without_traceback(record: LogRecord) -> bool:
    """Drop the traceback of requests that Django refuses, such as an unknown Host, and of writes that the
    disk or a damaged store refused, which the worker tries again every second; always return True.
    """
    error = record.exc_info[1] if record.exc_info else None
    if record.name.startswith("django.security") or isinstance(error, StorageRefused | StoreDamaged):
        record.exc_info, record.exc_text = None, None
    return True
