"""Django's migrate, in one transaction on a database that can take the change of a table back."""

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections

from day1site.management.schema import create_store
from memory.db.transactions import schema_transaction

PARTIAL = ("one_by_one", "app_label", "fake", "fake_initial")  # what names migrations, or how they run


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
        if only_reads or not can_take_back:
            super().handle(*args, **options)
            return
        with schema_transaction(connection):
            at_once = not any(options[name] for name in PARTIAL) and create_store(connection)
            if at_once and options["verbosity"]:
                self.stdout.write("All tables of an empty store were made at once.")
            super().handle(*args, **options)
