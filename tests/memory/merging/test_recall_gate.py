"""The recall gate: a merge that takes what a saved question expects is stopped before it is written."""

from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.conflict_decisions import load_plan
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.gates import GateResult
from memory.engines.merging.plan import Decision
from memory.engines.merging.recall_gate import measure_recall, recalls
from memory.engines.merging.request_previews import build_options, show_recall
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import Conflict
from memory.models import Fact, Question
from tests.memory.api.client import nothing_left
from tests.memory.merging.conftest import TASK, judge, texts, write_verified

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = "How long do tokens live?"
engine, facts = MergeEngine(), FactEngine()


@pytest.fixture
def fact(mira: Actor, main: Any) -> Fact:
    fact = write_verified(mira, "Tokens live for an hour.", "main")
    BranchManager().create_branch(name=TASK, actor=mira)
    return fact


@pytest.fixture
def question(mira: Actor, fact: Fact) -> Question:
    return QuestionEngine().create_question(text=ASKED, expected=[fact.uid], actor=mira)


def run(actor: Actor, **options: Any) -> GateResult:
    found = MergeEngine().preview_merge(source=TASK, actor=actor, **options)
    (result,) = [one for one in found.check.results if one.name == "recall"]
    return result


def test_a_merge_that_drops_an_expected_fact_is_stopped_and_names_the_question(mira, fact, question) -> None:
    facts.delete_fact(fact_id=fact.uid, branch_name=TASK, actor=mira)
    result = run(mira)
    assert (result.state, result.ids, result.count, result.link) == (
        "failed",
        (question.pk,),
        1,
        "tab=recall",
    )
    assert result.reason == f"Saved questions that would no longer find what they expect: 1. {ASKED}"
    with nothing_left(), pytest.raises(Conflict, match=ASKED):
        engine.merge_branch(source=TASK, actor=mira)
    assert texts("main", question.project) == {fact.fact_text}


def test_a_question_of_another_branch_is_told_to_who_may_read_it(mira, fact) -> None:
    BranchManager().create_branch(name="task/other", actor=mira)
    saved = QuestionEngine().create_question(
        text=ASKED, expected=[fact.uid], branch_name="task/other", actor=mira
    )
    facts.delete_fact(fact_id=fact.uid, branch_name=TASK, actor=mira)
    result = run(mira)
    assert (result.state, result.ids) == ("failed", (saved.pk,))
    assert result.reason == (
        "Saved questions that would no longer find what they expect: 1."
        " They were saved on other branches: the tab Recall shows those that you may read."
    )


@pytest.fixture
def no_embedder(httpserver: Any, settings: Any) -> None:
    """Have a provider of vectors that is down."""
    httpserver.expect_request("/v1/embeddings").respond_with_data("later", status=503)
    provider = {"embedder": "openai", "embedding_api_key": "any", "embedding_model": "m"}
    settings.DAY1 = {**settings.DAY1, **provider, "embedding_base_url": httpserver.url_for("/v1")}


def test_where_the_embedder_is_silent_it_only_warns(mira, fact, question, no_embedder) -> None:
    facts.write_fact(fact_text="Tea is at four.", branch_name=TASK, actor=mira)
    result = run(mira)
    assert (result.state, result.link) == ("warning", "tab=recall")
    assert result.reason == (
        "No question loses what it expects, but the embedder did not answer: 1 of 1 questions were put by"
        " their words alone, to both sides."
    )


def test_what_the_words_alone_lose_is_stopped_all_the_same(mira, fact, question, no_embedder) -> None:
    facts.delete_fact(fact_id=fact.uid, branch_name=TASK, actor=mira)
    assert run(mira).state == "failed"


def test_the_same_merge_without_the_drop_passes(mira, fact, question) -> None:
    write_verified(mira, "Ledgers are kept for ten years.")
    assert run(mira).reason == "Saved questions that find what they expect as before: 1."
    engine.merge_branch(source=TASK, actor=mira)
    assert len(texts("main", question.project)) == 2


@pytest.mark.parametrize("hurt", ["archive", "invalidate", "outrank"])
def test_what_else_takes_a_fact_from_the_first_ten(mira, fact, question, hurt: str) -> None:
    if hurt == "archive":
        facts.archive_fact(fact_id=fact.uid, branch_name=TASK, actor=mira)
    elif hurt == "invalidate":
        judge(mira, fact, TASK, "invalidate")
    else:
        noise = [{"fact_text": f"How long do tokens live? Tokens do live long: {n}."} for n in range(12)]
        facts.write_facts(facts=noise, branch_name=TASK, actor=mira, deduplicate=False)
    assert (run(mira).state, run(mira).ids) == ("failed", (question.pk,))


def test_a_fact_that_moves_within_the_first_ten_hurts_nobody(mira, fact, question) -> None:
    write_verified(mira, "How long do tokens live? Tokens live long.")
    assert run(mira).state == "passed"


def test_what_is_decided_counts(mira, fact, question) -> None:
    for branch, text in (("main", "Tokens live for two hours."), (TASK, "Ledgers rotate.")):
        facts.update_fact(fact_id=fact.uid, updates={"fact_text": text}, branch_name=branch, actor=mira)
    assert run(mira, decisions=[Decision(fact.uid, "target")]).state == "passed"
    assert run(mira, decisions=[Decision(fact.uid, "source")]).state == "failed"
    edited = Decision(fact.uid, "edited", text="Tokens live for three hours.")
    assert run(mira, decisions=[edited]).state == "passed"
    edited = Decision(fact.uid, "edited", text="Nothing of the kind.")
    assert run(mira, decisions=[edited]).state == "failed"


def test_without_questions_it_passes(mira, fact) -> None:
    facts.delete_fact(fact_id=fact.uid, branch_name=TASK, actor=mira)
    assert run(mira).reason == "No question is saved that the merge could hurt."


def test_a_question_that_found_nothing_before_cannot_be_hurt(mira, fact) -> None:
    other = write_verified(mira, "Ledgers are kept.", TASK)
    QuestionEngine().create_question(text="Ledgers?", expected=[other.uid], branch_name=TASK, actor=mira)
    assert run(mira).state == "passed"


def test_force_overrules_it(mira, ada, fact, question) -> None:
    facts.delete_fact(fact_id=fact.uid, branch_name=TASK, actor=mira)
    assert engine.merge_branch(source=TASK, actor=ada, force=True).commit is not None


def test_ranks_are_measured_once_for_page_and_merge(mira, fact, question) -> None:
    write_verified(mira, "Ledgers are kept for ten years.")
    request = MergeRequestEngine().create_request(source=TASK, actor=mira)
    MergeRequestEngine().check_request(request_id=request.pk, actor=mira)
    options = build_options(request)
    plan = load_plan(options, options.points)
    first = measure_recall(plan.points, options, lambda: plan)
    assert measure_recall(plan.points, options, lambda: pytest.fail("It is planned again.")) is first
    assert show_recall(request) is first
    QuestionEngine().update_question(question_id=question.pk, note="why", actor=mira)
    assert show_recall(request) is not first
    (result,) = first.results
    assert (result.ranks, result.before) == ({fact.uid: 1}, {fact.uid: 1})
    assert recalls.get(("none",)) is None


def test_who_may_not_read_the_target_is_told_no_question(person, mira, fact, question) -> None:
    facts.delete_fact(fact_id=fact.uid, branch_name=TASK, actor=mira)
    request = MergeRequestEngine().create_request(source=TASK, actor=mira)
    reader = person("rosa", "read", branch_patterns=("task/*",))
    found = MergeRequestEngine().check_request(request_id=request.pk, actor=reader)
    (result,) = [one for one in found.check.results if one.name == "recall"]
    assert (result.state, result.ids, result.reason) == ("hidden", (), "Known to those who may read main.")
