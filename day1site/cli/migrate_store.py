"""``migrate-store``: a whole store carried to another database."""

import os
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from day1site.cli.client import server
from day1site.cli.errors import CliError, UsageError, local_only
from day1site.cli.output import Output, progress
from day1site.cli.store import start_django


def migrate_store(args: Namespace) -> None:
    if server():
        raise local_only("migrate-store")
    source = args.source or os.environ.get("DATABASE_URL", "")
    os.environ["DATABASE_URL"] = args.to  # the engines work on the target
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "day1site.settings.dev")
    os.umask(0o077)  # what is carried is nobody else's to read
    start_django(whole=True)
    with _alone(), _opened(source) as alias, progress("Carrying") as tell:
        tables = _move(alias, tell)
    rows = sum(table.rows for table in tables)
    told = {
        "to": without_password(args.to),
        "rows": rows,
        "tables": [{"name": table.name, "rows": table.rows, "sha256": table.sha256} for table in tables],
    }
    out = Output(args.format)
    out.show(told, lambda: _show(out, told))


def _show(out: Output, told: dict[str, Any]) -> None:
    rows = [[table["name"], table["rows"], table["sha256"]] for table in told["tables"] if table["rows"]]
    out.table(["table", "rows", "sha256"], rows)
    out.line(f"{told['rows']} rows are the same in both. DATABASE_URL={told['to']} uses the new store.")


def without_password(url: str) -> str:
    parts = urlsplit(url)
    if parts.password is None:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":…@", 1)))


def _move(alias: str, tell: Any) -> Any:
    from memory.engines.moving import StoreMove

    _make_tables()
    _check_same_tables(alias)
    return StoreMove(alias).run(tell)


def _make_tables() -> None:
    """Only where some are missing: each `migrate` adds rows of its own, also to a target left half done."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    connection.prepare_database()
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", verbosity=0, interactive=False)


@contextmanager
def _alone() -> Iterator[None]:
    """No server writes to the data directory meanwhile."""
    from django.conf import settings

    from day1site.server import CannotStart, only_server

    try:
        with only_server(Path(settings.DATA_DIR)):
            yield
    except CannotStart as error:
        text = f"{error} Stop it first: what it writes meanwhile would be left behind."
        raise CliError("conflict", text) from None


@contextmanager
def _opened(url: str) -> Iterator[str]:
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    from day1site.settings.paths import database
    from memory.db.aliases import opened

    try:
        wanted = database(url, Path(settings.DATA_DIR))
    except ImproperlyConfigured as error:
        raise UsageError(str(error)) from None
    same = ("ENGINE", "NAME", "HOST", "PORT")
    if all(wanted.get(name, "") == settings.DATABASES["default"].get(name, "") for name in same):
        raise UsageError("--from and --to name the same store.")
    if not (wanted.get("HOST") or Path(str(wanted["NAME"])).exists()):
        raise CliError("no_store", f"There is no store in {wanted['NAME']}.")
    with opened(wanted) as alias:
        yield alias


def _check_same_tables(alias: str) -> None:
    from django.db import connection, connections
    from django.db.migrations.recorder import MigrationRecorder

    done, needed = (
        set(MigrationRecorder(one).applied_migrations()) for one in (connections[alias], connection)
    )
    if done != needed:
        text = "The source is of another version of Day1: start `up` on it once, and stop it."
        raise CliError("store_outdated", text)
