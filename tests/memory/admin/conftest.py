"""Users of a project's admin pages, with test data."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory.engines.facts.engine import FactEngine
from memory.models import Membership, Project
from memory.models.nodes import uuid7

HOME = "/admin/p/test/"


@pytest.fixture
def person(project: Project) -> Callable[..., Client]:
    """Return a function for the browser of a new user with a role in the project."""

    def person(role: str = "", name: str = "", **more: Any) -> Client:
        user = User.objects.create_user(name or f"{role or 'nobody'}-{uuid7().hex[-6:]}", **more)
        if role:
            Membership.objects.create(project=project, user=user, role=role)
        client = Client()
        client.force_login(user)
        return client

    return person


@pytest.fixture
def curator(person: Callable[..., Client]) -> Client:
    return person("curator", is_staff=True)


@pytest.fixture
def viewer(person: Callable[..., Client]) -> Client:
    return person("viewer", is_staff=True)


@pytest.fixture
def maintainer(person: Callable[..., Client]) -> Client:
    return person("maintainer", is_staff=True)


@pytest.fixture
def write(actor: Any) -> Callable[..., Any]:
    def write(text: str, branch: str = "main", **more: Any) -> Any:
        return FactEngine().write_fact(fact_text=text, branch_name=branch, actor=actor, **more).fact

    return write
