"""``day1 salvage``: every row that can be read is in the new store, and what was lost is listed."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from memory.db.damage import find_damage
from memory.engines.audit.trail import seal_entries
from memory.engines.facts.engine import FactEngine
from memory.engines.store.check.engine import CheckEngine
from memory.engines.store.salvage import Salvage, SalvageEngine
from memory.exceptions import Conflict
from memory.models import AuditEntry, Fact, Project
from tests.command_line import Day1
from tests.databases import only_on_sqlite
from tests.memory.store import damaging
from tests.memory.store.damaging import overwrite_page, run_sql
from tests.memory.store.test_check import MESSAGE, filled, kept, original, whole

__all__ = ["filled", "kept", "original", "whole"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow, only_on_sqlite]
FACTS = 34  # versions of facts in a filled store
Salvaging = Callable[..., tuple[Salvage, set[str]]]


@pytest.fixture
def salvage(whole: Path, tmp_path: Path) -> Salvaging:
    """Return a function that damages a store and salvages it: what was read, and what a check finds."""

    def work(*damages: damaging.Damage) -> tuple[Salvage, set[str]]:
        source = damaging.use_copy(whole, tmp_path / "damaged.sqlite3")
        for damage in damages:
            damage(source)
        before = source.read_bytes()
        with damaging.new_store(tmp_path / "target.sqlite3"):
            found = SalvageEngine().salvage_file(source, lambda done, total: None)
            assert found.check.count_problems() == CheckEngine().check_store().count_problems()
        assert source.read_bytes() == before
        assert sorted(file.name for file in tmp_path.glob("damaged*") if file != source) in (
            [],
            ["damaged.sqlite3-shm", "damaged.sqlite3-wal"],
        )
        return found, set(found.check.count_problems())

    return work


def tables(found: Salvage) -> dict[str, tuple[int, int]]:
    return {table.name: (table.rows, table.lost) for table in found.tables if not table.is_whole}


def list_columns(database: sqlite3.Connection, table: str) -> str:
    """Return the columns of a table: their order differs once a test has migrated back and forth."""
    return ", ".join(
        f'"{name}"' for (name,) in database.execute(f"SELECT name FROM pragma_table_info('{table}')")
    )


def test_a_whole_store_is_the_same_afterwards(salvage: Salvaging, whole: Path, tmp_path: Path) -> None:
    found, problems = salvage()
    assert (found.is_whole, tables(found), problems) == (True, {}, set())
    with (
        closing(sqlite3.connect(whole)) as before,
        closing(sqlite3.connect(tmp_path / "target.sqlite3")) as now,
    ):
        for table in found.tables:
            sql = f'SELECT {list_columns(before, table.name)} FROM "{table.name}" ORDER BY 1'
            rows, salvaged = (database.execute(sql).fetchall() for database in (before, now))
            assert len(salvaged) == len(rows), table.name
            pairs = zip(chain(*salvaged), chain(*rows), strict=True)
            assert [pair for pair in pairs if pair[0] != pair[1]] == [], table.name


def test_what_stood_on_a_page_is_lost_and_listed(salvage: Salvaging) -> None:
    found, problems = salvage(overwrite_page("memory_fact"))
    (fact,) = (table for table in found.tables if table.lost)
    assert (fact.name, fact.rows + fact.lost) == ("memory_fact", FACTS)
    assert 0 < fact.lost < FACTS
    assert sum(last - first + 1 for first, last in fact.lost_ids) == fact.lost
    assert len(fact.lost_keys) == fact.lost
    assert not found.is_whole
    assert problems == {"missing_version"}


def test_a_row_that_others_name_is_lost_too(salvage: Salvaging) -> None:
    """The texts of lost vectors wait for new ones."""
    damages = run_sql("DELETE FROM memory_branch WHERE name = 'side'"), overwrite_page("memory_vector")
    found, problems = salvage(*damages)
    branch, vector = (table for table in found.tables if not table.is_whole)
    assert (branch.name, branch.rows, branch.lost, len(branch.lost_keys)) == ("memory_branch", 1, 1, 1)
    assert (vector.name, vector.lost > 0) == ("memory_vector", True)
    assert (found.describe()["lost"], problems) == (1 + vector.lost, {"broken_foreign_key"})


def test_rows_are_found_on_their_pages_where_the_way_to_them_is_gone(salvage: Salvaging) -> None:
    found, problems = salvage(overwrite_page("memory_fact", "internal"), overwrite_page("fact_bnorm"))
    assert (found.is_whole, tables(found), problems) == (True, {}, set())


def test_the_end_of_a_file_that_is_gone(salvage: Salvaging, whole: Path) -> None:
    found, problems = salvage(partial(damaging.truncate, share=0.75))
    assert not problems & {"changed_content", "check_stopped", "unreadable_rows"}
    short = []
    with closing(sqlite3.connect(whole)) as before:
        for table in found.tables:
            (rows,) = before.execute(f'SELECT count(*) FROM "{table.name}"').fetchone()
            assert table.rows == rows or table.lost_ids, table.name
            short += [table.name] * (table.rows != rows)
    assert sum(table.rows for table in found.tables) > 0
    assert found.is_whole == (not short)  # what stood there may be no more than an index, which is made anew


def test_a_list_of_tables_that_cannot_be_read(salvage: Salvaging, whole: Path) -> None:
    def overwrite(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[100:200] = b"\xff" * 100
        path.write_bytes(content)

    found, problems = salvage(overwrite)
    assert (found.is_whole, tables(found), problems) == (True, {}, set())


NO_TEXT = "UPDATE memory_fact SET {0} = CAST({1} AS TEXT) WHERE fact_text LIKE 'Fact {2} %'"


def test_bytes_that_are_no_text_are_put_back_where_proven(salvage: Salvaging, whole: Path) -> None:
    first = "(SELECT min(rid) FROM memory_fact)"
    found, _ = salvage(
        run_sql(
            f"UPDATE memory_fact SET essence = CAST(x'ff41' AS TEXT) WHERE rid = {first}",  # as before it
            NO_TEXT.format("fact_text", "x'ff' || substr(fact_text, 2)", 7),  # which the checksum proves
            NO_TEXT.format("fact_text", "'x'", 8),  # as the index has it
            NO_TEXT.format("essence = 'x', fact_text", "x'ff41ff'", 9),
        )
    )
    (fact,) = (table for table in found.tables if not table.is_whole)
    assert (fact.name, fact.rows, fact.lost, fact.mended) == ("memory_fact", FACTS, 0, 3)
    with closing(sqlite3.connect(whole)) as before:
        (key,) = before.execute("SELECT rid FROM memory_fact WHERE fact_text LIKE 'Fact 9 %'").fetchone()
    assert (fact.changed, found.check.count_problems()) == ([key], {"changed_content": 1})


def test_a_loss_that_is_accepted_is_noted(whole: Path, tmp_path: Path) -> None:
    """What is damaged afterwards is found all the same."""
    source = damaging.use_copy(whole, tmp_path / "damaged.sqlite3")
    overwrite_page("memory_fact")(source)
    run_sql(
        "DELETE FROM memory_auditentry WHERE place = 3",
        "UPDATE memory_fact SET tags = '{', essence = 'x' WHERE rid = (SELECT max(rid) FROM memory_fact)",
        *(MESSAGE.replace("a" * 32, f"no id {number}") for number in range(12)),
    )(source)
    with damaging.new_store(tmp_path / "target.sqlite3"):
        found = SalvageEngine().salvage_file(source, lambda done, total: None, accept=True)
        assert (found.is_whole, found.check.count_problems()) == (True, {})
        assert found.check.notes["known_loss"] > 2
        (queue,) = (table for table in found.tables if table.name == "memory_queuemessage")
        assert (queue.lost, set(queue.lost_keys)) == (12, {f"no id {number}" for number in range(12)})
        entry = AuditEntry.objects.get(action="store.salvage")
        assert (entry.target, entry.detail["lost"]["audit_changed"]) == ("damaged.sqlite3", 1)
        FactEngine().write_fact(fact_text="Written after the salvage.", actor=damaging.find_actor())
        seal_entries(Project.objects.get())
        assert CheckEngine().check_store().count_problems() == {}
        AuditEntry.objects.filter(place=4).update(target="x")  # beside the gap
        Fact.objects.all_versions().filter(fact_text__startswith="Written after").update(priority="P0")
        seen = CheckEngine().check_store(("content", "audit")).count_problems()
        assert seen == {"changed_content": 1, "audit_changed": 1}


def test_what_only_the_log_has_is_read_too(whole: Path, tmp_path: Path) -> None:
    store, crashed = damaging.use_copy(whole, tmp_path / "store.sqlite3"), tmp_path / "crashed.sqlite3"
    with damaging.used_store(store):
        actor = damaging.find_actor()
        FactEngine().write_fact(fact_text="Only in the log.", actor=actor)
        for end in ("", "-wal"):
            Path(f"{crashed}{end}").write_bytes(Path(f"{store}{end}").read_bytes())
    with damaging.new_store(tmp_path / "target.sqlite3"):
        found = SalvageEngine().salvage_file(crashed, lambda done, total: None)
        assert found.is_whole
        assert FactEngine().list_facts(actor=actor).results[0].fact_text == "Only in the log."
    assert Path(f"{crashed}-wal").stat().st_size > 0


def test_a_file_of_which_nothing_can_be_read(salvage: Salvaging, tmp_path: Path) -> None:
    def overwrite(path: Path) -> None:
        path.write_bytes(b"\xff" * path.stat().st_size)

    def cut(path: Path) -> None:
        os.truncate(path, 1)

    def replace(path: Path) -> None:
        path.unlink()
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE of_another_program (a)")

    for damage in (overwrite, cut, replace):
        with pytest.raises(Conflict, match=r"No table of damaged\.sqlite3 can be read"):
            salvage(damage)
    assert find_damage(str(tmp_path / "target.sqlite3")) is None


def test_what_is_refused_on_the_command_line(
    day1: Day1, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "source.sqlite3", tmp_path / "there.sqlite3"
    for file in (source, target):
        file.write_text("x")
    assert day1("salvage", str(tmp_path / "none"), str(target))[2].startswith("no_store: There is no file ")
    assert day1("salvage", str(source), str(target))[2].startswith(f"exists: {target} exists already")
    status, _, error = day1("salvage", "matrixone://u:p@h/day1", str(tmp_path / "new"))
    assert (status, "a server of MatrixOne is restored by its own snapshots" in error) == (2, True)
    monkeypatch.setenv("DAY1_URL", "http://127.0.0.1:1")
    assert day1("salvage", str(source), str(tmp_path / "new"))[2].startswith("local_only: ")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["source.sqlite3", "there.sqlite3"]


def test_on_the_command_line(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "damaged"
    folder.mkdir()
    damaged = damaging.use_copy(whole, folder / "day1.sqlite3")
    overwrite_page("memory_fact")(damaged)
    command = [sys.executable, "manage.py", "day1", "salvage", str(folder), f"{tmp_path / 'new'}/"]
    env = {name: value for name, value in os.environ.items() if not name.startswith(("DAY1_", "DJANGO_"))}
    env |= {"DAY1_EMBEDDER": "minilm", "DAY1_NO_BOOTSTRAP": "1"}
    options: dict[str, Any] = {"capture_output": True, "text": True, "env": env}
    done = subprocess.run([*command, "--format", "json"], **options)
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["target"]) == (1, str(tmp_path / "new" / "day1.sqlite3"))
    assert not (tmp_path / "new" / "day1.sqlite3-wal").exists()  # the file is whole without a log
    lost = {table["name"]: table["lost"] for table in answer["tables"] if table["lost"]}
    assert (lost.keys(), answer["lost"]) == ({"memory_fact"}, lost["memory_fact"])
    assert {problem["name"] for problem in answer["check"]["problems"]} == {"missing_version"}
    again = subprocess.run(command, **options)
    assert (again.returncode, again.stdout, again.stderr[:8]) == (1, "", "exists: ")


def test_a_row_that_no_model_can_load_is_kept_without_words(salvage: Salvaging) -> None:
    change = "UPDATE memory_fact SET tags = '{', essence = 'x' WHERE rid = (SELECT min(rid) FROM memory_fact)"
    found, problems = salvage(run_sql(change))
    assert (tables(found), problems) == ({}, {"unreadable_rows"})
