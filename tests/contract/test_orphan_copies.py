"""Orphaned copies of a killed process are deleted after a day; known ones stay."""

import os
import signal
import subprocess
import sys
from datetime import timedelta
from uuid import UUID

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.utils import timezone

from memory.actors import local_actor
from memory.db.backend import get_store_copies
from memory.db.store_copies import build_prefix
from memory.db.temporary_database import temporary_alias
from memory.engines.store import snapshots, workspaces
from memory.engines.store.maintenance import delete_orphans
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.store.workspaces import WorkspaceEngine
from memory.models import Snapshot, Workspace
from tests import databases

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
LONG_AGO = "0190000000007000800000000000000"  # an id without its last digit
STORES, WORK = SnapshotManager(), WorkspaceEngine()
START = (
    "import sys, django; django.setup(); "
    "from tests.contract import test_orphan_copies as t; t.{}(sys.argv[1])"
)


@pytest.fixture(autouse=True)
def nothing_of_other_tests(project):
    a_day_later()
    assert there() == (set(), set())


def there() -> tuple[set[str], set[str]]:
    return get_store_copies().list_snapshots(), get_store_copies().list_workspaces()


def a_day_later() -> int:
    with time_machine.travel(timezone.now() + timedelta(hours=25)):
        return delete_orphans()


# ---- what runs in a process of its own -------------------------------------------------------------


def die(*args: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def snapshot_and_die(project: str) -> None:
    pytest.MonkeyPatch().setattr(snapshots, "store_snapshot", die)
    STORES.create_store_snapshot(name="lost", actor=local_actor(UUID(project)))


def work_and_die(project: str) -> None:
    pytest.MonkeyPatch().setattr(workspaces, "store_workspace", die)
    WORK.create_workspace(name="lost", actor=local_actor(UUID(project)))


def killed(work: str, project: object) -> None:
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "day1site.settings.test",
        "DAY1_TEST_DATABASE_URL": databases.url(),
    }
    ran = subprocess.run(
        [sys.executable, "-c", START.format(work), str(project)], cwd=settings.BASE_DIR, env=environment
    )
    assert ran.returncode == -signal.SIGKILL


# ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_a_killed_process_has_left(actor):
    kept = STORES.create_store_snapshot(name="kept", actor=actor).copy
    open_ = WORK.create_workspace(name="open", actor=actor).copy
    killed("snapshot_and_die", actor.project_id)
    killed("work_and_die", actor.project_id)
    assert (Snapshot.objects.count(), Workspace.objects.count()) == (1, 1)
    frozen, forks = there()
    assert (len(frozen), len(forks)) == (2, 2)
    assert delete_orphans() == 0  # another process may be working on them
    assert a_day_later() == 2
    assert a_day_later() == 0
    assert there() == ({kept}, {open_})


def test_a_copy_that_was_to_be_removed(actor):
    """Simulate a process killed after the row was deleted or ended, but before the copy was."""
    made, work = (
        STORES.create_store_snapshot(name="a", actor=actor),
        WORK.create_workspace(name="a", actor=actor),
    )
    Snapshot.objects.all().delete()
    Workspace.objects.update(state="dropped", slot=None)
    assert there() == ({made.copy}, {work.copy})
    assert a_day_later() == 2
    assert there() == (set(), set())


@databases.only_on_sqlite
def test_what_others_put_beside_them_stays(actor):
    folder = connection.copies.folder / "snapshots"
    folder.mkdir(exist_ok=True)
    prefix = build_prefix(connection.copies.online.path.name)
    old = folder / f"{prefix}_{LONG_AGO}0.sqlite3"
    draft = folder / f".{prefix}_{LONG_AGO}1.sqlite3.x7"
    own = [folder / "notes.txt", folder / "mine.sqlite3", folder / f"{prefix}_0190.sqlite3"]
    own.append(folder / f"day1_{LONG_AGO}2.sqlite3")  # a name without the store's id
    for file in (old, draft, *own):
        file.write_text("x")
    assert delete_orphans() == 2
    assert sorted(folder.iterdir()) == sorted(own)
    for file in own:
        file.unlink()


@databases.only_on_sqlite
def test_copies_of_another_store_in_the_folder_stay(actor):
    """Share the two folders among stores: DATABASE_URL may name any file."""
    here = get_store_copies()
    kept = STORES.create_store_snapshot(name="kept", actor=actor).copy
    (beside := here.folder / "other.sqlite3").write_bytes(databases.read_file(here.online.path))
    with temporary_alias({"NAME": str(beside)}) as alias:
        other = get_store_copies(alias)
        taken, fork = other.make_name(UUID(f"{LONG_AGO}3")), other.make_name(UUID(f"{LONG_AGO}4"), "ws")
        other.take_snapshot(taken)
        other.create_workspace(fork)
        assert a_day_later() == 0
        assert (other.list_snapshots(), other.list_workspaces(), there()) == (
            {taken},
            {fork},
            ({kept}, set()),
        )
        other.drop_snapshot(taken)
        other.drop_workspace(fork)
    beside.unlink()


@databases.only_on_sqlite
def test_one_that_cannot_be_removed_keeps_none_of_the_others(actor, caplog):
    copies = get_store_copies()
    stuck, gone = (copies.folder / "snapshots" / f"{copies.prefix}_{LONG_AGO}{n}.sqlite3" for n in (5, 6))
    stuck.mkdir(parents=True)  # a folder cannot be unlinked as a file
    gone.write_text("x")
    assert delete_orphans() == 1
    assert (stuck.exists(), gone.exists()) == (True, False)
    assert f"The copy {stuck.stem} is left: The copy could not be removed" in caplog.text
    stuck.rmdir()


@databases.only_on_matrixone
def test_copies_of_other_databases_stay(actor):
    other = "day1_00000000_ws_01900000000070008000000000000000"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {other}")
    assert delete_orphans() == 0
    assert get_store_copies().has_workspace(other)
    connection.copies._run_statement(f"DROP DATABASE {other}")
