"""The tree of branches, their details, those that are done with, and the past, on the command line."""

import json
from datetime import UTC, datetime

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.models import Branch, Commit
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def rows(text: str, *columns: int) -> list[list[str]]:
    cells = [line.split("\t") for line in text.splitlines()[1:]]
    return [[row[column] for column in columns] for row in cells]


def write(actor: Actor, text: str, branch: str = "main") -> None:
    FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor)


def test_the_tree_and_what_is_kept_about_a_branch(day1: Day1, actor: Actor) -> None:
    words = ("--owner", "Ada", "--ttl-days", "7", "--tag", "auth", "--tag", "slow")
    assert day1("branch", "create", "task/a", *words)[0] == 0
    BranchManager().create_branch(name="task/a/x", parent="task/a", actor=actor)
    write(actor, "one", "task/a")
    write(actor, "later")
    status, out, err = day1("branch", "topology")
    assert (status, err) == (0, "")
    assert rows(out, 0, 1, 2, 3, 4, 8) == [
        ["main", "live", "1", "0", "1", ""],
        ["· task/a", "live", "1", "1", "1", "Ada"],
        ["· · task/a/x", "live", "0", "1", "0", ""],
    ]
    assert rows(day1("branch", "list")[1], 0, 3, 4, 6)[1] == ["task/a", "1", "1", "Ada"]
    assert rows(day1("branch", "topology", "--owner", "ada")[1], 0) == [["main"], ["· task/a"]]
    answer = json.loads(day1("branch", "topology", "--state", "live", "--format", "json")[1])
    assert answer["counts"] == {"live": 3, "expired": 0, "merged": 0, "archived": 0}
    first = json.loads(day1("branch", "topology", "--limit", "2", "--format", "json")[1])
    assert rows(day1("branch", "topology", "--cursor", first["next"])[1], 0) == [["· · task/a/x"]]
    assert len(rows(day1("branch", "topology", "--limit", "2", "--all")[1], 0)) == 3
    told = "name: task/a\npurpose: try\nowner: Bo\ntags: auth, slow\n"
    assert day1("branch", "enrich", "task/a", "--purpose", "try", "--owner", "Bo", "--no-ttl") == (
        0,
        told,
        "",
    )
    assert Branch.objects.get(name="task/a").ttl_days is None
    for wrong in ((), ("--no-ttl", "--ttl-days", "3"), ("--ttl-days", "soon")):
        assert day1("branch", "enrich", "task/a", *wrong)[0] == 2
    assert day1("branch", "enrich", "task/a", "--ttl-days", "0")[0] == 1
    assert day1("branch", "topology", "--state", "dead")[0] == 2
    assert day1("branch", "enrich", "task/none", "--owner", "x")[0] == 1


def test_what_is_done_with_is_told_before_it_is_archived(day1: Day1, actor: Actor) -> None:
    assert day1("branch", "expired") == (0, "", "No branch is done with.\n")
    assert day1("branch", "auto-archive") == (0, "", "No branch is done with.\n")
    for name, parent in (("task/a", "main"), ("task/b", "main"), ("task/b/x", "task/b")):
        days = {} if name == "task/b/x" else {"ttl_days": 1}
        BranchManager().create_branch(name=name, parent=parent, actor=actor, **days)
    Branch.objects.exclude(parent=None).update(head_at=LONG_AGO)
    reason = "1 branch that was made from it is in use."
    listed = [["task/a", "expired", ""], ["task/b", "expired", reason]]
    assert rows(day1("branch", "expired")[1], 0, 1, 4) == listed
    status, out, err = day1("branch", "auto-archive")
    assert (status, rows(out, 0, 1, 4)) == (0, listed)
    assert err == "1 would be archived (--apply does it), 1 left.\n"
    assert not Branch.objects.exclude(archived_at=None).exists()
    assert day1("branch", "auto-archive", "--apply")[2] == "1 archived, 1 left.\n"
    assert [row.name for row in Branch.objects.exclude(archived_at=None)] == ["task/a"]


def test_the_log_has_titles(day1: Day1, actor: Actor) -> None:
    write(actor, "one")
    assert rows(day1("branch", "log")[1], 0, 2) == [["1", "Added 1 fact"]]


def test_the_past_is_read_kind_by_kind(day1: Day1, actor: Actor) -> None:
    write(actor, "one")
    write(actor, "two")
    RelationEngine().write_relation(
        source_entity="api", relation_type="uses", target_entity="redis", actor=actor
    )
    status, out, err = day1("time-travel", "1")
    assert (status, rows(out, 3)) == (0, [["one"]])
    at = Commit.objects.get(seq=1).at.isoformat(" ")[:19]
    assert err == f"main at 1, {at}: Added 1 fact\n"
    pages = day1("time-travel", "2", "--limit", "1", "--all", "--format", "json")[1]
    assert [row["fact_text"] for row in json.loads(pages)["results"]] == ["two", "one"]
    edges = ("time-travel", "3", "--type", "relation", "--filter")
    assert rows(day1(*edges, "source=api")[1], 1, 3) == [["api", "redis"]]
    assert day1(*edges, "source=none")[1] == ""
    assert day1("time-travel", "0")[2].splitlines()[-1] == "main before its first commit."
    for wrong, status in (
        (("time-travel",), 2),
        (("time-travel", "1", "--filter", "source"), 2),
        (("time-travel", "yesterday"), 1),
        (("time-travel", "9"), 1),
        (("time-travel", "2031-01-01"), 1),
        (("time-travel", "2001-01-01"), 1),
        (("time-travel", "1", "--filter", "source=x"), 1),
    ):
        assert day1(*wrong)[0] == status, wrong
    talk = (
        "time-travel",
        "1",
        "--type",
        "message",
        "--filter",
        "conversation_id=01970000-0000-7000-8000-000000000000",
    )
    assert day1(*talk)[0] == 1
