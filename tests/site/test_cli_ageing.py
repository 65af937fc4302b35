"""Ageing on the command line: the dry run, the run, its undo, the runs and the pressure; pins."""

import json
from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Fact
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)


def write(actor: Actor, text: str, **fields: Any) -> str:
    fields |= {"expires_at": "2026-01-01T00:00:00Z"} if text.startswith("old") else {}
    return str(FactEngine().write_fact(fact_text=text, actor=actor, **fields).fact.uid)


def count_archived(main: Branch) -> int:
    main.refresh_from_db()
    return Fact.objects.on(main).filter(status="archived").count()


def test_a_dry_run_a_run_and_its_undo(day1: Day1, actor: Actor, main: Branch) -> None:
    assert day1("age", "--dry-run") == (0, "", "0 of 0 would be archived: none.\n")
    one, two = write(actor, "old one"), write(actor, "old two")
    write(actor, "old and pinned", pinned=True)
    write(actor, "new")
    status, out, err = day1("age", "--dry-run")
    assert [line.split("\t")[:2] for line in out.splitlines()[1:]] == [[one, "expired"], [two, "expired"]]
    assert (status, err) == (0, "2 of 4 would be archived: 2 expired.\nLeft alone: 1 pinned.\n")
    for options in (("--fact", two), ("--exclude", one)):
        status, out, err = day1("age", "--dry-run", *options)
        assert [line.split("\t")[0] for line in out.splitlines()[1:]] == [two]
        assert err.startswith("1 of 4 would be archived")
    assert count_archived(main) == 0
    assert day1("age", "--reason", "stale")[1] == "0 archived: none\n"
    status, out, err = day1("age", "--exclude", two)
    assert (status, out) == (0, "1 archived: 1 expired\n")
    commit = err.split()[3]
    assert err == f"day1 age undo {commit} brings them back.\n"
    assert day1("age", "undo", commit)[1].startswith(f"{commit}\tundone by commit ")
    assert count_archived(main) == 0
    (row,) = day1("age", "runs")[1].splitlines()[1:]
    assert [row.split("\t")[column] for column in (0, 3, 4)] == [commit, "1 expired", "yes"]
    done = json.loads(day1("age", "--fact", two, "--format", "json")[1])
    assert (done["count"], count_archived(main)) == (1, 1)


def test_the_pressure_of_a_branch(day1: Day1, actor: Actor, main: Branch) -> None:
    assert day1("age", "pressure")[1] == "main\t0 facts in use, no budget is set\naged\tnone\n"
    least = write(actor, "least", priority="P4")
    day1("project", "set", "--fact-budget", "4")
    out = day1("age", "pressure")[1].splitlines()
    assert out[:2] == ["main\t1 facts in use of 4 (25%)", "aged\tnone"]
    assert out[3].split("\t")[:2] == [least, "over_budget"]


def test_pins(day1: Day1, actor: Actor, main: Branch) -> None:
    one = write(actor, "old")
    status, out, _err = day1("facts", "pin", one)
    assert (status, out) == (0, f"{one}\tPinned.\n")
    assert day1("age", "--dry-run")[2].endswith("Left alone: 1 pinned.\n")
    assert day1("facts", "unpin", one)[1] == f"{one}\tUnpinned.\n"
    assert day1("age")[1] == "1 archived: 1 expired\n"


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("age", "--reason", "bored"), 2),
        (("age", "--branch", "none"), 1),
        (("age", "--fact", "x"), 1),
        (("age", "undo", "x"), 1),
        (("age", "undo"), 2),
        (("age", "pressure", "--branch", "none"), 1),
        (("facts", "pin", "x"), 1),
    ],
)
def test_refusals(day1: Day1, main: Branch, words: tuple[str, ...], status: int) -> None:
    assert day1(*words)[0] == status
