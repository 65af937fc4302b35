"""A judge for each test that asks for one, and members with a browser of their own."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Fact, Membership, Project
from tests.curation.fake_judge import FakeJudge
from tests.memory.api.client import Api, api_for
from tests.memory.views.conftest import browser, person


@pytest.fixture
def judge(settings: Any) -> Iterator[FakeJudge]:
    with FakeJudge() as server:
        settings.DAY1 = {**settings.DAY1, **server.settings()}
        yield server


@pytest.fixture
def fact(actor: Actor, main: Any) -> Fact:
    text = "Access tokens of the shop live for 15 minutes and are renewed by the gateway."
    return FactEngine().write_fact(fact_text=text, actor=actor).fact


@pytest.fixture
def write(actor: Actor, main: Any) -> Callable[..., Fact]:
    def write(text: str, branch: str = "main", **fields: Any) -> Fact:
        return FactEngine().write_fact(fact_text=text, actor=actor, branch_name=branch, **fields).fact

    return write


@pytest.fixture
def api(project: Project) -> Api:
    return api_for(project)


@pytest.fixture
def viewer(project: Project) -> Client:
    return browser(person("vera", project))


@pytest.fixture
def curator(project: Project) -> Client:
    return browser(person("cora", project, Membership.Role.CURATOR))


@pytest.fixture
def maintainer(project: Project) -> Client:
    return browser(person("max", project, Membership.Role.MAINTAINER))


@pytest.fixture
def stranger(other_project: Project) -> Client:
    return browser(person("sam", other_project, Membership.Role.MAINTAINER))
