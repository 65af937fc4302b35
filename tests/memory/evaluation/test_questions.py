"""Saved questions and their runs, over the engines and REST."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import pytest
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine, confirm_name
from memory.engines.evaluation.figures import Result, measure_difference, summarise
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import LOST_AFTER, MAX_AT_ONCE, SWEPT, EvalEngine, run_queued
from memory.engines.facts.engine import FactEngine
from memory.models import AuditEntry, EvalRun, Fact, Project, Question, QueueMessage
from memory.models.questions import MAX_QUESTIONS
from memory.tasks import run_eval, sweep_evals
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused
from tests.memory.evaluation.conftest import ASKED

pytestmark = pytest.mark.django_db(transaction=True)
facts, questions, evals, branches = FactEngine(), QuestionEngine(), EvalEngine(), BranchManager()


def add_noise(actor: Actor, branch: str, count: int) -> None:
    noise = [{"fact_text": f"How long do tokens live? Tokens live long, {n}."} for n in range(count)]
    facts.write_facts(facts=noise, actor=actor, branch_name=branch, deduplicate=False)


# ---- questions -----------------------------------------------------------------------------------------


def test_a_question_is_saved_read_changed_and_deleted(api: Api, fact: Fact) -> None:
    body = {"text": ASKED, "expected": [str(fact.uid)], "category": "general", "note": "asked on Monday"}
    answer = api.post("/questions", body)
    assert answer.status_code == 201
    row = answer.json()
    assert {name: row[name] for name in body} == body
    assert (row["branch"], row["repository"], row["created_by"]) == ("main", "", "tester")
    assert api.get(f"/questions/{row['id']}").json() == row
    changed = api.patch(f"/questions/{row['id']}", {"note": ""}).json()
    assert (changed["note"], changed["text"]) == ("", ASKED)
    assert api.get("/questions").json()["results"] == [changed]
    assert api.delete(f"/questions/{row['id']}").status_code == 204
    assert api.get("/questions").json()["results"] == []
    actions = list(AuditEntry.objects.filter(action__startswith="question").values_list("action", flat=True))
    assert sorted(actions) == ["question.create", "question.delete", "question.update"]


@pytest.mark.parametrize(
    ("change", "status", "code", "field"),
    [
        ({"text": " "}, 400, "invalid", "text"),
        ({"text": "x" * 8001}, 400, "query_too_long", "text"),
        ({"text": None}, 400, "invalid", "text"),
        ({"expected": []}, 400, "invalid", "expected"),
        ({"expected": "x"}, 400, "invalid", "expected"),
        ({"expected": ["x"]}, 400, "invalid", "expected[0]"),
        ({"expected": [UNKNOWN]}, 404, "not_found", "expected"),
        ({"expected": [str(UUID(int=n)) for n in range(21)]}, 400, "invalid", "expected"),
        ({"note": "x" * 501}, 400, "invalid", "note"),
        ({"answer": "x"}, 400, "unknown_field", "answer"),
        ({"branch": "task/none"}, 404, "not_found", None),
    ],
)
def test_what_is_no_question_is_refused(
    api: Api, fact: Fact, change: dict, status: int, code: str, field: str | None
) -> None:
    with nothing_left():
        refused(
            api.post("/questions", {"text": ASKED, "expected": [str(fact.uid)], **change}),
            status,
            code,
            field,
        )


def test_several_are_saved_all_or_none(api: Api, fact: Fact) -> None:
    lines = [{"text": ASKED, "expected": [str(fact.uid)]}, {"text": "Nowhere?", "expected": [UNKNOWN]}]
    with nothing_left():
        refused(
            api.post("/questions/bulk", {"questions": [*lines, {"text": "x"}]}),
            400,
            "invalid",
            "questions[2].expected",
        )
        refused(api.post("/questions/bulk", {"questions": []}), 400, "invalid", "questions")
        refused(api.post("/questions/bulk", {"questions": [3]}), 400, "invalid", "questions[0]")
    answer = api.post("/questions/bulk", {"questions": lines})
    assert (answer.status_code, [row["text"] for row in answer.json()["results"]]) == (
        201,
        [ASKED, "Nowhere?"],
    )


def test_a_project_has_a_limited_number(api: Api, saved: Question) -> None:
    lines = [{"text": f"Else, {n}?", "expected": [UNKNOWN]} for n in range(MAX_QUESTIONS)]
    with nothing_left():
        refused(api.post("/questions/bulk", {"questions": lines}), 413, "too_large", "questions")
    lines[0] = {"text": ASKED, "expected": saved.expected}
    assert api.post("/questions/bulk", {"questions": lines}).json()["created"] == MAX_QUESTIONS - 1


def test_what_the_branch_has_already_is_not_saved_twice(api: Api, actor: Actor, saved: Question) -> None:
    branches.create_branch(name="task/a", actor=actor)
    same, other = ({"text": text, "expected": saved.expected} for text in (ASKED, "Else?"))
    answer = api.post("/questions/bulk", {"questions": [other, same, {**other, "note": "again"}]}).json()
    assert answer["created"] == 1
    assert [row["id"] for row in answer["results"]][1] == str(saved.pk)
    assert answer["results"][0] == answer["results"][2]
    narrowed = {**same, "category": "general"}
    assert api.post("/questions/bulk", {"questions": [narrowed]}).json()["created"] == 1
    assert api.post("/questions/bulk", {"questions": [same], "branch": "task/a"}).json()["created"] == 1


def test_scopes_and_branch_patterns(project: Project, fact: Fact, saved: Question) -> None:
    body = {"text": ASKED, "expected": [str(fact.uid)]}
    read, propose, write = (api_for(project, scopes=[scope]) for scope in ("read", "propose", "write"))
    bound = api_for(project, scopes=["curate"], branch_patterns=["task/*"])
    with nothing_left():
        for one in (read, write):
            refused(one.post("/questions", body), 403, "scope_missing")
            refused(one.delete(f"/questions/{saved.pk}"), 403, "scope_missing")
        refused(propose.post("/evals", {}), 403, "scope_missing")
        refused(bound.post("/questions", body), 403, "branch_forbidden")
        refused(bound.get(f"/questions/{saved.pk}"), 404, "not_found")
        refused(bound.post("/evals", {}), 403, "branch_forbidden")
    assert write.post("/evals", {}).status_code == 201
    assert len(read.get("/evals").json()["results"]) == 1
    assert bound.get("/questions").json()["results"] == bound.get("/evals").json()["results"] == []


@pytest.mark.parametrize(
    "text", ['" OR *', "a AND (b", "%_\\", "<script>alert(1)</script>", "日本語？", "\u202egnp", "x" * 8000]
)
def test_hostile_texts_are_questions_too(api: Api, fact: Fact, text: str) -> None:
    row = api.post("/questions", {"text": text, "expected": [str(fact.uid)]}).json()
    assert row["text"] == text
    assert api.post("/evals", {}).json()["figures"]["scored"] == 1


# ---- runs ----------------------------------------------------------------------------------------------


def test_a_run_keeps_its_figures_and_ranks(api: Api, fact: Fact, saved: Question) -> None:
    answer = api.post("/evals", {"k": 5})
    assert answer.status_code == 201
    run = answer.json()
    assert (run["state"], run["branch"], run["seq"], run["recipe"], run["k"]) == (
        "done",
        "main",
        1,
        "default",
        5,
    )
    assert (run["questions"], run["done"], run["against"]) == (1, 1, None)
    assert run["figures"] == {"scored": 1, "recall": 1.0, "mrr": 1.0}
    assert run["results"] == [{"question": str(saved.pk), "ranks": {str(fact.uid): 1}}]
    listed = api.get("/evals").json()["results"]
    assert listed == [{name: value for name, value in run.items() if name != "results"}]
    assert api.get(f"/evals/{run['id']}").json() == run


def test_branches_points_and_recipes_are_compared(actor: Actor, fact: Fact, saved: Question) -> None:
    branches.create_branch(name="task/a", actor=actor)
    facts.delete_fact(fact_id=fact.uid, actor=actor, branch_name="task/a")
    lost = evals.start_eval(actor=actor, branch_name="task/a", against={"branch": "main"})
    assert lost.against == {"branch": "main", "seq": 1, "recipe": "default"}
    one = {"difference": -1.0, "low": -1.0, "high": -1.0, "p": 1.0}
    assert lost.figures == {
        "scored": 1,
        "recall": 0.0,
        "mrr": 0.0,
        "before": {"recall": 1.0, "mrr": 1.0},
        "lost": 1,
        "gained": 0,
        "moved": 0,
        "significance": {"recall": one, "mrr": one},
    }
    uid = str(fact.uid)
    assert lost.results == [
        {
            "question": str(saved.pk),
            "ranks": {uid: None},
            "before": {uid: 1},
            "change": "lost",
            "missing": {uid: "elsewhere"},
        }
    ]
    gained = evals.start_eval(actor=actor, branch_name="main", against={"branch": "task/a"})
    assert [gained.figures[name] for name in ("lost", "gained", "moved")] == [0, 1, 0]
    past = evals.start_eval(actor=actor, branch_name="task/a", against={"at": 0})
    assert (past.against["seq"], past.figures["lost"]) == (0, 1)
    recipes = evals.start_eval(actor=actor, against={"recipe": "timeless"})
    assert (recipes.against["recipe"], recipes.figures["before"]["recall"]) == ("timeless", 1.0)


def test_a_fact_that_others_outrank_has_moved(actor: Actor, fact: Fact, saved: Question) -> None:
    add_noise(actor, "main", 3)
    run = evals.start_eval(actor=actor, against={"at": 1})
    assert [run.figures[name] for name in ("lost", "gained", "moved")] == [0, 0, 1]
    run = evals.start_eval(actor=actor, k=1, against={"at": 1})
    assert [run.figures[name] for name in ("lost", "gained", "moved")] == [1, 0, 0]


def test_filters_of_a_question_hold(actor: Actor, main: Any) -> None:
    uid = facts.write_fact(fact_text="Tokens live.", category="decision", actor=actor).fact.uid
    add_noise(actor, "main", 60)
    for category in ("", "decision", "security"):
        questions.create_question(actor=actor, text=ASKED, expected=[uid], category=category)
    run = evals.start_eval(actor=actor, k=1)
    ranks = [result["ranks"][str(uid)] for result in run.results]
    assert ranks[1:] == [1, None]
    assert ranks[0] != 1


def test_erased_and_unknown_facts_are_said_per_question(actor: Actor, fact: Fact, saved: Question) -> None:
    line = {"text": "Nowhere?", "expected": [str(uuid4())]}
    questions.import_questions(
        questions=[line, {"text": ASKED, "expected": [*line["expected"], str(fact.uid)]}], actor=actor
    )
    run = evals.start_eval(actor=actor)
    absent = {line["expected"][0]: "absent"}
    assert run.figures["scored"] == 2
    assert [result.get("missing") for result in run.results] == [None, absent, absent]
    assert run.results[1]["ranks"] == {}
    ErasureEngine().erase(
        actor=actor,
        scope="fact",
        target=str(fact.uid),
        confirm=confirm_name(actor.project_id, "fact", str(fact.uid)),
    )
    run = evals.start_eval(actor=actor)
    assert run.figures == {"scored": 0, "recall": None, "mrr": None}
    assert run.results[0]["missing"] == {str(fact.uid): "erased"}
    saved.refresh_from_db()
    assert saved.text == "[erased]"


def test_an_erasure_blanks_questions_that_quote_it(actor: Actor, main: Any) -> None:
    secret = "The vault opens with quokkaberylwort at night."
    told = facts.write_fact(fact_text=secret, actor=actor).fact
    other = facts.write_fact(fact_text="Another.", actor=actor).fact
    quoting = questions.create_question(actor=actor, text=f"Why? {secret}", note=secret, expected=[other.uid])
    ErasureEngine().erase(
        actor=actor,
        scope="fact",
        target=str(told.uid),
        confirm=confirm_name(actor.project_id, "fact", str(told.uid)),
    )
    quoting.refresh_from_db()
    assert "quokka" not in quoting.text + quoting.note
    assert quoting.text.startswith("Why? ")


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"recipe": "none"}, 400, "invalid", "recipe"),
        ({"against": {"recipe": "none"}}, 400, "invalid", "against.recipe"),
        ({"k": 0}, 400, "invalid", "k"),
        ({"k": 101}, 400, "invalid", "k"),
        ({"k": True}, 400, "invalid", "k"),
        ({"at": 9}, 400, "invalid", "at"),
        ({"at": "yesterday"}, 400, "invalid", "at"),
        ({"branch": "task/none"}, 404, "not_found", None),
        ({"branch": "task/old"}, 409, "branch_archived", None),
        ({"against": {"branch": "task/old"}}, 409, "branch_archived", None),
        ({"against": 3}, 400, "invalid", "against"),
        ({"against": {"k": 3}}, 400, "unknown_field", "against.k"),
        ({"questions": 3}, 400, "unknown_field", "questions"),
    ],
)
def test_what_no_run_can_be_is_refused(
    api: Api, actor: Actor, saved: Question, body: dict, status: int, code: str, field: str | None
) -> None:
    branches.create_branch(name="task/old", actor=actor)
    branches.archive_branch(name="task/old", actor=actor)
    with nothing_left():
        refused(api.post("/evals", body), status, code, field)


def test_without_questions_there_is_no_run(api: Api, main: Any) -> None:
    with nothing_left():
        refused(api.post("/evals", {}), 409, "conflict")


def test_many_questions_are_put_by_a_worker(api: Api, actor: Actor, fact: Fact) -> None:
    lines = [{"text": f"{ASKED} {n}", "expected": [str(fact.uid)]} for n in range(MAX_AT_ONCE + 1)]
    questions.import_questions(questions=lines, actor=actor)
    answer = api.post("/evals", {})
    assert (answer.status_code, answer.json()["state"], answer.json()["done"]) == (202, "queued", 0)
    assert (answer.json()["results"], answer.json()["figures"]) == ([], {})
    assert QueueMessage.objects.filter(payload__contains=answer.json()["id"]).count() == 1
    run_eval(answer.json()["id"])
    run = api.get(f"/evals/{answer.json()['id']}").json()
    assert (run["state"], run["done"], run["figures"]["recall"]) == ("done", MAX_AT_ONCE + 1, 1.0)
    again = EvalRun.objects.get()
    run_queued(again.pk)
    run_queued(uuid4())
    assert EvalRun.objects.get().took_ms == again.took_ms


@pytest.mark.parametrize("side", ["branch", "against"])
def test_a_run_whose_branch_is_archived_before_its_turn_fails_and_says_why(
    api: Api, actor: Actor, fact: Fact, side: str
) -> None:
    run = queue_run(actor, fact, side)
    branches.archive_branch(name="task/old", actor=actor)
    for _ in range(2):
        run_queued(run.pk)
    told = api.get(f"/evals/{run.pk}").json()
    text = "The branch task/old is archived, and a search finds nothing on it: restore it first."
    assert (told["state"], told["error"], told["figures"], told["results"]) == ("failed", text, {}, [])
    EvalRun.objects.update(created_at=timezone.now() - LOST_AFTER - timedelta(seconds=1))
    QueueMessage.objects.all().delete()
    sweep_evals()
    assert not QueueMessage.objects.exists()


def queue_run(actor: Actor, fact: Fact, side: str) -> EvalRun:
    branches.create_branch(name="task/old", actor=actor)
    lines = [{"text": f"{ASKED} {n}", "expected": [str(fact.uid)]} for n in range(MAX_AT_ONCE + 1)]
    questions.import_questions(questions=lines, actor=actor)
    if side == "branch":
        return evals.start_eval(actor=actor, branch_name="task/old", against={"branch": "main"})
    return evals.start_eval(actor=actor, against={"branch": "task/old"})


def test_a_run_whose_message_was_lost_is_swept(actor: Actor, fact: Fact) -> None:
    lines = [{"text": f"{ASKED} {n}", "expected": [str(fact.uid)]} for n in range(MAX_AT_ONCE + 1)]
    questions.import_questions(questions=lines, actor=actor)
    run, other = evals.start_eval(actor=actor), evals.start_eval(actor=actor)
    waiting = QueueMessage.objects.filter(payload__contains=str(run.pk))
    waiting.delete()
    sweep_evals()
    assert not waiting.exists()
    EvalRun.objects.update(created_at=timezone.now() - LOST_AFTER - timedelta(seconds=1))
    for _ in range(2):
        sweep_evals()
        assert waiting.count() == 1
        assert QueueMessage.objects.filter(payload__contains=str(other.pk)).count() == 1
    waiting.delete()
    run_queued(run.pk)
    sweep_evals()
    assert not waiting.exists()
    EvalRun.objects.filter(pk=run.pk).update(
        state=EvalRun.State.RUNNING, created_at=timezone.now() - SWEPT - LOST_AFTER
    )
    sweep_evals()
    assert not waiting.exists()
    assert EvalRun.objects.get(pk=run.pk).error.startswith("No worker put the questions within 7 days.")


# ---- figures -------------------------------------------------------------------------------------------


def test_figures_of_ranks() -> None:
    a, b = uuid4(), uuid4()
    results = [
        Result(uuid4(), {a: 1, b: None}, {a: 1, b: 12}),
        Result(uuid4(), {a: 4}, {a: 11}),
        Result(uuid4(), {a: 11}, {a: 10}),
        Result(uuid4(), {}, {}, {a: "erased"}),
    ]
    assert [one.describe_change(10) for one in results] == ["moved", "gained", "lost", "unscored"]
    figures = summarise(results, 10)
    assert (figures["scored"], figures["recall"], figures["mrr"]) == (
        3,
        0.5,
        round((1 + 1 / 4 + 1 / 11) / 3, 4),
    )
    assert figures["before"] == {"recall": 0.5, "mrr": round((1 + 1 / 11 + 1 / 10) / 3, 4)}
    assert summarise([], 10) == {"scored": 0, "recall": None, "mrr": None}


def test_significance_is_paired_and_seeded() -> None:
    clear, chance = np.array([0.5] * 20), np.array([0.5, -0.5] * 10)
    assert measure_difference(clear) == measure_difference(clear)
    assert measure_difference(clear)["p"] < 0.001
    found = measure_difference(chance)
    assert (found["difference"], found["p"]) == (0.0, 1.0)
    assert found["low"] < 0 < found["high"]
    assert measure_difference(np.zeros(5)) == {"difference": 0.0, "low": 0.0, "high": 0.0, "p": 1.0}
