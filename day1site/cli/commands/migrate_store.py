"""``migrate-store``: a whole store carried to another database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from day1site.cli.client import server_url
from day1site.cli.errors import CliError, UsageError, local_only
from day1site.cli.invocation import Invocation, command
from day1site.cli.output import print_table, progress
from day1site.cli.parameters import option
from day1site.cli.transport.local_store import hold_data_dir, start_django

LEFT_BEHIND = "Stop it first: what it writes meanwhile would be left behind."


@command(
    "migrate-store",
    "Carry a whole store to another database: with history, keys and audit.",
    "day1 migrate-store --to matrixone://user:password@host:6001/day1",
)
@option("--to", required=True, metavar="URL", help="as in DATABASE_URL; new, or left half done")
@option("--from", "source", metavar="URL", help="default: DATABASE_URL, or the local store")
def migrate_store(run: Invocation, to: str, source: str | None) -> None:
    if server_url():
        raise local_only("migrate-store")
    source = source or os.environ.get("DATABASE_URL", "")
    os.environ["DATABASE_URL"] = to  # the engines work on the target
    os.umask(0o077)  # what is carried is nobody else's to read
    start_django(whole=True)
    with hold_data_dir(LEFT_BEHIND), open_database(source) as alias, progress("Carrying") as update:
        tables = carry_tables(alias, update)
    answer = {
        "to": without_password(to),
        "rows": sum(table.rows for table in tables),
        "tables": [{"name": table.name, "rows": table.rows, "sha256": table.sha256} for table in tables],
    }
    run.show(answer, print_tables)


def print_tables(answer: dict[str, Any]) -> None:
    rows = [[table["name"], table["rows"], table["sha256"]] for table in answer["tables"] if table["rows"]]
    print_table(["table", "rows", "sha256"], rows)
    print(f"{answer['rows']} rows are the same in both. DATABASE_URL={answer['to']} uses the new store.")


def without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":…@", 1)))


def carry_tables(alias: str, update: Any) -> Any:
    from django.db import connection

    from memory.engines.store.migration import StoreMove

    make_tables()
    check_same_tables(alias)
    tables = StoreMove(alias).copy_store(update)
    connection.close()  # a file is whole then, without a log beside it
    return tables


def make_tables() -> None:
    """Make the tables where some are missing: each `migrate` adds rows, also to a target left half done."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    connection.prepare_database()
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)


@contextmanager
def open_database(url: str) -> Iterator[str]:
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    from day1site.settings.paths import database
    from memory.db.temporary_database import temporary_alias

    try:
        url_settings = database(url, Path(settings.DATA_DIR))
    except ImproperlyConfigured as error:
        raise UsageError(str(error)) from None
    same = ("ENGINE", "NAME", "HOST", "PORT")
    if all(url_settings.get(name, "") == settings.DATABASES["default"].get(name, "") for name in same):
        raise UsageError("--from and --to name the same store.")
    if not (url_settings.get("HOST") or Path(str(url_settings["NAME"])).exists()):
        raise CliError("no_store", f"There is no store in {url_settings['NAME']}.")
    with temporary_alias(url_settings) as alias:
        yield alias


def check_same_tables(alias: str) -> None:
    from django.db import connection, connections

    from memory.engines.store.release import fold_replaced, read_records

    done, needed = (set(fold_replaced(read_records(one))) for one in (connections[alias], connection))
    if done != needed:
        text = "The source is of another version of Day1: start `up` on it once, and stop it."
        raise CliError("store_outdated", text)
