"""Facts of several branches in one query equal those of each branch alone."""

import random
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.assessment import annotate_facts, mask_archived
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.facts_across_branches import facts_on
from memory.models import Branch, Fact

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, BRANCHES = FactEngine(), BranchManager()
COMPARED_FIELDS = (
    "vid",
    "fact_text",
    "status",
    "verification_status",
    "verification_reason",
    "confirmation_count",
)
STEPS = "write write fork change change delete judge confirm".split()


class Story:
    """Branches from random points, with random changes."""

    def __init__(self, actor: Actor, seed: int) -> None:
        self.actor, self.chance, self.names = actor, random.Random(seed), ["main"]
        for step in range(40):
            self.on = self.chance.choice(self.names)
            getattr(self, self.chance.choice(STEPS))(step)

    def write(self, step: int) -> None:
        FACTS.write_fact(fact_text=f"fact {step}", session_id=f"s{step}", **self.where)

    def fork(self, step: int) -> None:
        head = Branch.objects.get(name=self.on).head
        name, at = f"b{step}", self.chance.randint(0, head)
        BRANCHES.create_branch(name=name, parent=self.on, at=at, actor=self.actor)
        self.names.append(name)

    def change(self, step: int) -> None:
        if fact := self.some():
            FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": f"changed {step}"}, **self.where)

    def delete(self, step: int) -> None:
        if fact := self.some():
            FACTS.delete_fact(fact_id=fact.uid, **self.where)

    def judge(self, step: int) -> None:
        if fact := self.some():
            verdict = self.chance.choice(["verified", "invalidated"])
            FACTS.set_verification(fact_id=fact.uid, verdict=verdict, reason=f"step {step}", **self.where)

    def confirm(self, step: int) -> None:
        if fact := self.some():
            FACTS.write_fact(fact_text=fact.fact_text, session_id=f"again {step}", **self.where)

    @property
    def where(self) -> dict[str, Any]:
        return {"actor": self.actor, "branch_name": self.on}

    def some(self) -> Fact | None:
        rows = sorted(
            Fact.objects.on(Branch.objects.get(name=self.on)).fetch_all(), key=lambda fact: fact.uid
        )
        return self.chance.choice(rows) if rows else None


def told(fact: Fact) -> tuple:
    return tuple(getattr(fact, name) for name in COMPARED_FIELDS)


@pytest.mark.parametrize("seed", range(6))
def test_all_branches_at_once_show_what_each_shows(actor: Actor, main: Branch, seed: int) -> None:
    names = Story(actor, seed).names
    if len(names) > 1:
        BRANCHES.archive_branch(name=names[-1], actor=actor)
    branches = list(Branch.objects.all())
    uids = set(Fact.objects.all_versions().values_list("uid", flat=True))
    each = {}
    for branch in branches:
        rows = Fact.objects.on(branch).fetch_all()
        mask_archived(branch, annotate_facts(rows, branch.lineage(), actor.project_id))
        each |= {(branch.pk, fact.uid): told(fact) for fact in rows}
    at_once = facts_on({(branch, uid) for branch in branches for uid in uids}, actor.project_id)
    assert {place: told(fact) for place, fact in at_once.items()} == each
    assert each


def test_as_many_queries_for_any_number_of_branches(actor: Actor, main: Branch) -> None:
    fact = FACTS.write_fact(fact_text="known everywhere", actor=actor).fact
    counts = []
    for n in range(9):
        BRANCHES.create_branch(name=f"b{n}", actor=actor)
        asked = {(branch, fact.uid) for branch in Branch.objects.all()}
        with CaptureQueriesContext(connection) as queries:
            assert len(facts_on(asked, actor.project_id)) == n + 2
        counts.append(len(queries))
    assert counts == [4] * 9


@pytest.mark.slow
def test_a_page_of_deep_branches_is_no_expression_too_deep(actor: Actor, main: Branch) -> None:
    fact = FACTS.write_fact(fact_text="known everywhere", session_id="a", actor=actor).fact
    FACTS.write_fact(fact_text="known everywhere", session_id="b", actor=actor)
    main.refresh_from_db()
    deep = [
        Branch(pk=1000 * n, ancestors=[*([1000 * n + i, 1] for i in range(1, 15)), [main.pk, main.head]])
        for n in range(100, 200)
    ]
    found = facts_on({(branch, fact.uid) for branch in deep}, actor.project_id)
    assert {place: told.confirmation_count for place, told in found.items()} == {
        (branch.pk, fact.uid): 1 for branch in deep
    }


def test_nothing_asked_nothing_found(actor: Actor) -> None:
    assert facts_on(set(), actor.project_id) == {}
