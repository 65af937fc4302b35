"""The commands on branch policies and on proposals."""

import pytest

from memory.actors import Actor
from memory.engines.audit.trail import AuditEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Commit, Fact
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)

NOWHERE = "01970000-0000-7000-8000-000000000000"


@pytest.fixture
def proposals(actor: Actor) -> list[Fact]:
    return [
        FactEngine().write_fact(fact_text=f"Proposal {n}.", propose=True, actor=actor).fact for n in (1, 2)
    ]


def test_proposals_are_answered_many_at_once_with_a_line_for_each(
    day1: Day1, proposals: list[Fact], actor: Actor
) -> None:
    one, two = (str(fact.uid) for fact in proposals)
    status, out, err = day1("facts", "accept", one, NOWHERE)
    assert (status, out) == (
        1,
        f"{one}\tAccepted.\n{NOWHERE}\tNothing with this id is visible here.\n",
    )
    commit = Commit.objects.latest("seq")
    assert str(commit.pk) in err
    reason = "Guessed. " + "It was never read in the code. " * 20
    assert day1("facts", "refuse", two, "--reason", reason)[:2] == (0, f"{two}\tRefused.\n")
    answered = {fact.fact_text: fact.status for fact in FactEngine().list_facts(actor=actor).results}
    assert answered == {"Proposal 1.": "active", "Proposal 2.": "archived"}
    trail = AuditEngine().list_entries(actor=actor, action="fact.refuse").results
    assert trail[0].detail["reason"] == reason
    assert Commit.objects.latest("seq").message == reason[:500]
    assert day1("facts", "refuse", one)[0] == 1
    assert day1("facts", "accept")[0] == 2
