"""One transaction around all migrations of a run."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper


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
