"""Handoffs on the command line: on the local store, in the shapes of the REST API."""

import json

import pytest

from curation.models import Handoff
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from tests.command_line import Day1

pytestmark = pytest.mark.django_db(transaction=True)
ADA, BOB = "task/login/ada", "task/login/bob"


def test_a_handoff_from_its_start_to_its_end(day1: Day1, actor: Actor) -> None:
    for name in (ADA, BOB):
        BranchManager().create_branch(name=name, actor=actor)
    FactEngine().write_fact(fact_text="Clocks differ.", branch_name=ADA, actor=actor)
    assert day1("handoff") == (0, "", "No handoff here.\n")
    words = ("--from", ADA, "--to", BOB, "--include-unverified", "--blocker", "One.", "--blocker", "Two.")
    status, out, _ = day1("handoff", "create", *words, "--agent", "ada")
    row = Handoff.objects.get()
    assert (status, out) == (0, f"{row.pk}\thanded over to {BOB}, facts: 1, messages: 0\n")
    assert (row.blockers, row.agent_id, row.verification_status) == (["One.", "Two."], "ada", "partial")
    status, out, _ = day1("handoff", "list", "--state", "pending", "--to", BOB)
    assert (status, out.splitlines()[1].split("\t")[:5]) == (
        0,
        [str(row.pk), "task_continuation", "pending", ADA, BOB],
    )
    assert "Clocks differ." in day1("handoff", "show", str(row.pk))[1]
    assert json.loads(day1("--format", "json", "handoff", "show", str(row.pk))[1])["id"] == str(row.pk)
    assert day1("handoff", "accept", str(row.pk)) == (0, f"{row.pk}\taccepted, on {BOB}\n", "")
    status, _, err = day1("handoff", "reject", str(row.pk), "--reason", "Late.")
    assert (status, err) == (1, "illegal_transition: This handoff is accepted already.\n")
    assert day1("handoff", "list", "--state", "open")[0] == 2
