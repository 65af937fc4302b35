"""What stands in the log of a refusal, and what of a fault."""

import io
import logging

import pytest
from django.conf import settings

from day1site.logs import without_traceback
from memory.db.errors import StorageRefused


def log_error(name: str, error: Exception) -> str:
    """Return what the handler of the settings writes for a logged exception."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    line = settings.LOGGING["formatters"]["line"]
    handler.setFormatter(logging.Formatter(line["format"], style="{"))
    handler.addFilter(without_traceback)
    logger = logging.Logger(name)
    logger.addHandler(handler)
    try:
        raise error
    except Exception:
        logger.exception("not done: %s", error)
    return written.getvalue()


@pytest.mark.parametrize(
    ("name", "error", "traceback"),
    [
        ("celery.worker.request", StorageRefused("attempt to write a readonly database"), False),
        ("django.security.DisallowedHost", ValueError("Host"), False),
        ("celery.worker.request", ValueError("a fault"), True),
    ],
)
def test_a_refusal_is_one_line(name: str, error: Exception, traceback: bool) -> None:
    written = log_error(name, error)
    assert f"ERROR {name}: not done: {error}" in written
    assert ("Traceback" in written) is traceback
