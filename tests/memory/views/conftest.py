"""Members of a project, each with a browser of their own."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from memory.models import Membership, Project

Role = Membership.Role


def person(name: str, project: Project | None = None, role: str = Role.VIEWER) -> Any:
    user = get_user_model().objects.create_user(name, password="a long password")
    if project:
        Membership.objects.create(user=user, project=project, role=role)
    return user


def browser(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def viewer(project: Project) -> Client:
    return browser(person("vera", project))


@pytest.fixture
def curator(project: Project) -> Client:
    return browser(person("cora", project, Role.CURATOR))


@pytest.fixture
def maintainer(project: Project) -> Client:
    return browser(person("max", project, Role.MAINTAINER))


@pytest.fixture
def stranger(other_project: Project) -> Client:
    """Return the browser of a member of another project only."""
    return browser(person("sam", other_project, Role.MAINTAINER))
