"""A store of the release before is migrated, with a copy first, and loses nothing."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import only_on_sqlite
from tests.site.test_up import ROOT, Up, environment

pytestmark = [pytest.mark.slow, only_on_sqlite]
BEFORE = "0010_closed_versions"  # the newest migration of that release


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = environment(DAY1_DATA_DIR=str(folder))
    return subprocess.run(
        [sys.executable, "manage.py", *words], cwd=ROOT, env=env, capture_output=True, text=True
    )


def texts(folder: Path) -> list[str]:
    found = run(folder, "day1", "--format", "json", "facts", "list")
    assert found.returncode == 0, found.stderr
    return [fact["fact_text"] for fact in json.loads(found.stdout)["results"]]


@pytest.fixture
def old_store(tmp_path: Path) -> Path:
    """Return a data directory with one fact and a verdict, at the schema of the release before."""
    fact = run(tmp_path, "day1", "--format", "json", "write-fact", "Kept over releases: Grüße, 雪.")
    assert fact.returncode == 0, fact.stderr
    assert run(tmp_path, "day1", "verify", json.loads(fact.stdout)["id"], "verified").returncode == 0
    back = run(tmp_path, "migrate", "memory", BEFORE)
    assert back.returncode == 0, back.stderr
    return tmp_path


@pytest.fixture
def new_server(old_store: Path) -> Iterator[Up]:
    server = Up(old_store)
    yield server
    server.end()


def test_a_store_of_the_release_before_is_copied_and_migrated(old_store: Path, new_server: Up) -> None:
    output = new_server.ready().output()
    (copy,) = old_store.glob("day1.sqlite3.before-*")
    assert f"a copy of it is {copy}." in output
    assert copy.stat().st_mode & 0o077 == 0
    assert new_server.stop() == 0
    assert texts(old_store) == ["Kept over releases: Grüße, 雪."]
    with sqlite3.connect(copy) as store:
        (newest,) = store.execute("SELECT max(name) FROM django_migrations WHERE app = 'memory'").fetchone()
        assert newest == BEFORE
        assert store.execute("SELECT fact_text FROM memory_fact").fetchall() == [
            ("Kept over releases: Grüße, 雪.",)
        ]


def test_a_current_store_is_not_copied(tmp_path: Path) -> None:
    assert run(tmp_path, "day1", "write-fact", "One.").returncode == 0
    assert run(tmp_path, "day1", "write-fact", "Two.").returncode == 0
    assert list(tmp_path.glob("day1.sqlite3.before-*")) == []
