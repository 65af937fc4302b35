"""Queued runs whose worker is slow, or was stopped each time."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from memory.actors import Actor
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import LOST_AFTER, MAX_AT_ONCE, EvalEngine
from memory.models import EvalRun, Fact, QueueMessage
from memory.tasks import sweep_evals
from tests.memory.evaluation.conftest import ASKED

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(actor: Actor, fact: Fact) -> EvalRun:
    """Queue a run that should have ended by now."""
    lines = [{"text": f"{ASKED} {n}", "expected": [str(fact.uid)]} for n in range(MAX_AT_ONCE + 1)]
    QuestionEngine().import_questions(questions=lines, actor=actor)
    run = EvalEngine().start_eval(actor=actor)
    EvalRun.objects.update(created_at=timezone.now() - LOST_AFTER - timedelta(seconds=1))
    return run


def find_messages(run: EvalRun) -> Any:
    return QueueMessage.objects.filter(payload__contains=str(run.pk))


def test_a_run_that_a_worker_still_has_is_not_begun_a_second_time(run: EvalRun) -> None:
    find_messages(run).update(claim=uuid4(), visible_at=timezone.now() + timedelta(seconds=30), tries=1)
    sweep_evals()
    assert find_messages(run).count() == 1


def test_a_run_that_stopped_its_worker_each_time_ends_and_says_so(run: EvalRun) -> None:
    find_messages(run).update(set_aside_at=timezone.now(), tries=2)
    sweep_evals()
    run.refresh_from_db()
    assert (run.state, run.question_ids) == ("failed", [])
    assert run.error == "The server stopped each time while it put the questions. Start a new run."
