"""What the log says of requests that were refused."""

from logging import LogRecord


def without_traceback(record: LogRecord) -> bool:
    """One line for what Django refuses, such as an unknown Host: where it did so is of no use to anybody."""
    if record.name.startswith("django.security"):
        record.exc_info, record.exc_text = None, None
    return True
