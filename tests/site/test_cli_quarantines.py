"""Quarantines on the command line: counted first, begun, listed and released."""

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, HiddenVersion
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)
EVE = ("--source", "agent", "--target", "eve")


def test_a_quarantine_on_the_command_line(day1: Day1, actor: Actor, main: Branch) -> None:
    who = actor.with_origin(agent_id="eve")
    fact = FactEngine().write_fact(fact_text="The portcullis opens at noon.", actor=who).fact
    status, out, err = day1("quarantines", "create", *EVE, "--dry-run")
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        "agent eve\twould be hidden: fact: 1",
        "id\tbranch\tfact",
        f"{fact.uid}\tmain\tThe portcullis opens at noon.",
    ]
    assert not HiddenVersion.objects.exists()
    status, out, err = day1("quarantines", "create", *EVE, "--reason", "It made things up.")
    made, told = out.strip().split("\t")
    assert (status, told) == (0, "hidden: fact: 1")
    assert day1("quarantines", "create", *EVE)[0] == 1
    assert f"{made}\tagent\teve\tactive\tfact: 1" in day1("quarantines", "list")[1]
    assert day1("quarantines", "release", made)[1] == f"{made}\treleased\n"
    status, out, err = day1("quarantines", "release", made)
    assert (status, out) == (1, "")
    assert err == "illegal_transition: This quarantine was released already.\n"
