"""The nightly consolidation of agents, in the projects that asked for it."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from conversations.models import ConsolidationRun
from conversations.tasks import consolidate_agents
from memory.actors import Actor
from memory.engines.access.policies import PolicyEngine
from memory.engines.access.projects import ProjectEngine
from memory.engines.branches.manager import BranchManager
from tests.conversations.test_consolidation_levels import ARGON, NEARLY, by_words, states, write
from tests.memory.api.client import nothing_left

__all__ = ["by_words"]
pytestmark = pytest.mark.django_db(transaction=True)


def start(actor: Actor) -> None:
    ProjectEngine().update_project(actor=actor, consolidate_agents=True)


def test_what_agents_learned_twice_is_merged_on_main(actor: Actor) -> None:
    BranchManager().create_branch(name="task/side", actor=actor)
    for agent in ("ada", "bob"):
        write(actor, ARGON, f"{agent}1", agent=agent, deduplicate=False)
        write(actor, NEARLY, f"{agent}2", agent=agent, deduplicate=False)
    write(actor, ARGON, "s1", branch_name="task/side", deduplicate=False)
    with nothing_left():
        consolidate_agents()
    start(actor)
    consolidate_agents()
    runs = ConsolidationRun.objects.order_by("target")
    assert [(run.level, run.target, run.deduplicated, run.state) for run in runs] == [
        ("agent", "ada", 1, "done"),
        ("agent", "bob", 1, "done"),
    ]
    assert sorted(state for state, _, _ in states(actor).values()) == ["active", "superseded"]
    with nothing_left():
        consolidate_agents()


def test_a_guarded_branch_and_agents_that_rest_are_left(actor: Actor) -> None:
    start(actor)
    write(actor, ARGON, "s1")
    write(actor, NEARLY, "s2")
    PolicyEngine().set_policy(pattern="main", direct_writes="propose", actor=actor)
    with nothing_left():
        consolidate_agents()
    PolicyEngine().set_policy(pattern="main", direct_writes="allow", actor=actor)
    with time_machine.travel(timezone.now() + timedelta(days=8), tick=False), nothing_left():
        consolidate_agents()
    consolidate_agents()
    assert ConsolidationRun.objects.get().deduplicated == 1
