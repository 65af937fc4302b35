"""Transactions: those that write, their retries where the database aborted them, dry runs, migrations."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isfunction
from typing import Any, TypeVar

from django.db import DatabaseError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from memory.db.backend import get_backend

MAX_TRIES = 4
WAIT_SECONDS = 0.05  # seconds before the second try, twice as long before each later one
Engine = TypeVar("Engine", bound=type)
before_write_transaction: list[Callable[[], None]] = []  # each decides whether it has to write first
READING = ("SELECT", "WITH")


@contextmanager
def write_transaction() -> Iterator[None]:
    """Run a block, or a decorated function, in a transaction that writes; inside another it is part of it.

    What outlives a rollback is stored before, such as the lease of the numbers that its row ids begin with.
    There is no savepoint: an error undoes all of the outermost transaction. A block that catches errors of
    the database and goes on needs ``transaction.atomic()``; rows that bring their ids, ``atomic`` alone.
    """
    for prepare in before_write_transaction:
        prepare()
    with transaction.atomic(savepoint=False):
        yield


class _RolledBack(Exception):
    """The end of a dry run, which leaves nothing."""


@contextmanager
def dry_transaction(is_dry: bool = True) -> Iterator[None]:
    """Roll back what is written inside, where it is only tried."""
    if not is_dry:
        yield
        return
    try:
        with write_transaction():
            yield
            raise _RolledBack
    except _RolledBack:
        return


def retry_transaction(work: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that is one transaction, so that it is run again when the database aborts it.

    Inside a transaction of the caller it is called once: only the whole can be run again.
    """

    @wraps(work)
    def run(*args: Any, **kwargs: Any) -> Any:
        for number in range(1, MAX_TRIES + 1):
            try:
                return work(*args, **kwargs)
            except DatabaseError as error:
                if number == MAX_TRIES or connection.in_atomic_block or not _may_help(error):
                    raise
            time.sleep(WAIT_SECONDS * 2**number * random.random())

    return run


def retry_methods(engine: Engine) -> Engine:
    """Decorate a class: each of its public methods is run again as a whole, unless it is ``never_rerun``."""
    for name, method in list(vars(engine).items()):
        if isfunction(method) and not name.startswith("_") and not hasattr(method, "never_rerun"):
            setattr(engine, name, retry_transaction(method))
    return engine


def never_rerun(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method that asks an outside service or makes work that does: as a whole it is not run again.

    It would be paid for twice. Its transactions are run again one by one.
    """
    vars(method)["never_rerun"] = True
    return method


def _may_help(error: DatabaseError) -> bool:
    return get_backend().must_rerun(error)


# ---- dry runs ----------------------------------------------------------------------------------------


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


@contextmanager
def schema_transaction(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Keep all migrations of a run or none, however the run ends.

    Django makes a migration's tables in one transaction and writes down that it ran in another: a process
    killed between the two leaves tables that the next run would make again.
    """
    checked = connection.disable_constraint_checking()  # a running transaction could not
    try:
        with transaction.atomic(using=connection.alias):
            yield
    finally:
        if checked:
            connection.enable_constraint_checking()
