"""An empty store gets all its tables at once, and they are those that the migrations make."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.core.management import call_command
from django.db.models.signals import post_migrate

from day1site.management import schema
from day1site.management.schema import FILE
from day1site.settings.paths import database
from memory.db.temporary_database import temporary_alias
from memory.engines.store.release import fold_replaced
from tests.databases import only_on_sqlite
from tests.up_process import migrated_store

pytestmark = [pytest.mark.slow, only_on_sqlite]
AT_ONCE = "All tables of an empty store were made at once."


def read_store(path: Path) -> dict[str, Any]:
    """Return the tables of a store, its migrations, and the planner's statistics."""
    queries = {
        "tables": "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name",
        "migrations": "SELECT app, name FROM django_migrations ORDER BY app, name",
        "statistics": "SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY tbl, idx",
        "types": "SELECT app_label, model FROM django_content_type ORDER BY id",
        "ranks": "SELECT * FROM memory_fact_fts_config ORDER BY k",
    }
    connection = sqlite3.connect(path)
    found = {name: connection.execute(sql).fetchall() for name, sql in queries.items()}
    connection.close()
    return found


Migrate = Callable[..., str]


@pytest.fixture
def migrate_here(tmp_path: Path, django_db_blocker: Any) -> Iterator[Callable[..., str]]:
    """Return a function that migrates a store of its own, in this process."""

    def run(*words: str) -> str:
        out = StringIO()
        with temporary_alias(database(f"sqlite:///{tmp_path / 'day1.sqlite3'}", tmp_path)) as alias:
            call_command("migrate", *words, database=alias, stdout=out)
        return out.getvalue()

    with django_db_blocker.unblock():
        yield run


def test_the_tables_are_those_of_the_migrations(migrate_here: Migrate, tmp_path: Path) -> None:
    post_migrate.connect(create_contenttypes)  # which other tests do without
    assert AT_ONCE not in migrate_here("--one-by-one")
    post_migrate.disconnect(create_contenttypes)
    made = read_store(migrated_store())
    assert made == read_store(tmp_path / "day1.sqlite3")
    statements = json.loads(FILE.read_text())["statements"]
    assert len(statements) > 100, "run manage.py write_schema"


def test_the_file_has_every_migration() -> None:
    """A file that lacks the newest still works, and is slower: run manage.py write_schema."""
    made = sorted(fold_replaced(read_store(migrated_store())["migrations"]))
    assert made == [tuple(row) for row in json.loads(FILE.read_text())["migrations"]]


def test_an_empty_store_is_made_at_once_and_no_other(migrate_here: Migrate, tmp_path: Path) -> None:
    assert AT_ONCE in migrate_here()
    assert AT_ONCE not in migrate_here()
    migrate_here("sessions", "zero")
    assert AT_ONCE not in migrate_here()
    assert read_store(tmp_path / "day1.sqlite3")["migrations"] == read_store(migrated_store())["migrations"]


def test_one_app_alone_is_migrated_by_its_migrations(migrate_here: Migrate, tmp_path: Path) -> None:
    assert AT_ONCE not in migrate_here("auth")
    tables = dict(read_tables(tmp_path / "day1.sqlite3"))
    assert "auth_user" in tables
    assert "memory_fact" not in tables


def read_tables(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.close()
    return found


def test_a_file_of_before_is_completed_by_the_newer_migrations(
    migrate_here: Migrate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of analytics stand for migrations that the file does not know yet."""
    whole = json.loads(FILE.read_text())
    whole["migrations"] = [row for row in whole["migrations"] if row[0] != "analytics"]
    whole["statements"] = [sql for sql in whole["statements"] if "analytics_" not in sql]
    monkeypatch.setattr(schema, "FILE", tmp_path / "schema.json")
    schema.FILE.write_text(json.dumps(whole))
    told = migrate_here()
    assert AT_ONCE in told
    assert "Applying analytics.0001_squashed... OK" in told
    assert dict(read_tables(tmp_path / "day1.sqlite3")) == dict(read_tables(migrated_store()))
