"""A fact and the saved question that expects it."""

from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.evaluation.questions import QuestionEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Fact, Project, Question
from tests.memory.api.client import Api, api_for

ASKED = "How long do tokens live?"
facts, questions = FactEngine(), QuestionEngine()


@pytest.fixture
def api(project: Project) -> Api:
    return api_for(project)


@pytest.fixture
def fact(actor: Actor, main: Any) -> Fact:
    return facts.write_fact(fact_text="Tokens live for an hour.", actor=actor).fact


@pytest.fixture
def saved(actor: Actor, fact: Fact) -> Question:
    return questions.create_question(actor=actor, text=ASKED, expected=[str(fact.uid)])
