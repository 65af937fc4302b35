"""``backup``: a copy in a file, dated copies that rotate, and what is refused."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memory.actors import Actor
from memory.db.backend import get_backend
from memory.engines.facts.engine import FactEngine
from memory.engines.store.backups import BackupEngine, describe_backups, read_time
from memory.models import Fact
from tests import databases
from tests.command_line import Day1
from tests.databases import only_on_sqlite

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fact(actor: Actor) -> Fact:
    return FactEngine().write_fact(fact_text="Tokens expire after 15 minutes.", actor=actor).fact


@only_on_sqlite
def test_a_backup(day1: Day1, tmp_path: Path, fact: Fact) -> None:
    copy = tmp_path / "copy.sqlite3"
    status, out, _ = day1("backup", str(copy))
    assert (status, out.split("  ")[1], len(out.split()[0])) == (0, f"{copy}\n", 64)
    assert day1("backup", str(copy)) == (1, "", f"exists: {copy} exists already; --force replaces it.\n")
    assert day1("backup", str(copy), "--force")[0] == 0


@only_on_sqlite
def test_backups_rotate(day1: Day1, tmp_path: Path, fact: Fact, settings: Any) -> None:
    """Remove the oldest beyond the number, and nothing that is not this store's dated copy."""
    settings.DAY1 = {**settings.DAY1, "backup_keep": 2, "backup_dir": str(tmp_path)}
    others = {"day1-monday.sqlite3", "notes.txt", "test-00000000-20200101T000000Z.sqlite3"}
    for name in others:
        (tmp_path / name).touch()
    made = [json.loads(day1("backup", "--keep", "2", "--format", "json")[1]) for _ in range(2)]
    third = BackupEngine().rotate_nightly()
    assert third is not None
    assert [made[0]["removed"], made[1]["removed"], list(third.removed)] == [[], [], [Path(made[0]["file"])]]
    kept = {Path(made[1]["file"]).name, third.backup.path.name}
    assert {path.name for path in tmp_path.iterdir()} == others | kept
    assert sorted(kept)[-1] == third.backup.path.name
    found = describe_backups()
    assert found is not None
    assert (found["at"], found["overdue"]) == (read_time(third.backup.path).isoformat(), False)
    get_backend().mark_damaged("tried by hand")
    try:
        status, out, error = day1("backup", "--keep", "1")
        assert (status, out, error.split(":")[0]) == (1, "", "store_damaged")
        assert f"The newest one is {third.backup.path}." in error
        assert day1("backup", str(tmp_path / "copy"))[2].startswith(
            "store_damaged: The store is damaged, so no"
        )
    finally:
        get_backend().clear_damage()
    assert {path.name for path in tmp_path.iterdir()} == others | kept


@only_on_sqlite
@pytest.mark.parametrize("sql", ["", "CREATE TABLE a (b)", "CREATE TABLE django_migrations (id, app, name)"])
def test_a_file_that_is_no_store_is_no_good_backup(day1: Day1, tmp_path: Path, sql: str) -> None:
    file = tmp_path / "copy.sqlite3"
    file.touch()
    with closing(sqlite3.connect(file)) as database:
        database.execute(sql)
    kept = file.read_bytes()
    status, out, _ = day1("backup", str(file), "--verify")
    assert (status, out) == (1, f"{file} is no good: it is no store of Day1.\n")
    assert (list(tmp_path.iterdir()), file.read_bytes()) == ([file], kept)


@only_on_sqlite
@pytest.mark.slow
def test_a_copy_is_checked_as_it_is_made(day1: Day1, tmp_path: Path) -> None:
    file = tmp_path / "copy.sqlite3"
    status, out, error = day1("backup", str(file), "--force", "--verify")
    assert (status, out.splitlines()[-1].startswith(f"{file} can be gone back to: ")) == (0, True), error


def test_what_backup_refuses(day1: Day1, tmp_path: Path, fact: Fact) -> None:
    assert day1("backup")[0] == 2
    assert day1("backup", "--keep", "2", "--force")[0] == 2
    assert day1("backup", str(tmp_path), "--keep", "0")[2] == "invalid: keep is 1 to 1000.\n"
    for file in (tmp_path / "mistyped.sqlite3", tmp_path):
        assert day1("backup", str(file), "--verify") == (
            1,
            "",
            f"not_found: There is no backup {file} to check: day1 backup {file} makes one.\n",
        )
    if not databases.ON_SQLITE:
        status, _, error = day1("backup", str(tmp_path / "a copy"))
        assert (status, f"`day1 migrate-store --to sqlite:///{tmp_path}/a%20copy`" in error) == (1, True)
        assert day1("check", "--only", "index")[1] == "Nothing was found by 0 checks.\n"
    assert list(tmp_path.iterdir()) == []
