"""Work that is run again when the database gave its transaction up."""

import random
import time
from collections.abc import Callable
from functools import wraps
from inspect import isfunction
from typing import Any, TypeVar

from django.db import DatabaseError, connection

TRIES = 4
WAIT = 0.05  # seconds before the second try, twice as long before each later one

Engine = TypeVar("Engine", bound=type)


def rerun(work: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is one transaction, called again when the database asks for that.

    Inside a transaction of the caller's it is called once: only the whole can be run again.
    """

    @wraps(work)
    def run(*args: Any, **kwargs: Any) -> Any:
        for number in range(1, TRIES + 1):
            try:
                return work(*args, **kwargs)
            except DatabaseError as error:
                if number == TRIES or connection.in_atomic_block or not _may_help(error):
                    raise
            time.sleep(WAIT * 2**number * random.random())

    return run


def rerunning(engine: Engine) -> Engine:
    """For a class: each of its public methods is run again as a whole."""
    for name, method in list(vars(engine).items()):
        if isfunction(method) and not name.startswith("_"):
            setattr(engine, name, rerun(method))
    return engine


def _may_help(error: DatabaseError) -> bool:
    return connection.must_rerun(error)  # type: ignore[attr-defined, no-any-return]
