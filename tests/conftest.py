"""What many tests start from: a project with its branch main, and somebody who may do everything. The tools
in bench import one another by their bare names, and so do tests that use them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models.signals import post_migrate

from memory.actors import Actor, local_actor
from memory.engines.branches import create_main
from memory.engines.buffers import buffer
from memory.models import Branch, Project, Snapshot, Workspace
from memory.models.nodes import new_uuid, next_rid
from tests import databases

sys.path.append(str(Path(__file__).resolve().parent.parent / "bench"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from tests.sharing import Sharing

    return Sharing(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # one of several processes
        from tests.sharing import longest_first

        items.sort(key=longest_first)
    if not connection.features.uses_savepoints:
        commit_in_each(items)


def commit_in_each(items: list[pytest.Item]) -> None:
    """Where a database cannot undo a part of a transaction, a test commits, and the tables are emptied."""
    for item in items:
        if item.get_closest_marker("django_db") or "db" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.django_db(transaction=True), append=False)


@pytest.fixture(scope="session", autouse=True)
def no_permissions() -> None:
    """Django's permissions, which nobody asks for, are not made anew whenever the tables are emptied."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


def pytest_sessionfinish() -> None:
    databases.drop_beside()


@pytest.fixture(autouse=True)
def nothing_left_over() -> Iterator[None]:
    """Neither ids of a database that was rolled back or of a clock that was ahead, nor unwritten values."""
    next_rid.reset()
    new_uuid.reset()
    ContentType.objects.clear_cache()
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
        if connection.features.has_time_window:  # type: ignore[attr-defined]
            copies.keep_window(0)
