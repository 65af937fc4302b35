"""Budgets of models: each request to a model server is counted before it is sent, and stops at the limit."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curation.engines.verification.engine import VerificationEngine
from curation.models import Verification, VerificationJob
from memory.actors import Actor
from memory.engines.access.projects import ProjectEngine
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.support.model_budgets import ProjectPayer, read_month
from memory.exceptions import Invalid, ModelBudgetSpent
from memory.models import Consumption, Project, Vector
from memory.providers.chat import Message, get_judge
from memory.providers.metering import Tokens
from tests.curation.fake_judge import FakeJudge, completion
from tests.memory.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)
engine, jobs = FactEngine(), VerificationEngine()
WORDS = ("Tea", "Coffee", "Bread", "Salt")


def allow(project: Project, actor: Actor, **limits: int) -> None:
    ProjectEngine().update_project(actor=actor, project_slug=project.slug, limits=limits)


def spend(project: Project) -> None:
    """Send a request of the project to some model."""
    ProjectPayer(project.pk).buy(Tokens(1)).settle(Tokens(1))


def spent(project: Project) -> tuple[int, int, int, int]:
    row = read_month(project.pk)
    return row.calls, row.input_tokens, row.output_tokens, row.reserved_tokens


@pytest.fixture
def judge(settings: Any) -> Any:
    with FakeJudge() as server:
        settings.DAY1 = {**settings.DAY1, **server.settings()}
        yield server


def write_facts(actor: Actor) -> None:
    for word in WORDS:
        engine.write_fact(fact_text=f"{word} is bought on Mondays at the market.", actor=actor)


def run_again(job: VerificationJob) -> VerificationJob:
    VerificationJob.objects.filter(pk=job.pk).update(resume_at=job.created_at)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    return job


def test_a_run_stops_in_the_middle_and_goes_on_when_the_budget_is_raised(
    project: Project, actor: Actor, judge: FakeJudge
) -> None:
    write_facts(actor)
    allow(project, actor, model_calls=2)
    job = run_again(jobs.verify_batch(actor=actor))
    assert (job.state, job.position, job.total, len(judge.prompts)) == ("waiting", 2, 4, 2)
    assert job.note.startswith("Partial: budget used up. The project has spent 2 of 2 calls of models")
    assert job.note.endswith("2 of 4 facts are done.")
    assert Verification.objects.filter(job=job, method="judge").count() == 2
    assert run_again(job).tries == 0
    assert (job.state, len(judge.prompts)) == ("waiting", 2)  # no request is tried
    allow(project, actor, model_calls=10)
    assert run_again(job).state == "done"
    assert Verification.objects.filter(job=job, method="judge").count() == 4
    assert (len(judge.prompts), spent(project)) == (4, (4, 400, 40, 0))  # none is paid for twice


def test_tokens_that_a_server_does_not_tell_are_estimated_and_said_to_be(
    project: Project, actor: Actor, judge: FakeJudge
) -> None:
    write_facts(actor)
    silent = completion(judge.text)
    silent.set_data(silent.get_data().replace(b'"prompt_tokens"', b'"tokens"'))
    judge.next.append(silent)
    run_again(jobs.verify_batch(actor=actor))
    row = read_month(project.pk)
    told = 3 * 110
    assert row.tokens - row.estimated_tokens == told
    assert row.estimated_tokens > 100  # the prompt alone is longer


def test_texts_wait_for_a_budget_and_are_found_by_their_words(
    project: Project, actor: Actor, settings: Any
) -> None:
    with FakeProvider() as provider:
        settings.DAY1 = {**settings.DAY1, **provider.settings()}
        allow(project, actor, model_tokens=30)
        write_facts(actor)
        assert EmbeddingEngine().embed_pending(project.pk) == 0
        assert provider.calls == []
        assert {row.state for row in Vector.objects.all()} == {Vector.State.PENDING}
        assert "Partial: budget used up" in Vector.objects.first().error
        (hit,) = SearchEngine().search(query="coffee", actor=actor).hits
        assert hit.fact.fact_text.startswith("Coffee")
        assert provider.calls == []
        allow(project, actor)
        Vector.objects.update(next_try=project.created_at)
        assert EmbeddingEngine().embed_pending(project.pk) == 4


def test_the_lower_limit_of_project_and_server_holds(project: Project, actor: Actor, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "limits": {"model_calls": 1}}
    allow(project, actor, model_calls=5)
    payer = ProjectPayer(project.pk)
    payer.buy(Tokens(5, 5)).settle(Tokens(7, 1))
    with pytest.raises(ModelBudgetSpent) as refusal:
        payer.buy(Tokens(5, 5))
    assert refusal.value.data["used"] == refusal.value.data["limit"] == 1
    assert spent(project) == (1, 7, 1, 0)


def test_a_killed_request_stays_counted_as_what_was_expected(project: Project, actor: Actor) -> None:
    allow(project, actor, model_tokens=100)
    ProjectPayer(project.pk).buy(Tokens(40, 50))  # and its process is killed
    with pytest.raises(ModelBudgetSpent):
        ProjectPayer(project.pk).buy(Tokens(10, 1))
    assert spent(project) == (1, 0, 0, 90)


@pytest.mark.parametrize("limits", [{"calls": 1}, {"model_calls": -1}, {"model_calls": "5"}, {"rows": 1}])
def test_another_limit_is_refused(project: Project, actor: Actor, limits: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as refusal:
        allow(project, actor, **limits)
    assert refusal.value.data["field"] == "limits"
    assert Project.objects.get(pk=project.pk).limits == {}


def test_nobody_sends_a_request_that_nobody_counts(judge: FakeJudge) -> None:
    with pytest.raises(RuntimeError, match="nobody pays"):
        get_judge().complete([Message("user", "hi")])
    assert judge.prompts == []


@pytest.mark.nightly
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    limit=st.integers(1, 25),
    costs=st.lists(st.integers(1, 9), min_size=1, max_size=24),
    threads=st.integers(2, 6),
)
def test_writers_at_once_never_spend_more_than_the_budget(
    project: Project, actor: Actor, limit: int, costs: list[int], threads: int
) -> None:
    Consumption.objects.all().delete()
    allow(project, actor, model_tokens=limit)

    def spend(cost: int) -> int:
        try:
            ProjectPayer(project.pk).buy(Tokens(cost)).settle(Tokens(cost))
            return cost
        except ModelBudgetSpent:
            return 0
        finally:
            connection.close()

    with ThreadPoolExecutor(threads) as pool:
        paid = list(pool.map(spend, costs))
    assert spent(project) == (sum(map(bool, paid)), sum(paid), 0, 0)
    assert sum(paid) <= limit
