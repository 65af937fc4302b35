"""An empty store gets all its tables at once, and they are those that the migrations make."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from day1site.management.schema import FILE
from memory.engines.store.release import fold_replaced
from tests.databases import only_on_sqlite
from tests.up_process import ROOT, environment, migrated_store

pytestmark = [pytest.mark.slow, only_on_sqlite]
AT_ONCE = "All tables of an empty store were made at once."


def migrate(folder: Path, *words: str) -> str:
    command = [sys.executable, "manage.py", "migrate", *words]
    env = environment(DAY1_DATA_DIR=str(folder))
    return subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True, text=True).stdout


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


def test_the_tables_are_those_of_the_migrations(tmp_path: Path) -> None:
    assert AT_ONCE not in migrate(tmp_path, "--one-by-one")
    made = read_store(migrated_store())
    assert made == read_store(tmp_path / "day1.sqlite3")
    statements = json.loads(FILE.read_text())["statements"]
    assert len(statements) > 100, "run manage.py write_schema"


def test_the_file_has_every_migration() -> None:
    """A file that lacks the newest still works, and is slower: run manage.py write_schema."""
    made = sorted(fold_replaced(read_store(migrated_store())["migrations"]))
    assert made == [tuple(row) for row in json.loads(FILE.read_text())["migrations"]]


def test_an_empty_store_is_made_at_once_and_no_other(tmp_path: Path) -> None:
    assert AT_ONCE in migrate(tmp_path)
    assert AT_ONCE not in migrate(tmp_path)
    migrate(tmp_path, "sessions", "zero")
    assert AT_ONCE not in migrate(tmp_path)
    assert read_store(tmp_path / "day1.sqlite3")["migrations"] == read_store(migrated_store())["migrations"]


def test_one_app_alone_is_migrated_by_its_migrations(tmp_path: Path) -> None:
    assert AT_ONCE not in migrate(tmp_path, "auth")
    tables = dict(read_tables(tmp_path / "day1.sqlite3"))
    assert "auth_user" in tables
    assert "memory_fact" not in tables


def read_tables(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    connection.close()
    return found


def test_a_file_of_before_is_completed_by_the_newer_migrations(tmp_path: Path) -> None:
    """Those of analytics stand for migrations that the file does not know yet."""
    code = (
        "import django, json, pathlib; django.setup();"
        "from day1site.management import schema;"
        "from django.core.management import execute_from_command_line;"
        "whole = json.loads(schema.FILE.read_text());"
        "whole['migrations'] = [row for row in whole['migrations'] if row[0] != 'analytics'];"
        "whole['statements'] = [sql for sql in whole['statements'] if 'analytics_' not in sql];"
        f"schema.FILE = pathlib.Path({str(tmp_path / 'schema.json')!r});"
        "schema.FILE.write_text(json.dumps(whole));"
        "execute_from_command_line(['manage.py', 'migrate'])"
    )
    data = tmp_path / "data"
    data.mkdir()
    env = environment(DAY1_DATA_DIR=str(data), DJANGO_SETTINGS_MODULE="day1site.settings.dev")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, check=True, capture_output=True, text=True
    )
    assert AT_ONCE in done.stdout
    assert "Applying analytics.0001_squashed... OK" in done.stdout
    assert dict(read_tables(data / "day1.sqlite3")) == dict(read_tables(migrated_store()))
