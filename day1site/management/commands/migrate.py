"""Django's migrate, in one transaction on a database that can take the change of a table back."""

from contextlib import nullcontext
from typing import Any

from django.core.management.commands import migrate
from django.db import connections

from memory.db.schema_transaction import schema_transaction


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        only_reads = options["plan"] or options["check_unapplied"]
        can_take_back = connection.features.can_rollback_ddl and not connection.in_atomic_block
        with schema_transaction(connection) if can_take_back and not only_reads else nullcontext():
            super().handle(*args, **options)
