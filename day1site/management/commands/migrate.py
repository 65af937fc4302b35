"""Django's migrate, in one transaction on a database that can take the change of a table back."""

from contextlib import nullcontext
from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections

from day1site.management.schema import create_store
from memory.db.schema_transaction import schema_transaction


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--one-by-one",
            action="store_true",
            help="Run each migration on an empty database too, where its tables would be made at once.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        only_reads = options["plan"] or options["check_unapplied"]
        can_take_back = connection.features.can_rollback_ddl and not connection.in_atomic_block
        with schema_transaction(connection) if can_take_back and not only_reads else nullcontext():
            if can_take_back and not only_reads and not self.is_partial(options):
                self.create_store(connection, options["verbosity"])
            super().handle(*args, **options)

    def is_partial(self, options: dict[str, Any]) -> bool:
        """Return whether the caller named the migrations that are to run, or how."""
        return bool(
            options["one_by_one"] or options["app_label"] or options["fake"] or options["fake_initial"]
        )

    def create_store(self, connection: Any, verbosity: int) -> None:
        if create_store(connection) and verbosity:
            self.stdout.write("All tables of an empty store were made at once.")
