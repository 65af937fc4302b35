"""A store of the release before is migrated, with a copy first, and loses nothing."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.db.sqlite.structure import find_differences
from memory.engines.store.check.structure import SCHEMA_FILE
from tests.databases import ON_SQLITE, only_on_matrixone, only_on_sqlite
from tests.up_process import ROOT, Up, environment, provisioned

pytestmark = pytest.mark.slow
BEFORE = "0010_closed_versions"  # the newest migration of that release
DUMP = Path(__file__).with_name("store_0010.sql")  # of a store of that release
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


def texts(folder: Path) -> list[str]:
    return [fact["fact_text"] for fact in listed(folder, "facts", "list")]


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """Return a data directory with a fact, a verdict and an observation, at the schema of that release."""
    folder = provisioned(tmp_path / "data")
    if ON_SQLITE:
        fill_file(folder / "day1.sqlite3")
    else:
        fill_database(folder)
    return folder


def fill_file(path: Path) -> None:
    """Put the dump of a store of that release in the place of a new one."""
    path.unlink()
    with closing(sqlite3.connect(path)) as store:
        store.executescript(DUMP.read_text())


def fill_database(folder: Path) -> None:
    fact = make(folder, "write-fact", TEXT)
    assert run(folder, "day1", "verify", fact, "verified").returncode == 0
    make(folder, "write-observation", "Tests pass.", "--tool", "Bash", "--input", "make test")
    back = run(folder, "migrate", "memory", BEFORE)
    assert back.returncode == 0, back.stderr


@only_on_sqlite
def test_a_store_of_the_release_before_is_copied_and_migrated(old_store: Path) -> None:
    """Kill the migrations once before, when the tables of one are made and not yet on record."""
    assert kill_at(old_store, "memory.0012_one_open_version") == 9
    with Up(old_store, "--no-worker") as server:
        check_copy(old_store, server.output())
        assert server.stop() == 0
    check_kept(old_store)
    with closing(sqlite3.connect(old_store / "day1.sqlite3")) as store:
        assert list(find_differences(store, json.loads(SCHEMA_FILE.read_text())["statements"])) == []
    check_older_code_fails(old_store)
    check_newer_store_is_refused(old_store)


def check_older_code_fails(old_store: Path) -> None:
    """Check what code of before this check asks at its start: it names the copy to go back to."""
    (copy,) = old_store.glob("day1.sqlite3.before-*")
    lease = "UPDATE memory_node SET leased_until = 9, holder = 'x' WHERE leased_until <= 5 AND number = 700"
    with closing(sqlite3.connect(old_store / "day1.sqlite3")) as store:
        with pytest.raises(sqlite3.IntegrityError) as caught:
            store.execute(lease)
        assert str(caught.value).endswith(f"or go back to the copy {copy}")


def check_newer_store_is_refused(old_store: Path) -> None:
    """Check that this code fails the same way where a later one has migrated the store."""
    copy = old_store / "day1.sqlite3.before-0998_later"
    with closing(sqlite3.connect(old_store / "day1.sqlite3")) as store, store:
        add = "INSERT INTO django_migrations (app, name, applied) VALUES ('memory', ?, '2030-01-01')"
        store.executemany(add, [("0998_later",), ("0999_latest",)])
    for words, has_copy in ((["day1", "facts"], False), (["up", "--port", "0"], True), (["migrate"], True)):
        if has_copy:
            copy.touch()
        refused = run(old_store, *words)
        assert (refused.returncode, refused.stdout) == (1, ""), words
        assert "it does not know the migration memory.0998_later." in refused.stderr
        goes_back = f"go back to the copy {copy}." if copy.exists() else "go back to a backup of before"
        assert goes_back in refused.stderr
        assert "Traceback" not in refused.stderr


def check_copy(old_store: Path, output: str) -> None:
    """Check that the copy that the server told of is private and as the store was."""
    (copy,) = old_store.glob("day1.sqlite3.before-*")
    assert f"a copy of it is {copy}." in output
    assert copy.stat().st_mode & 0o077 == 0
    with closing(sqlite3.connect(copy)) as store:
        (newest,) = store.execute("SELECT max(name) FROM django_migrations WHERE app = 'memory'").fetchone()
        assert newest == BEFORE
        assert store.execute("SELECT fact_text FROM memory_fact").fetchall() == [(TEXT,)]


@only_on_matrixone  # elsewhere the server that starts makes them
def test_the_migrations_since_keep_what_is_there(old_store: Path) -> None:
    assert run(old_store, "migrate").returncode == 0
    check_kept(old_store)


def check_kept(old_store: Path) -> None:
    """Check that what was written before is read, found and added to."""
    (fact,) = listed(old_store, "facts", "list")
    assert (fact["fact_text"], fact["verification_status"]) == (TEXT, "verified")
    (found,) = listed(old_store, "search", "releases")
    assert found["fact"]["id"] == fact["id"]
    (call,) = listed(old_store, "observations", "list")
    assert (call["tool_name"], call["summary"]) == ("Bash", "Tests pass.")
    make(old_store, "write-fact", "Written since.")
    assert len(texts(old_store)) == 2
    assert run(old_store, "migrate", "--check").returncode == 0


@only_on_sqlite
def test_a_current_store_is_not_copied(tmp_path: Path) -> None:
    folder = provisioned(tmp_path / "data")
    assert run(folder, "day1", "write-fact", "One.").returncode == 0
    assert list(folder.glob("day1.sqlite3.before-*")) == []


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


@only_on_sqlite
def test_a_first_start_that_was_killed_is_made_again(tmp_path: Path) -> None:
    assert kill_at(tmp_path, "admin.0001_initial") == 9
    assert run(tmp_path, "migrate").returncode == 0
    assert run(tmp_path, "migrate", "--check").returncode == 0
