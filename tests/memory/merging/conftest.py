"""A task branch beside main, people who review it, and what merge requests are made of."""

from collections.abc import Callable
from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.models import Branch, Fact, MergeRequest, Project

TASK = "task/tokens"


@pytest.fixture
def person(project: Project) -> Callable[..., Actor]:
    """Return people with a scope, each with an id of their own."""

    def person(name: str, scope: str = "merge", **more: Any) -> Actor:
        return Actor(project.pk, "user", name, name, frozenset({scope}), **more)

    return person


@pytest.fixture
def mira(person: Any) -> Actor:
    return person("mira")


@pytest.fixture
def vera(person: Any) -> Actor:
    return person("vera")


@pytest.fixture
def ada(person: Any) -> Actor:
    return person("ada", "admin")


@pytest.fixture
def task(mira: Actor, main: Branch) -> Branch:
    return BranchManager().create_branch(name=TASK, actor=mira)


@pytest.fixture
def write(actor: Actor) -> Callable[..., Fact]:
    """Return what writes a fact, on the task branch by default."""

    def write(text: str, branch: str = TASK, **more: Any) -> Fact:
        return FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor, **more).fact

    return write


@pytest.fixture
def merge(actor: Actor) -> Callable[..., Any]:
    """Return what merges the task branch into main."""

    def merge(**more: Any) -> Any:
        return MergeEngine().merge_branch(source=TASK, actor=actor, **more)

    return merge


@pytest.fixture
def learned(mira: Actor, task: Branch) -> Fact:
    """Write a verified fact on the task branch."""
    return write_verified(mira, "Tokens live for an hour.")


@pytest.fixture
def request_for(mira: Actor, learned: Fact) -> MergeRequest:
    return MergeRequestEngine().create_request(source=TASK, actor=mira)


@pytest.fixture
def conflict(mira: Actor, main: Branch) -> Fact:
    """Write a verified fact that both branches change, and make the task branch in between."""
    fact = write_verified(mira, "Tokens live for a day.", "main")
    BranchManager().create_branch(name=TASK, actor=mira)
    for branch, text in (("main", "Tokens live for two days."), (TASK, "Tokens live for an hour.")):
        FactEngine().update_fact(
            fact_id=fact.uid, updates={"fact_text": text}, branch_name=branch, actor=mira
        )
        judge(mira, fact, branch)
    return fact


def write_verified(actor: Actor, text: str, branch: str = TASK) -> Fact:
    fact = FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor).fact
    judge(actor, fact, branch)
    return fact


def judge(actor: Actor, fact: Fact, branch: str = TASK, action: str = "verify") -> None:
    ActionEngine().apply_action(action=action, fact_ids=[fact.uid], branch_name=branch, actor=actor)


def texts(branch: str, project: Project) -> set[str]:
    """Return what a branch shows now."""
    return {row.fact_text for row in Fact.objects.on(Branch.objects.get(project=project, name=branch))}
