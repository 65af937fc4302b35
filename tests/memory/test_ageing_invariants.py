"""Invariants of ageing on random memories: what goes is what the rules say, and nothing else changes."""

import random
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.facts.ageing.engine import AgeingEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Fact, FactUse, Project
from tests.memory.api.client import nothing_left

pytestmark = pytest.mark.django_db(transaction=True)
ageing = AgeingEngine()
FACTS = 16
LATER = timedelta(days=60)
CATEGORIES, PRIORITIES = ("error", "general", "decision"), ("P1", "P2", "P3", "P4")


def write_memory(actor: Actor, project: Project, rng: random.Random) -> dict[str, dict[str, Any]]:
    """Write random facts; return what is known of each by its text, for the model below."""
    now, known = timezone.now(), dict[str, dict[str, Any]]()
    for number in range(FACTS):
        ends = rng.choice((None, None, 10, 90))
        said = {
            "category": rng.choice(CATEGORIES),
            "priority": rng.choice(PRIORITIES),
            "confidence": rng.randint(0, 10) / 10,
            "pinned": rng.random() < 0.15,
            "expires_at": (now + timedelta(days=ends)).isoformat() if ends else None,
        }
        fact = FactEngine().write_fact(fact_text=f"fact {number}", actor=actor, **said).fact
        known[fact.fact_text] = {**said, "ends": ends, "fact": fact, "used": fact.updated_at}
        if rng.random() < 0.3:
            known[fact.fact_text]["used"] = recall(fact, project, now + timedelta(days=rng.randint(1, 59)))
        if rng.random() < 0.15:
            known[fact.fact_text]["verified"] = True
            ActionEngine().apply_action(action="verify", fact_ids=[fact.uid], actor=actor)
    expected = rng.choice(list(known.values()))
    expected["asked"] = True
    QuestionEngine().create_question(text="Which?", expected=[expected["fact"].uid], actor=actor)
    return known


def recall(fact: Fact, project: Project, at: datetime) -> datetime:
    FactUse.objects.create(uid=fact.uid, project=project, access_count=1, last_accessed_at=at)
    return at


def expect_aged(known: dict[str, dict[str, Any]], rules: dict[str, Any], now: datetime) -> dict[str, str]:
    """Return what goes and why, by the rules in plain Python; for the budget only how many may go."""
    aged = {}
    for text, one in known.items():
        if one["pinned"] or one.get("verified") or one.get("asked"):
            continue
        days = rules["category_ttl_days"].get(one["category"])
        idle = now - one["used"]
        if one["ends"] and one["ends"] < LATER.days:
            aged[text] = "expired"
        elif days and one["fact"].updated_at + timedelta(days=days) <= now:
            aged[text] = "time_to_live"
        elif one["priority"] in ("P3", "P4") and idle >= timedelta(days=rules["stale_after_days"]):
            aged[text] = "stale"
    return aged


def show(branch: Branch) -> dict[str, tuple[Any, ...]]:
    branch.refresh_from_db()
    rows = Fact.objects.on(branch).fetch_all()
    return {row.fact_text: (row.status, row.held_status, row.pinned, row.priority) for row in rows}


@pytest.mark.parametrize("seed", range(6))
def test_a_run_does_what_the_rules_say_and_an_undo_takes_it_back(
    actor: Actor, main: Branch, project: Project, seed: int
) -> None:
    rng = random.Random(seed)
    known = write_memory(actor, project, rng)
    other = BranchManager().create_branch(name="task/other", actor=actor)
    rules = {
        "category_ttl_days": {"error": rng.choice((20, 50, 70))},
        "stale_after_days": rng.choice((30, 55, 100)),
        "fact_budget": rng.choice((None, 5, 11)),
    }
    Project.objects.update(**rules)
    before, elsewhere, versions = show(main), show(other), Fact._base_manager.count()
    with time_machine.travel(timezone.now() + LATER, tick=False):
        aged = expect_aged(known, rules, timezone.now())
        free = sum(not (one["pinned"] or one.get("verified") or one.get("asked")) for one in known.values())
        excess = max(0, FACTS - len(aged) - (rules["fact_budget"] or FACTS))
        with nothing_left():
            page = ageing.preview_ageing(actor=actor, limit=100).page
        told = {one.fact.fact_text: one.reason for one in page}
        over = {text for text, reason in told.items() if reason == "over_budget"}
        assert {text: reason for text, reason in told.items() if text not in over} == aged
        assert len(over) == min(excess, free - len(aged))
        totals = [one.worth.total for one in page if one.reason == "over_budget"]
        assert totals == sorted(totals)

        report = ageing.run_ageing(actor=actor)
        assert {text for text, state in show(main).items() if state[0] == "archived"} == set(told)
        assert Fact._base_manager.count() == versions + len(told)
        assert show(other) == elsewhere
        with nothing_left():
            assert ageing.run_ageing(actor=actor).commit is None
        if report.commit is not None:
            RevertEngine().revert_commit(commit_id=report.commit.pk, actor=actor)
        assert show(main) == before
        restored = {text for text in told if text in before}
        again = {one.fact.fact_text for one in ageing.preview_ageing(actor=actor, limit=100).page}
        assert not again & restored
