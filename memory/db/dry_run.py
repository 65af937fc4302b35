"""Work that is run up to its first write, to learn whether it is refused before."""

from collections.abc import Callable
from typing import Any

from django.db import connection

READING = ("SELECT", "WITH")


class WriteReached(Exception):
    """Error: the work is about to write or to begin a transaction."""


def run_until_write(work: Callable[[], Any]) -> None:
    """Run work up to its first write or transaction, which is not made. Raises what the work raises before.

    No lock is taken. Inside a transaction of the caller nothing is run: it has its locks already.
    """
    if connection.in_atomic_block:
        return
    try:
        with connection.execute_wrapper(stop_at_write):
            work()
    except WriteReached:
        pass


def stop_at_write(execute: Callable[..., Any], sql: Any, *rest: Any) -> Any:
    if not str(sql).lstrip(" (").upper().startswith(READING):
        raise WriteReached
    return execute(sql, *rest)
