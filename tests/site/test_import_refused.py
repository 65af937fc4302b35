"""Imports of other products that are refused, and slips of a person, in words."""

import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conversations.capture.transcripts.records import Report
from curation.models import MemoryImport
from day1site.cli.errors import CliError
from day1site.cli.importing.arrival import ProductImport
from day1site.cli.importing.products import engrava, mcp_memory
from day1site.cli.importing.products.records import Found, Memory
from day1site.cli.importing.products.sqlite_files import open_mode
from memory.models import Branch
from tests.command_line import Day1
from tests.site.product_stores import STORES, TABLE, build_database, build_store, show

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_branch_is_refused_whose_name_leaves_its_findings_no_room(day1: Day1, tmp_path: Path) -> None:
    path, names = build_store("zep", tmp_path), ["import/" + "z" * length for length in (80, 79)]
    assert (
        "branch has at most 86 characters" in day1("import-from", "zep", str(path), "--branch", names[0])[2]
    )
    assert not Branch.objects.filter(name__in=names).exists()
    told = json.loads(day1("import-from", "zep", str(path), "--branch", names[1], "--format", "json")[1])
    assert show(told["imports"][0]["counts"]) == TABLE["zep"][1]


def lock(file: Path) -> Any:
    connection = sqlite3.connect(file, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    return connection


def test_a_store_that_cannot_be_read_is_refused_in_words(
    day1: Day1, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("day1site.cli.importing.products.sqlite_files.WAIT_SECONDS", 0.1)
    store = build_store("engrava", tmp_path)
    other = tmp_path / "old.db"
    build_database(other, {"thought": {"columns": ["thought_id", "content"], "rows": []}})
    (tmp_path / "graph.kuzu").write_bytes(b"KUZU\x00\x00")
    (tmp_path / "empty.db").touch()
    (tmp_path / "numbers.json").write_text("[3]")
    (tmp_path / "none.db").write_text("nothing of the kind")
    refused = {
        ("mem0", store): "engrava.db is no store of mem0. It looks like engrava: day1 import-from engrava.",
        (
            "engrava",
            other,
        ): "old.db is of a version of engrava that is not known: thought has no created_at.",
        ("engrava", tmp_path / "none.db"): "none.db is no store of engrava.",
        ("letta", STORES / "graphiti" / "graph.json"): "graph.json is no store of letta.",
        ("zep", tmp_path / "numbers.json"): "numbers.json is no store of zep.",
        ("zep", STORES / "letta" / "agent.af"): "agent.af is no store of zep. It looks like letta:",
        ("graphiti", tmp_path / "graph.kuzu"): "graph.kuzu is a graph database",
        ("engrava", tmp_path / "empty.db"): "empty.db is no store of engrava.",
    }
    for (product, file), reason in refused.items():
        status, _, err = day1("import-from", product, str(file))
        assert (status, reason in err) == (1, True), err
    holder = lock(store)
    assert (
        "engrava.db is locked: end the program that uses it" in day1("import-from", "engrava", str(store))[2]
    )
    holder.close()
    assert MemoryImport.objects.count() == 0
    assert day1("import-from", "engrava", str(store))[0] == 0


def test_what_a_person_may_have_meant_is_said(
    day1: Day1, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("day1site.cli.importing.products.records.MAX_JSON_BYTES", 1 << 20)
    for name in ("empty", "two"):
        Path(name).mkdir()
    Path("words.txt").write_text("Ada likes tea.", encoding="utf-8")
    Path("half.json").write_text('{"results": [{"id": "1", "memory": "Ada', encoding="utf-8")
    Path("two/one.af").write_bytes((STORES / "letta" / "agent.af").read_bytes())
    Path("two/package.json").write_text("{}", encoding="utf-8")
    Path("large.json").write_bytes(bytes(2 << 20))
    if hasattr(os, "mkfifo"):
        os.mkfifo("pipe")
    cases = {
        ("mem0", "none"): (2, "There is no none."),
        ("mem0", ""): (2, "the path is empty"),
        ("mem0", "n" * 300): (2, "There is no nnn"),
        ("mem0", "https://example.org/memories"): (
            2,
            "is an address: fetch what it holds, and name the file",
        ),
        ("mem-0", "words.txt"): (2, "'langgraph'); did you mean 'mem0'?"),
        ("mcp", "words.txt"): (2, "'langgraph')\n"),
        ("mem0", "empty"): (
            1,
            "empty is no store of mem0: it has no history.db or storage.sqlite or *.json.",
        ),
        ("langgraph", "empty"): (1, "empty is no store of langgraph: it has no *.db or *.json or *.jsonl."),
        ("engrava", "two"): (1, "two is no store of engrava: it has no *.db."),
        ("mem0", "words.txt"): (1, "words.txt is no store of mem0."),
        ("letta", "words.txt"): (1, "words.txt:1: is not JSON, or ends half way"),
        ("mem0", "half.json"): (1, "half.json:1: is not JSON, or ends half way"),
        ("zep", "large.json"): (1, "large.json has 2 MiB: one value of JSON is read up to 1 MiB."),
        ("letta", "two"): (1, "package.json:0: package.json is no store of letta."),
    }
    if hasattr(os, "mkfifo"):
        cases |= {(name, "pipe"): (1, f"pipe is no store of {name}: it is no file.") for name in TABLE}
    for (product, path), (status, reason) in cases.items():
        found, _, err = day1("import-from", product, path)
        assert (found, reason in err) == (status, True), (product, path, err)
    [row] = MemoryImport.objects.all()
    assert (row.branch.name, row.counts["new"]) == ("import/letta-two", 18)


def test_what_its_program_has_not_written_yet_is_not_left_behind(
    day1: Day1, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_log(path: Path, mode: str) -> Any:
        if mode == "mode=ro":
            raise sqlite3.OperationalError("unable to open database file")
        return open_mode(path, mode)

    store = build_store("engrava", tmp_path)
    store.with_name("engrava.db-wal").write_bytes(b"rows")
    monkeypatch.setattr("day1site.cli.importing.products.sqlite_files.open_mode", refuse_log)
    assert "is not whole without engrava.db-wal" in day1("import-from", "engrava", str(store))[2]
    store.with_name("engrava.db-wal").write_bytes(b"")
    assert day1("import-from", "engrava", str(store))[0] == 0


def test_of_a_damaged_store_what_can_be_read_is_read(day1: Day1, tmp_path: Path) -> None:
    store = build_store("engrava", tmp_path)
    with sqlite3.connect(store) as connection:
        copies = "SELECT thought_id || ?, thought_type, essence, content || ? AS content"
        names = "thought_id, thought_type, essence, content, lifecycle_status, source, created_at"
        for number in range(200):
            rest = "lifecycle_status, source, created_at FROM thought LIMIT 20"
            connection.execute(
                f"INSERT INTO thought ({names}) {copies}, {rest}", (f"-{number}", f" {number}")
            )
    connection.close()
    whole = store.read_bytes()
    store.write_bytes(whole[: len(whole) // 2])
    assert "engrava.db cannot be read, or ends half way" in day1("import-from", "engrava", str(store))[2]
    store.write_bytes(whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2))
    status, out, err = day1("import-from", "engrava", str(store), "--dry-run", "--format", "json")
    assert status == 1, err
    assert json.loads(out)["broken"] == 1, err


def write_lines(file: Path, *names: str) -> None:
    own = {"type": "entity", "entityType": "", "observations": ["is there"]}
    with file.open("a", encoding="utf-8") as stream:
        stream.write("".join(f"{json.dumps({**own, 'name': name})}\n" for name in names))


def take_memories(found: Found) -> Iterator[Memory]:
    return (one for one in found if isinstance(one, Memory))


def test_a_file_that_grows_or_is_replaced_gives_what_it_held(tmp_path: Path) -> None:
    file, report = tmp_path / "memory.jsonl", Report()
    write_lines(file, "ada")
    found = take_memories(mcp_memory.read(file, report))
    texts = [next(found).text]
    write_lines(file, "bo")
    with file.open("a", encoding="utf-8") as stream:
        stream.write('{"type": "entity", "na')
    assert texts + [one.text for one in found] == ["ada: is there", "bo: is there"]
    assert report.broken == [(str(file), 3, "is not JSON")]
    found = take_memories(mcp_memory.read(file, report))
    next(found)
    write_lines(tmp_path / "new", "chen")
    if os.name != "nt":
        os.replace(tmp_path / "new", file)
    assert [one.text for one in found] == ["bo: is there"]


def test_a_run_that_ends_early_says_what_came_and_how_to_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    client: Any = None  # nothing is asked of it
    for sent, told in ((0, ""), (1500, "1500 records are in the store: the same command again goes on")):
        job = ProductImport(client, "mem0", tmp_path, "")
        job.sent = sent
        with pytest.raises(CliError, match="does not answer"), job.tell_cut_off():
            raise CliError("unreachable", "The server does not answer.")
        err = capsys.readouterr().err
        assert (told in err, bool(err)) == (True, bool(told))


def test_rows_that_come_meanwhile_are_of_the_next_run(tmp_path: Path) -> None:
    store = build_store("engrava", tmp_path)
    with sqlite3.connect(store) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    found = take_memories(engrava.read(store, Report()))
    read = [next(found).id]
    writer.execute("DELETE FROM thought WHERE thought_id != ?", read)
    writer.commit()
    writer.close()
    assert len(read + [one.id for one in found]) == 20
    assert [one.id for one in take_memories(engrava.read(store, Report()))] == read
