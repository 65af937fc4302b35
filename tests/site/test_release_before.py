"""A store of another release is migrated, with a copy first, or refused; either way it loses nothing."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.engines.store.release import APPS, FIRST, LAST_COMMIT, is_incomplete, list_replaced
from tests.databases import only_on_sqlite
from tests.up_process import ROOT, Up, environment, migrated_store, provisioned

pytestmark = [pytest.mark.slow, only_on_sqlite]
LATER = "sessions.0001_initial"  # stands for a migration that the release before did not have
TEXT = "Kept over releases: Grüße, 雪."


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = environment(DAY1_DATA_DIR=str(folder))
    return subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=env, capture_output=True, text=True
    )


def listed(folder: Path, *words: str) -> list[dict[str, Any]]:
    found = run(folder, "day1", "--format", "json", *words)
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)["results"]


def make(folder: Path, *words: str) -> str:
    """Run a command that writes one memory, and return its id."""
    made = run(folder, "day1", "--format", "json", *words)
    assert made.returncode == 0, made.stderr
    return str(json.loads(made.stdout)["id"])


def list_migrations(store: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(store)) as connection:
        return connection.execute("SELECT app, name FROM django_migrations ORDER BY app, name").fetchall()


def is_migrated(folder: Path) -> bool:
    """Tell whether a store has all migrations on record, without the seconds of `migrate --check`."""
    return list_migrations(folder / "day1.sqlite3") == list_migrations(migrated_store())


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """Return a data directory with a fact, at the schema of that release."""
    folder = provisioned(tmp_path / "data")
    make(folder, "write-fact", TEXT)
    assert list(folder.glob("day1.sqlite3.before-*")) == []  # a current store is not copied
    execute(folder, "DROP TABLE django_session", "DELETE FROM django_migrations WHERE app = 'sessions'")
    return folder


def execute(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / "day1.sqlite3")) as store, store:
        for statement in statements:
            store.execute(statement)


def test_a_store_of_the_release_before_is_copied_and_migrated(old_store: Path) -> None:
    """Kill the migrations once before, when the tables of one are made and not yet on record."""
    assert kill_at(old_store, LATER) == 9
    with Up(old_store, "--no-worker") as server:
        check_copy(old_store, server.output())
        assert server.stop() == 0
    check_kept(old_store)
    check_newer_store_is_refused(old_store)


def check_newer_store_is_refused(old_store: Path) -> None:
    """Check that this code does not start where a later one has migrated the store."""
    copy = old_store / "day1.sqlite3.before-0998_later"
    add = "INSERT INTO django_migrations (app, name, applied) VALUES ('memory', '{}', '2030-01-01')"
    execute(old_store, *(add.format(name) for name in ("0998_later", "0999_latest")))
    for goes_back in ("go back to a backup of before", f"go back to the copy {copy}."):
        refused = run(old_store, "up", "--port", "0")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "it does not know the migration memory.0998_later." in refused.stderr
        assert goes_back in refused.stderr
        assert "Traceback" not in refused.stderr
        copy.touch()


def check_copy(old_store: Path, output: str) -> None:
    """Check that the copy that the server told of is private and as the store was."""
    (copy,) = old_store.glob("day1.sqlite3.before-*")
    assert f"a copy of it is {copy}." in output
    assert copy.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(copy)) as store:
        assert store.execute("SELECT * FROM django_migrations WHERE app = 'sessions'").fetchall() == []
        assert store.execute("SELECT fact_text FROM memory_fact").fetchall() == [(TEXT,)]


def check_kept(old_store: Path) -> None:
    """Check that what was written before is found and read."""
    (found,) = listed(old_store, "search", "releases")
    assert found["fact"]["fact_text"] == TEXT
    assert is_migrated(old_store)


def test_a_store_with_all_that_was_replaced_goes_on_as_it_is(tmp_path: Path) -> None:
    folder = provisioned(tmp_path / "data")
    execute(folder, f"DELETE FROM django_migrations WHERE name = '{FIRST}'")
    before = (folder / "day1.sqlite3").read_bytes()
    checked = run(folder, "day1", "--format", "json", "check")
    assert checked.returncode == 0, checked.stderr
    assert "tables_of_libraries" not in checked.stdout
    assert run(folder, "migrate", "--check").returncode == 0
    assert (folder / "day1.sqlite3").read_bytes() == before


def test_a_store_with_a_part_of_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    """An earlier commit completes it: this code has no migration that could."""
    folder = provisioned(tmp_path / "data")
    execute(folder, "DELETE FROM django_migrations WHERE app = 'memory' AND name >= '0040'")
    before = (folder / "day1.sqlite3").read_bytes()
    for words in (["up", "--port", "0"], ["migrate"], ["day1", "facts"]):
        refused = run(folder, *words)
        assert (refused.returncode, refused.stdout) == (1, ""), words
        sentence = f"start it once with the commit {LAST_COMMIT}, then with this one."
        assert refused.stderr.endswith(f"This store was made by an earlier Day1: {sentence}\n")
        assert len(refused.stderr.splitlines()) == 1
    assert (folder / "day1.sqlite3").read_bytes() == before


def test_an_app_that_lacks_all_that_was_replaced_is_a_part_too() -> None:
    replaced = [one for names in list_replaced().values() for one in names]
    assert not is_incomplete(replaced)
    assert is_incomplete([one for one in replaced if one[0] != "analytics"])
    assert is_incomplete(replaced[1:])
    assert not is_incomplete([(app, FIRST) for app in APPS[:1]])  # this code makes them one by one


KILLED = """
import os, sys
from django.core.management import execute_from_command_line
from django.db.migrations.recorder import MigrationRecorder

was = MigrationRecorder.record_applied

def record_applied(recorder, app, name):
    if f"{app}.{name}" == sys.argv[1]:
        os._exit(9)  # as a kill at the moment between a migration's tables and its record
    was(recorder, app, name)

MigrationRecorder.record_applied = record_applied
execute_from_command_line(["manage.py", "migrate"])
"""


def kill_at(folder: Path, migration: str) -> int:
    words = [sys.executable, "-c", KILLED, migration]
    env = environment(DAY1_DATA_DIR=str(folder), DJANGO_SETTINGS_MODULE="day1site.settings.dev")
    return subprocess.run(words, cwd=ROOT, env=env, capture_output=True).returncode


def test_a_first_start_that_was_killed_is_made_again(tmp_path: Path) -> None:
    assert kill_at(tmp_path, "admin.0001_initial") == 9
    assert run(tmp_path, "migrate").returncode == 0
    assert is_migrated(tmp_path)
