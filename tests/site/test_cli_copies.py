"""Snapshots and workspaces on the command line: on the local store, in the shapes of the REST API."""

import json
from pathlib import Path

import pytest
from django.db import connection

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.versions.lookup import find_branch
from memory.models import Fact, Snapshot, Workspace
from tests.command_line import Day1
from tests.databases import ON_SQLITE

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]


def write(actor: Actor, text: str) -> None:
    FactEngine().write_fact(fact_text=text, actor=actor)


def texts(actor: Actor) -> list[str]:
    return sorted(Fact.objects.on(find_branch(actor, "main")).values_list("fact_text", flat=True))


def test_a_point_of_a_branch(day1: Day1, actor: Actor) -> None:
    assert day1("snapshot") == (0, "", "No snapshot yet: day1 snapshot create NAME makes one.\n")
    write(actor, "one")
    status, out, err = day1("snapshot", "create", "monday")
    pk = str(Snapshot.objects.get().pk)
    assert (status, out, err) == (0, f"{pk}\tmonday keeps main at 1\n", "")
    write(actor, "two")
    plan = "branch\thead\tback to\twhat\nmain\t2\t1\t1 fact removed\n"
    assert day1("snapshot", "restore", pk, "--dry-run") == (0, plan, "Nothing was changed.\n")
    assert texts(actor) == ["one", "two"]
    assert day1("snapshot", "restore", pk) == (0, plan.replace("\t2\t1\t", "\t3\t1\t"), "")
    assert texts(actor) == ["one"]
    assert day1("snapshot", "restore", pk) == (0, "", "Everything is as it was: nothing to do.\n")
    status, out, _ = day1("snapshot", "list", "--branch", "main")
    assert (status, out.splitlines()[1].split("\t")[:3]) == (0, [pk, "monday", "main at 1"])
    assert day1("snapshot", "drop", pk) == (0, f"{pk}\tdropped\n", "")
    assert day1("snapshot", "restore", pk)[0] == 1


def size_of_copy() -> int:
    """Return the size of the only snapshot's file; 0 on a database server."""
    if not ON_SQLITE:
        return 0
    file: Path = connection.copies.folder / "snapshots" / f"{Snapshot.objects.get().copy}.sqlite3"
    return file.stat().st_size


def test_a_snapshot_of_the_store(day1: Day1, actor: Actor) -> None:
    status, out, _ = day1("--format", "json", "snapshot", "create", "s", "--store", "--description", "why")
    made = json.loads(out)
    assert (status, made["kind"], made["size"], made["description"]) == (0, "store", size_of_copy(), "why")
    assert day1("snapshot", "create", "t", "--store", "--branch", "main")[0] == 2
    write(actor, "since")
    status, out, _ = day1("--format", "json", "snapshot", "restore", made["id"])
    told = json.loads(out)
    assert (told["dry_run"], told["branches"][0]["counts"]) == (False, {"removed": {"fact": 1}})
    assert day1("snapshot", "create", "s")[2] == "exists: A snapshot named s exists already.\n"


def test_the_window(day1: Day1) -> None:
    assert day1("snapshot", "window") == (0, "The database keeps no window of its past.\n", "")
    if ON_SQLITE:
        assert day1("snapshot", "window", "--days", "3")[2].startswith("conflict: ")
        return
    kept = "Every state of the last 3 days is kept.\n"
    assert day1("snapshot", "window", "--days", "3") == day1("snapshot", "window") == (0, kept, "")
    assert day1("snapshot", "window", "--days", "0")[0] == 0


def test_a_workspace(day1: Day1, actor: Actor) -> None:
    status, out, _ = day1("workspace", "create", "w")
    row = Workspace.objects.get()
    assert (status, out) == (0, f"{row.pk}\tw is in {row.place}\n")
    if ON_SQLITE:
        assert Path(connection.copies.folder / row.place / "day1.sqlite3").exists()
    assert day1("workspace", "diff", str(row.pk)) == (0, "", "Nothing was done in it.\n")
    write(actor, "here")
    moved = "Nothing was done in it.\nIt cannot be promoted, the store has moved: main.\n"
    assert day1("workspace", "diff", str(row.pk)) == (0, "", moved)
    assert day1("workspace", "promote", str(row.pk))[2].startswith("conflict: The store has moved")
    assert day1("workspace", "drop", str(row.pk)) == (0, f"{row.pk}\tdropped\n", "")
    assert day1("workspace", "list", "--state", "open")[1] == ""
    assert "\tdropped\t" in day1("workspace", "list")[1]
