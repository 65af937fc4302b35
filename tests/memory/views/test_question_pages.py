"""The pages of saved questions, of a run, and of a merge's recall."""

import re
from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import EvalEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.models import EvalRun, Fact, Question

pytestmark = pytest.mark.django_db(transaction=True)
ASKED = "How long do <b>tokens</b> live?"
PAGE = "/p/test/questions"


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


@pytest.fixture
def fact(actor: Actor, main: Any) -> Fact:
    fact = FactEngine().write_fact(fact_text="Tokens live for an hour.", actor=actor).fact
    ActionEngine().apply_action(action="verify", fact_ids=[fact.uid], actor=actor)
    return fact


@pytest.fixture
def question(actor: Actor, fact: Fact) -> Question:
    return QuestionEngine().create_question(text=ASKED, expected=[fact.uid], actor=actor)


def test_one_press_at_a_hit_saves_a_question(
    curator: Client, viewer: Client, actor: Actor, fact: Fact
) -> None:
    search = f"/p/test/search?q={ASKED.replace('<b>', '').replace('</b>', '')}"
    assert "Save question" not in text(viewer.get(search))
    assert "Save question" in text(curator.get(search))
    body = {"text": ASKED, "fact": str(fact.uid)}
    answer = curator.post(f"{PAGE}/save", body, headers={"Referer": f"http://testserver{search}"})
    assert (answer.status_code, answer.url.partition("?")[0]) == (302, "/p/test/search")
    question = Question.objects.get()
    assert (question.text, question.expected, question.created_by) == (ASKED, [str(fact.uid)], "cora")
    curator.post(f"{PAGE}/save", body)
    assert Question.objects.get().expected == [str(fact.uid)]
    other = FactEngine().write_fact(fact_text="Another.", actor=actor).fact
    curator.post(f"{PAGE}/save", {**body, "fact": str(other.uid)})
    assert Question.objects.get().expected == [str(fact.uid), str(other.uid)]


def test_questions_are_listed_run_and_deleted(curator: Client, question: Question) -> None:
    page = text(curator.get(PAGE))
    assert "How long do &lt;b&gt;tokens&lt;/b&gt; live?" in page
    answer = curator.post(PAGE, {"do": "run", "k": "5", "against_recipe": "timeless"})
    run = EvalRun.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/p/test/evals/{run.pk}")
    assert (run.k, run.against["recipe"]) == (5, "timeless")
    shown = text(curator.get(answer.url))
    assert "1.000 → 1.000" in shown
    assert "as before" in shown
    assert "100%" in text(curator.get(PAGE))
    assert "100%" in text(curator.get("/p/test/"))
    assert curator.post(PAGE, {"do": "delete", "question": str(question.pk)}).status_code == 302
    assert "was deleted since" in text(curator.get(answer.url))


def test_runs_are_drawn(curator: Client, actor: Actor, question: Question) -> None:
    EvalEngine().start_eval(actor=actor)
    assert '<svg class="chart"' not in text(curator.get(PAGE))
    EvalEngine().start_eval(actor=actor)
    assert re.findall(r'polyline class="(\w+)" points="([\d., ]+)"', text(curator.get(PAGE))) == [
        ("mrr", "12.0,12.0 628.0,12.0"),
        ("recall", "12.0,12.0 628.0,12.0"),
    ]


def test_insights_compares_the_runs(curator: Client, actor: Actor, question: Question, fact: Fact) -> None:
    EvalEngine().start_eval(actor=actor)
    assert 'id="recall"' not in text(curator.get("/p/test/insights"))
    ActionEngine().apply_action(action="archive", fact_ids=[fact.uid], actor=actor)
    EvalEngine().start_eval(actor=actor)
    page = text(curator.get("/p/test/insights"))
    card = page[page.index('id="recall"') : page.index('id="junk"')]
    assert re.findall(r">(\d+%|[+−±]\d+|–)<", card) == ["0%", "−100", "100%", "–"]
    assert ("Recall@10" in card, ">lost</span>" in card, "rank 1 → –" in card) == (True, True, True)


def test_runs_of_another_recipe_or_of_the_past_are_not_drawn_with_those_of_now(
    curator: Client, actor: Actor, question: Question
) -> None:
    for side in ({}, {"at": 0}, {"recipe": "timeless"}, {}, {"at": 0}):
        EvalEngine().start_eval(actor=actor, **side)
    drawn = re.findall(r'polyline class="recall" points="([\d., ]+)"', text(curator.get(PAGE)))
    assert drawn == ["12.0,12.0 628.0,12.0"]
    home = text(curator.get("/p/test/"))
    assert "Recall of the last 2 runs: 100 percent at first, 100 percent now." in home


def test_a_run_says_how_many_questions_went_by_their_words(
    curator: Client, actor: Actor, question: Question
) -> None:
    run = EvalEngine().start_eval(actor=actor)
    label = "By words alone, as the embedder did not answer"
    assert label not in text(curator.get(f"/p/test/evals/{run.pk}"))
    assert "<dt>Lost" not in text(curator.get(f"/p/test/evals/{run.pk}"))
    EvalRun.objects.update(figures={**run.figures, "by_words": 1})
    assert f"<dt>{label}</dt><dd>1</dd>" in text(curator.get(f"/p/test/evals/{run.pk}"))


def test_a_figure_of_zero_is_no_missing_one(curator: Client, actor: Actor, question: Question) -> None:
    EvalEngine().start_eval(actor=actor, at=0)
    EvalEngine().start_eval(actor=actor, against={"recipe": "timeless"})
    rows = re.findall(r"<tr>(.*?)</tr>", text(curator.get(PAGE)))[1:]
    cells = [
        [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", row)] for row in rows
    ]
    assert [row[2:5] for row in cells] == [["100%", "1.000", "0"], ["0%", "0.000", "–"]]


def test_a_merge_shows_ranks_before_and_after(
    maintainer: Client, actor: Actor, fact: Fact, question: Question
) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    FactEngine().delete_fact(fact_id=fact.uid, branch_name="task/a", actor=actor)
    MergeRequestEngine().create_request(source="task/a", actor=actor)
    page = text(maintainer.get("/p/test/merge-requests/1?tab=recall"))
    assert (
        'merge-requests/1?tab=recall" title="Saved questions that would no longer find what they expect: 1.'
        in page
    )
    assert "How long do &lt;b&gt;tokens&lt;/b&gt; live?" in page
    assert re.search(r">rank 1 → –<", page)
    assert maintainer.post("/p/test/merge-requests/1?do=merge").status_code == 409
    assert Fact.objects.on(question.project.branches.get(name="main")).filter(uid=fact.uid).exists()
