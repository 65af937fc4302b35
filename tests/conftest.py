"""What many tests start from: a project with its branch main, and somebody who may do everything."""

from collections.abc import Iterator

import pytest

from memory.actors import Actor, local_actor
from memory.engines.branches import create_main
from memory.engines.buffers import buffer
from memory.models import Branch, Project
from memory.models.nodes import next_rid


@pytest.fixture(autouse=True)
def nothing_left_over() -> Iterator[None]:
    """Neither ids leased from a database that was rolled back, nor values that were never written."""
    next_rid.reset()
    yield
    buffer.clear()


@pytest.fixture
def project(db: None) -> Project:
    project = Project.objects.create(name="Test", slug="test")
    create_main(project)
    return project


@pytest.fixture
def main(project: Project) -> Branch:
    return project.branches.get(name="main")


@pytest.fixture
def actor(project: Project) -> Actor:
    return local_actor(project.pk)


@pytest.fixture
def other_project(db: None) -> Project:
    """Nothing of it may ever be seen from ``project``."""
    project = Project.objects.create(name="Other", slug="other")
    create_main(project)
    return project
