"""Saved questions while the memory changes: facts that go, times that pass, a worker that comes later."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine, confirm_name
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import MAX_AT_ONCE, EvalEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import NotFound
from memory.models import EvalRun, Fact, Project, Question
from memory.tasks import run_eval
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused
from tests.memory.evaluation.conftest import ASKED

pytestmark = pytest.mark.django_db(transaction=True)
facts, questions, evals, branches = FactEngine(), QuestionEngine(), EvalEngine(), BranchManager()


def test_a_fact_is_added_where_an_earlier_one_is_gone(actor: Actor, fact: Fact, saved: Question) -> None:
    later = facts.write_fact(fact_text="Tokens live for a day.", actor=actor).fact
    facts.delete_fact(fact_id=fact.uid, actor=actor)
    changed, is_new = questions.expect_fact(text=ASKED, fact_id=later.uid, actor=actor)
    assert (changed.pk, is_new, changed.expected) == (saved.pk, False, [str(fact.uid), str(later.uid)])
    kept = questions.update_question(
        question_id=saved.pk, actor=actor, expected=[str(fact.uid)], note="It was an hour."
    )
    assert (kept.expected, kept.note) == ([str(fact.uid)], "It was an hour.")
    with pytest.raises(NotFound):
        questions.update_question(question_id=saved.pk, actor=actor, expected=[str(fact.uid), UNKNOWN])


def test_a_fact_that_was_erased_is_expected_by_no_new_question(
    api: Api, actor: Actor, fact: Fact, saved: Question
) -> None:
    other = facts.write_fact(fact_text="Ledgers are kept.", actor=actor).fact
    for one in (fact, other):
        confirm = confirm_name(actor.project_id, "fact", str(one.uid))
        ErasureEngine().erase(actor=actor, scope="fact", target=str(one.uid), confirm=confirm)
    with nothing_left():
        refused(
            api.post("/questions", {"text": ASKED, "expected": [str(fact.uid)]}), 404, "not_found", "expected"
        )
        both = {"expected": [str(fact.uid), str(other.uid)]}
        refused(api.patch(f"/questions/{saved.pk}", both), 404, "not_found", "expected")
        with pytest.raises(NotFound, match=f"Fact {fact.uid} was erased: no search finds it."):
            questions.expect_fact(text="Else?", fact_id=fact.uid, actor=actor)
    assert api.patch(f"/questions/{saved.pk}", {"note": "gone"}).status_code == 200


def test_a_question_expects_what_replaces_its_fact_before_the_merge(
    project: Project, api: Api, actor: Actor, fact: Fact, saved: Question
) -> None:
    branches.create_branch(name="task/new", actor=actor)
    later = facts.write_fact(fact_text="Tokens live for a day.", actor=actor, branch_name="task/new").fact
    body = {"expected": [str(later.uid)]}
    bound = api_for(project, scopes=["curate"], branch_patterns=["main"])
    with nothing_left():
        refused(bound.patch(f"/questions/{saved.pk}", body), 404, "not_found", "expected")
        refused(api.patch(f"/questions/{saved.pk}", {"expected": [UNKNOWN]}), 404, "not_found", "expected")
    assert api.patch(f"/questions/{saved.pk}", body).json()["expected"] == [str(later.uid)]


def test_a_question_that_an_erasure_blanked_does_not_count(actor: Actor, fact: Fact, saved: Question) -> None:
    other = facts.write_fact(fact_text="The word [erased] stands for what is gone.", actor=actor).fact
    questions.update_question(question_id=saved.pk, actor=actor, expected=[str(fact.uid), str(other.uid)])
    confirm = confirm_name(actor.project_id, "fact", str(fact.uid))
    ErasureEngine().erase(actor=actor, scope="fact", target=str(fact.uid), confirm=confirm)
    run = evals.start_eval(actor=actor)
    assert run.figures == {"scored": 0, "recall": None, "mrr": None}
    assert run.results == [{"question": str(saved.pk), "ranks": {}, "missing": {str(fact.uid): "erased"}}]


def test_the_same_words_are_the_same_question_with_a_secret_too(actor: Actor, fact: Fact) -> None:
    text = "Is password=hunter2secret still in use?"
    first, _ = questions.expect_fact(text=text, fact_id=fact.uid, actor=actor)
    again, is_new = questions.expect_fact(text=text, fact_id=fact.uid, actor=actor)
    assert (again.pk, is_new) == (first.pk, False)
    assert "hunter2" not in first.text


def test_a_fact_that_expired_since_is_found_at_its_time(api: Api, actor: Actor, main: Any) -> None:
    soon = timezone.now() + timedelta(seconds=3)
    fact = facts.write_fact(fact_text="Tokens live for an hour.", expires_at=soon, actor=actor).fact
    questions.create_question(actor=actor, text=ASKED, expected=[fact.uid])
    then = timezone.now().isoformat()
    time.sleep(max((soon - timezone.now()).total_seconds(), 0) + 0.1)
    assert [
        hit["fact"]["id"] for hit in api.post("/facts/search", {"query": ASKED, "at": then}).json()["results"]
    ]
    run = api.post("/evals", {"at": then}).json()
    assert (run["figures"]["recall"], run["at"][:19]) == (1.0, then[:19])
    now = api.post("/evals", {"against": {"at": then}}).json()
    assert (now["figures"]["recall"], now["figures"]["before"]["recall"], now["at"]) == (0.0, 1.0, None)
    assert (now["against"]["at"], now["figures"]["lost"]) == (then, 1)


def test_a_worker_puts_the_questions_that_the_caller_may_read(
    project: Project, actor: Actor, fact: Fact
) -> None:
    branches.create_branch(name="task/a", actor=actor)
    lines = [{"text": f"{ASKED} {n}", "expected": [str(fact.uid)]} for n in range(MAX_AT_ONCE + 1)]
    own, _ = questions.import_questions(questions=lines, actor=actor, branch_name="task/a")
    questions.import_questions(questions=lines[:3], actor=actor)
    bound = api_for(project, scopes=["curate"], branch_patterns=["task/*"])
    queued = bound.post("/evals", {"branch": "task/a"}).json()
    questions.delete_question(question_id=own[0].pk, actor=actor)
    questions.import_questions(questions=lines[:1], actor=actor, branch_name="task/a")
    run_eval(queued["id"])
    run = bound.get(f"/evals/{queued['id']}").json()
    assert [one["question"] for one in run["results"]] == [str(one.pk) for one in own[1:]]
    assert (run["questions"], run["done"], run["figures"]["scored"]) == (MAX_AT_ONCE,) * 3


def test_whoever_runs_it_no_repository_is_preferred(project: Project, actor: Actor, fact: Fact) -> None:
    api = api_for(project)
    api.post("/sessions", {"session_id": "s1", "project_path": "github.com/acme/shop"})
    own = {"fact_text": "Tokens live for an hour or so.", "session_id": "s1"}
    expected = api.post("/facts", own).json()["id"]
    questions.create_question(actor=actor, text=ASKED, expected=[expected])
    ranks = [
        api.post("/evals", {}, **headers).json()["results"][0]["ranks"]
        for headers in ({}, {"Day1_Repository": "github.com/acme/shop"})
    ]
    assert ranks == [{expected: 2}] * 2
    assert EvalRun.objects.count() == 2
