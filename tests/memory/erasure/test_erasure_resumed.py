"""Erasures that were interrupted after they were recorded and before the copies were dropped."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from memory.engines.store.snapshots import SnapshotManager
from memory.engines.store.workspaces import WorkspaceEngine
from memory.models import Erasure, Membership, Snapshot, Workspace
from tests.databases import ON_SQLITE, only_on_sqlite
from tests.memory.api.client import api_for
from tests.memory.erasure.helpers import ERASURES, FACTS, WORD, files_with, tables_with
from tests.memory.views.conftest import browser, person
from tests.up_process import ROOT, Up, environment, prepared
from tests.waiting import wait_until

SNAPSHOTS = SnapshotManager()


class StopOnceRecorded:
    """Interrupts the process at the first statement after the transaction that records an erasure."""

    recorded = False

    def __call__(self, execute: Any, sql: str, *args: Any) -> Any:
        if self.recorded and not connection.in_atomic_block:
            raise KeyboardInterrupt
        self.recorded = self.recorded or sql.replace("`", '"').startswith('INSERT INTO "memory_erasure"')
        return execute(sql, *args)


def fail_to_drop(execute: Any, sql: str, *args: Any) -> Any:
    if sql.replace("`", '"').startswith('DELETE FROM "memory_snapshot"'):
        raise OSError("The disk does not answer.")
    return execute(sql, *args)


def interrupt_erasure(actor: Any, fact: Any) -> None:
    what = {"scope": "fact", "target": str(fact.uid), "confirm": "test", "drop_copies": True}
    with connection.execute_wrapper(StopOnceRecorded()), pytest.raises(KeyboardInterrupt):
        ERASURES.erase(actor=actor, **what)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("copies_open")
class TestResumed:
    def test_the_copies_are_dropped_by_the_sweep(self, actor, project, main) -> None:
        api = api_for(project)
        fact = FACTS.write_fact(actor=actor, fact_text=f"Frozen {WORD}").fact
        SNAPSHOTS.create_store_snapshot(name="nightly", actor=actor)
        WorkspaceEngine().create_workspace(name="cleaning", actor=actor)
        interrupt_erasure(actor, fact)
        assert (Snapshot.objects.count(), Workspace.objects.open().count()) == (1, 1)
        (row,) = api.get("/erasures").json()["results"]
        assert (row["state"], row["to_drop"], row["dropped"]) == (
            "pending",
            ["snapshot nightly", "workspace cleaning"],
            [],
        )
        assert ERASURES.finish_pending() == 1
        assert (Snapshot.objects.count(), Workspace.objects.open().count()) == (0, 0)
        (row,) = api.get("/erasures").json()["results"]
        assert (row["state"], row["waits_for"], row["to_drop"], row["dropped"]) == (
            "done",
            "",
            [],
            ["snapshot nightly", "workspace cleaning"],
        )
        assert tables_with(WORD) == set()
        if ON_SQLITE:
            assert files_with(WORD) == {}

    def test_a_copy_that_is_gone_by_now(self, actor, main) -> None:
        fact = FACTS.write_fact(actor=actor, fact_text=f"Frozen {WORD}").fact
        kept = SNAPSHOTS.create_store_snapshot(name="nightly", actor=actor)
        interrupt_erasure(actor, fact)
        SNAPSHOTS.drop_snapshot(snapshot_id=kept.pk, actor=actor)
        assert ERASURES.finish_pending() == 1
        assert Erasure.objects.get().dropped == ["snapshot nightly"]

    def test_a_copy_that_cannot_be_dropped_now(self, actor, main) -> None:
        """Whatever error it is: the memories are blank before, and the sweep goes on."""
        fact = FACTS.write_fact(actor=actor, fact_text=f"Frozen {WORD}").fact
        SNAPSHOTS.create_store_snapshot(name="nightly", actor=actor)
        what = {"scope": "fact", "target": str(fact.uid), "confirm": "test", "drop_copies": True}
        with connection.execute_wrapper(fail_to_drop), pytest.raises(OSError, match="disk"):
            ERASURES.erase(actor=actor, **what)
        assert tables_with(WORD) == set()
        assert Erasure.objects.get().state == "pending"
        assert ERASURES.finish_pending() == 1
        assert (Snapshot.objects.count(), Erasure.objects.get().to_drop) == (0, [])

    def test_a_copy_that_nobody_agreed_to_lose(self, actor, project, main) -> None:
        """It was made before the rows were blanked: a person has to drop it, and the page says so."""
        maintainer = browser(person("max", project, Membership.Role.MAINTAINER))
        fact = FACTS.write_fact(actor=actor, fact_text=f"Frozen {WORD}").fact
        SNAPSHOTS.create_store_snapshot(name="nightly", actor=actor)
        interrupt_erasure(actor, fact)
        later = SNAPSHOTS.create_store_snapshot(name="later", actor=actor)
        page = maintainer.get(f"/p/test/erasures/{Erasure.objects.get().pk}").content.decode()
        assert "Copies still to be dropped" in page
        assert "snapshot nightly" in page
        assert ERASURES.finish_pending() == 0
        erasure = Erasure.objects.get()
        assert (erasure.dropped, erasure.to_drop) == (["snapshot nightly"], [])
        assert erasure.waits_for == "Copies of the store were made meanwhile: snapshot later. Drop them."
        page = maintainer.get(f"/p/test/erasures/{erasure.pk}").content.decode()
        assert erasure.waits_for in page
        assert list(Snapshot.objects.values_list("name", flat=True)) == ["later"]
        SNAPSHOTS.drop_snapshot(snapshot_id=later.pk, actor=actor)
        assert ERASURES.finish_pending() == 1


KILLED = f"""
import os, signal
import django
django.setup()
from django.db import connection
from memory.actors import local_actor
from memory.engines.store.snapshots import SnapshotManager
from memory.models import Project
from tests.memory.erasure.helpers import ERASURES, FACTS
from tests.memory.erasure.test_erasure_resumed import StopOnceRecorded

actor = local_actor(Project.objects.get().pk)
fact = FACTS.write_fact(actor=actor, fact_text="Frozen {WORD}").fact
SnapshotManager().create_store_snapshot(name="nightly", actor=actor)
try:
    with connection.execute_wrapper(StopOnceRecorded()):
        what = dict(scope="fact", target=str(fact.uid), confirm=Project.objects.get().slug)
        ERASURES.erase(actor=actor, **what, drop_copies=True)
except KeyboardInterrupt:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@only_on_sqlite
@pytest.mark.slow
def test_a_server_goes_on_with_it_when_it_starts(tmp_path: Path) -> None:
    """The process that erases is killed; the next start of the server finishes it, before any beat."""
    folder = prepared(tmp_path / "data")
    with Up(folder) as up:
        key = up.first["key"]
    settings = {"DAY1_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "day1site.settings.dev"}
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=ROOT, env=environment(**settings))
    assert killed.returncode == -9
    assert any(WORD.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    with Up(folder) as up:

        def list_erasures() -> list[dict[str, Any]]:
            return json.loads(up.get("/api/v1/erasures", Authorization=f"Bearer {key}")[1])["results"]

        wait_until(lambda: [row["state"] for row in list_erasures()] == ["done"])
        assert [row["dropped"] for row in list_erasures()] == [["snapshot nightly"]]
    assert not any(WORD.encode() in path.read_bytes() for path in folder.rglob("*") if path.is_file())
