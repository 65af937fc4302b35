"""Runs whose embedder does not answer: both sides go by the words, and the figures say so."""

import json
from typing import Any

import pytest
from werkzeug import Request, Response

from memory.actors import Actor
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.evaluation.runs import EvalEngine
from memory.models import Fact, Question
from tests.memory.api.client import UNKNOWN
from tests.memory.evaluation.conftest import ASKED

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def failing(httpserver: Any, settings: Any) -> list[str]:
    """Return the queries that were sent to an embedder which answers all but the second one."""
    asked: list[str] = []

    def respond(request: Request) -> Response:
        asked.append(request.json["input"][0])
        if len(asked) == 2:
            return Response("later", 503)
        vector = {"object": "embedding", "index": 0, "embedding": [1.0] + [0.0] * 7}
        body = {"object": "list", "model": "m", "data": [vector], "usage": {}}
        return Response(json.dumps(body), content_type="application/json")

    httpserver.expect_request("/v1/embeddings", method="POST").respond_with_handler(respond)
    settings.DAY1 = {
        **settings.DAY1,
        "embedder": "openai",
        "embedding_api_key": "any",
        "embedding_model": "m",
        "embedding_base_url": httpserver.url_for("/v1"),
    }
    return asked


def test_the_embedder_is_asked_once_a_question_and_no_more_after_it_failed(
    actor: Actor, fact: Fact, saved: Question, failing: list[str]
) -> None:
    for text in ("Tokens?", "An hour?", "Live?"):
        QuestionEngine().create_question(text=text, expected=[fact.uid], actor=actor)
    run = EvalEngine().start_eval(actor=actor, against={"recipe": "timeless"})
    assert failing == [ASKED, "Tokens?"]
    assert run.figures["by_words"] == 3
    assert [run.figures[name] for name in ("scored", "lost", "gained")] == [4, 0, 0]
    assert [result["ranks"] == result["before"] for result in run.results] == [True] * 4


def test_where_the_embedder_answers_nothing_is_said(actor: Actor, fact: Fact, saved: Question) -> None:
    assert "by_words" not in EvalEngine().start_eval(actor=actor).figures


def test_a_question_that_is_not_put_makes_no_embedder_silent(
    actor: Actor, fact: Fact, failing: list[str]
) -> None:
    lines = [{"text": "Nowhere?", "expected": [UNKNOWN]}, {"text": ASKED, "expected": [str(fact.uid)]}]
    QuestionEngine().import_questions(questions=lines, actor=actor)
    run = EvalEngine().start_eval(actor=actor)
    assert failing == [ASKED]
    assert run.figures == {"scored": 1, "recall": 1.0, "mrr": 1.0}
