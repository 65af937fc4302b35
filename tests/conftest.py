"""Shared fixtures: a project with its branch main, and an actor with all rights."""

import gc
import os
import shutil
import tempfile
import time
from collections.abc import Generator, Iterator
from socketserver import BaseServer
from typing import Any

import hypothesis
import pytest
from django.contrib.contenttypes.management import create_contenttypes
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.db.models.signals import post_migrate
from django.test import TransactionTestCase

from memory.actors import Actor, local_actor
from memory.clock import clock
from memory.db.backend import get_backend, get_features, get_store_copies
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import create_main
from memory.engines.support.write_buffer import buffer
from memory.models import Branch, Project, Snapshot, Workspace
from memory.models.nodes import new_uuid, next_rid
from memory.models.usage import forget_known
from tests import amounts, databases, timings, up_process
from tests.command_line import day1, day1_on_server  # noqa: F401  fixtures

gc.disable()  # until all tests are collected
# A twentieth of Hypothesis's own number: each run draws others. `make nightly` plays the profile thorough.
hypothesis.settings.register_profile("untimed", hypothesis.settings.default, max_examples=5, deadline=None)
hypothesis.settings.load_profile("untimed")
hypothesis.settings.register_profile("thorough", max_examples=800, deadline=None)
assert amounts.TODAY  # which the processes of pytest-xdist read
pytest.register_assert_rewrite("tests.browser")  # its checks say what they found
# Files of 10 s or more: begun last, one of them would keep a single process busy at the end.
LONG_FILES = (
    "tests/site/test_release_before.py",
    "tests/site/test_up.py",
    "tests/site/test_cli_processes.py",
    "tests/site/test_migrate_store.py",
    "tests/site/test_connect_finds.py",
    "tests/mcp/test_mcp_stdio.py",
    "tests/site/test_processes.py",
    "tests/site/test_pages_queries.py",
    "tests/access/test_matrix.py",
    "tests/memory/test_linear_time.py",
    "tests/memory/api/test_api_schema.py",
    "tests/memory/test_versions.py",
    "tests/site/test_demo.py",
    "tests/site/test_add_a_field.py",
    "tests/site/test_schema_file.py",
    "tests/site/test_current_folder.py",
    "tests/site/test_demo_holds.py",
    "tests/site/test_add_a_noun.py",
    "tests/memory/api/test_api_server.py",
    "tests/access/test_end_users.py",
    "tests/memory/merging/test_overlay.py",
    "tests/site/test_hook_transcripts.py",
    "tests/memory/erasure/test_erasure_safety.py",
    "tests/site/test_pages_browser.py",
    "tests/memory/merging/test_pairs.py",
    "tests/memory/test_observations.py",
    "tests/memory/api/test_api_budget.py",
    "tests/site/test_wheel.py",
    "tests/site/test_doctor.py",
    "tests/memory/test_queue.py",
    "tests/site/test_hooks_revised.py",
    "tests/site/test_slow_clients.py",
    "tests/memory/merging/test_random_histories.py",
    "tests/memory/store/test_salvage.py",
    "tests/memory/store/test_check.py",
    "tests/site/test_service.py",
    "tests/snapshots/test_snapshots.py",
    "tests/test_architecture.py",
    "tests/test_docs.py",
    "tests/test_statements.py",
    "tests/site/test_hidden.py",
)


@pytest.hookimpl(wrapper=True, tryfirst=True)  # marks come before pytest selects by them
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    measured = timings.load_slow_tests()
    for item in items:
        by_place = item.nodeid.startswith("tests/e2e/") or item.get_closest_marker("browser")
        if by_place or timings.name_function(item.nodeid) in measured:
            item.add_marker(pytest.mark.slow)
        if hypothesis.is_hypothesis_test(getattr(item, "obj", None)):
            item.add_marker(pytest.mark.nightly)
    if not connection.features.uses_savepoints:
        commit_in_each(items)
    yield
    if hasattr(config, "workerinput"):  # an xdist worker: the longest files start first
        items.sort(key=place_of)


def pytest_collection_finish() -> None:
    """Keep what was imported and collected out of each search for cycles: a sixth of the processor time."""
    gc.enable()
    gc.collect()
    gc.freeze()


def place_of(item: pytest.Item) -> tuple[bool, int]:
    """Return what a full run sorts by: browser tests, then long files, then the others as they are."""
    file = item.nodeid.partition("::")[0]
    place = LONG_FILES.index(file) if file in LONG_FILES else len(LONG_FILES)
    return not file.startswith("tests/e2e/"), place


def pytest_xdist_auto_num_workers() -> int:
    """Run one process more than there are cores: tests of processes and pages wait for one another."""
    return (os.cpu_count() or 1) + 1


def commit_in_each(items: list[pytest.Item]) -> None:
    """Mark tests to commit, with tables emptied afterwards, where a database lacks savepoints."""
    for item in items:
        if item.get_closest_marker("django_db") or "db" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.django_db(transaction=True), append=False)


@pytest.fixture(scope="session", autouse=True)
def no_permissions() -> None:
    """Skip Django's permissions and content types, which are unused, when tables are emptied."""
    post_migrate.disconnect(dispatch_uid="django.contrib.auth.management.create_permissions")
    post_migrate.disconnect(create_contenttypes)


@pytest.fixture(scope="session", autouse=True)
def quiet_servers() -> None:
    """Let servers say nothing of clients that hung up: it would stand in what the next test prints."""
    BaseServer.handle_error = lambda *_: None  # type: ignore[method-assign]  # of the standard library


@pytest.fixture(scope="session", autouse=True)
def quick_teardown() -> None:
    """Empty tables after tests that commit, and keep the connection: half of what such a test costs."""
    if databases.ON_SQLITE:
        TransactionTestCase._fixture_teardown = lambda _case: databases.empty_tables()
        TransactionTestCase._should_reload_connections = lambda _case: False


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Let side by side processes begin with a copy of one migrated store: migrations take seconds."""
    return databases.ON_SQLITE and "PYTEST_XDIST_WORKER" in os.environ


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, django_db_keepdb: bool) -> None:
    store = connection.settings_dict["TEST"]["NAME"]
    if django_db_keepdb:
        shutil.copy2(up_process.migrated_store(), store)
        databases.forget_permissions(store)
    if databases.ON_SQLITE:
        databases.guard_files(store)


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep locks of this user on this machine, such as an import's, apart for each test process."""
    with pytest.MonkeyPatch.context() as patch:
        folder = str(tmp_path_factory.mktemp("tmp"))
        patch.setenv("TMPDIR", folder)
        patch.setattr(tempfile, "tempdir", folder)
        yield


def pytest_sessionfinish() -> None:
    databases.drop_beside()


@pytest.fixture(autouse=True)
def nothing_left_over() -> Iterator[None]:
    """Reset ids of a rolled back database, an advanced clock, unwritten values and a mark of damage."""
    clock.restart(time.time_ns)  # time_machine, which may stop it, does not stop the other one
    next_rid.drop_leases()
    forget_known()
    get_backend().clear_damage()  # else one test fails all that follow
    new_uuid.restart_ids()
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
def without_gates(actor: Actor) -> None:
    """Let every branch be merged whatever arrives, so that a test sees what a merge does."""
    PolicyEngine().set_policy(pattern="*", gates=[], actor=actor)


@pytest.fixture
def other_project(db: None) -> Project:
    """Return another project, invisible from ``project``."""
    project = Project.objects.create(name="Other", slug="other")
    create_main(project)
    return project


@pytest.fixture
def copies_open(project: Project, django_db_blocker: Any) -> Iterator[None]:
    """Allow copies of the store to be opened, which Django's test case forbids, and drop them afterwards."""
    with django_db_blocker.unblock():
        yield
        copies = get_store_copies()
        for name in Snapshot.objects.exclude(copy="").values_list("copy", flat=True):
            copies.drop_snapshot(name)
        for name in Workspace.objects.values_list("copy", flat=True):
            copies.drop_workspace(name)
        if get_features().has_time_window:
            copies.set_retention(0)
