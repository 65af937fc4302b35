"""What stands in the log of a refusal, and what of a fault."""

import io
import logging
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from day1site.logs import MAX_LENGTH, MAX_LINES, StrangersFilter, TextFormatter, without_traceback
from memory.db.errors import StorageRefused


def build_handler(written: io.StringIO) -> logging.Handler:
    """Return a handler as in the settings that writes to a text."""
    handler = logging.StreamHandler(written)
    line = settings.LOGGING["formatters"]["text"]
    handler.setFormatter(TextFormatter(line["fmt"], style=line["style"]))
    handler.addFilter(without_traceback)
    handler.addFilter(StrangersFilter())
    return handler


def log_error(name: str, error: Exception) -> str:
    """Return what the handler of the settings writes for a logged exception."""
    written = io.StringIO()
    logger = logging.Logger(name)
    logger.addHandler(build_handler(written))
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
    level = "WARNING" if name.startswith("django.security") else "ERROR"
    assert f"{level} {name}: not done: {error}" in written
    assert ("Traceback" in written) is traceback


def write_lines(name: str, *texts: str, level: int = logging.ERROR) -> list[logging.LogRecord]:
    """Return the records of lines that pass the filter."""
    strangers = StrangersFilter()
    records = [logging.LogRecord(name, level, "", 0, text, (), None) for text in texts]
    return [record for record in records if strangers.filter(record)]


def test_a_line_that_a_stranger_causes_is_short_and_no_error() -> None:
    text = "Invalid HTTP_HOST header: 'a\n2026-11-28 ERROR memory: made up'" + "x" * 1000
    (line,) = write_lines("django.security.DisallowedHost", text)
    assert (line.levelname, len(line.getMessage()) - len("\\x0a") + 1) == ("WARNING", MAX_LENGTH)
    assert "a\\x0a2026-11-28 ERROR" in line.getMessage()
    (kept,) = write_lines("memory.engines", text)
    assert (kept.levelname, kept.getMessage()) == ("ERROR", text)


def test_strangers_write_so_many_lines_a_minute() -> None:
    lines = write_lines("uvicorn.error", *["Invalid HTTP request received."] * 500, level=logging.WARNING)
    assert len(lines) == MAX_LINES


@pytest.mark.django_db
def test_an_unknown_host_is_no_error(client: Client, settings: Any) -> None:
    settings.ALLOWED_HOSTS = ["here.example"]
    written = io.StringIO()
    handler, logger = build_handler(written), logging.getLogger("django.security")
    logger.addHandler(handler)
    try:
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
    finally:
        logger.removeHandler(handler)
    assert (
        "WARNING django.security.DisallowedHost: Invalid HTTP_HOST header: 'evil.example'"
        in written.getvalue()
    )
    assert "ERROR" not in written.getvalue()
