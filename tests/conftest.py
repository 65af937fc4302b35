"""What many tests start from: a project with its branch main, and somebody who may do everything. The tools
in bench import one another by their bare names, and so do tests that use them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from memory.actors import Actor, local_actor
from memory.engines.branches import create_main
from memory.engines.buffers import buffer
from memory.models import Branch, Project, Snapshot, Workspace
from memory.models.nodes import next_rid

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where a database cannot undo a part of a transaction, a test commits, and the tables are emptied."""
    if connection.features.uses_savepoints:
        return
    every = [app.name for app in apps.get_app_configs()]  # named, so that no permissions are made anew
    for item in items:
        if item.get_closest_marker("django_db") or "db" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.django_db(transaction=True, available_apps=every), append=False)


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


@pytest.fixture
def copies_open(project: Project, django_db_blocker: Any) -> Iterator[None]:
    """Copies of the store may be opened (Django's test case forbids databases that come later), and go."""
    with django_db_blocker.unblock():
        yield
        copies: Any = connection.copies  # type: ignore[attr-defined]
        for name in Snapshot.objects.exclude(copy="").values_list("copy", flat=True):
            copies.drop(name)
        for name in Workspace.objects.values_list("copy", flat=True):
            copies.drop_fork(name)
