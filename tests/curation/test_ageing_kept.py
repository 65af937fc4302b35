"""Ageing leaves alone what a handoff or a question of the review still needs."""

from collections.abc import Callable
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from curation.engines.handoffs.engine import HandoffEngine
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.ageing.engine import AgeingEngine
from memory.models import Branch, Fact
from memory.models.nodes import uuid7

pytestmark = pytest.mark.django_db(transaction=True)
ageing = AgeingEngine()


def test_open_handoffs_and_open_questions_keep_their_facts(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    soon = (timezone.now() + timedelta(days=1)).isoformat()
    BranchManager().create_branch(name="task/next", actor=actor)
    handed = write("handed over", expires_at=soon)
    one, other, free = (write(text, expires_at=soon) for text in ("one", "other", "free"))
    handoff = HandoffEngine().create_handoff(
        source_branch="main",
        target_branch="task/next",
        fact_ids=[handed.uid],
        include_unverified=True,
        actor=actor,
    )
    item = ReviewItem.objects.create(
        project=main.project,
        branch=main,
        kind="contested",
        fact_id=one.uid,
        other_id=other.uid,
        pair=f"{uuid7()}",
        score=0.9,
    )
    with time_machine.travel(timezone.now() + timedelta(days=2), tick=False):
        found = ageing.preview_ageing(actor=actor)
        assert [entry.fact.uid for entry in found.page] == [free.uid]
        assert found.kept == {"handoff": 1, "review": 2}
        HandoffEngine().reject_handoff(handoff_id=handoff.pk, actor=actor, reason="No.")
        ReviewItem.objects.filter(pk=item.pk).update(status=ReviewItem.Status.RESOLVED)
        assert ageing.preview_ageing(actor=actor).count == 4
