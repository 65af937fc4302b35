"""The tree of branches, their details, those that are done with, and the past, on the command line."""

import json

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.models import Commit
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)


def rows(text: str, *columns: int) -> list[list[str]]:
    cells = [line.split("\t") for line in text.splitlines()[1:]]
    return [[row[column] for column in columns] for row in cells]


def write(actor: Actor, text: str, branch: str = "main") -> None:
    FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor)


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
