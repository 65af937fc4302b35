"""Vectors in files: a process that begins with them finds what one without them finds, and reads less."""

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.actors import Actor
from memory.db.backend import get_backend
from memory.db.process_group import Turn, end_group, start_group
from memory.db.sqlite.stored_vectors import StoredVectors
from memory.db.sqlite.vector_caches import forget_vector_caches
from memory.db.sqlite.vector_files import META, VectorFiles, name_folder
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Commit, Fact, VectorClock
from tests.contract.test_vectors_contract import ASKED, MODEL, actor, embed, near, shown
from tests.databases import only_on_sqlite
from tests.memory.test_branches import some_actor, write
from tests.memory.test_process_group import end_of, in_child
from tests.systems import needs_fork

__all__ = ["actor"]  # a fixture

pytestmark = [pytest.mark.django_db(transaction=True), only_on_sqlite]

VECTORS = {"east": (1, 0, 0), "between": (1, 1, 0), "north": (0, 1, 0)}


@pytest.fixture(autouse=True)
def files(settings: Any) -> Iterator[Path]:
    """Keep files from the first row on, and none of another test."""
    settings.DAY1 = {**settings.DAY1, "vector_file_rows": 1}
    folder = name_folder(str(connection.settings_dict["NAME"]))
    forget_vector_caches()
    yield folder
    restart()
    shutil.rmtree(folder, ignore_errors=True)


def restart() -> None:
    """Let the writing thread end, and begin with an empty memory."""
    for thread in threading.enumerate():
        if thread.name == "vector-files":
            thread.join()
    forget_vector_caches()


def fill(actor: Actor) -> None:
    write(actor, *VECTORS)
    embed(actor, **VECTORS)
    assert near(shown(actor), actor) == list(VECTORS)
    restart()


def list_folders(files: Path) -> list[Path]:
    return sorted(path.parent for path in files.rglob(META))


def count_reads(actor: Actor, table: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert near(shown(actor), actor) == list(VECTORS)
    # The texts of the hits are read by the test itself.
    return sum(f'FROM "{table}"' in one["sql"] and "content_hash" in one["sql"] for one in queries)


def test_the_next_process_reads_neither_rows_nor_vectors(actor: Actor, files: Path) -> None:
    fill(actor)
    assert len(list_folders(files)) == 1
    assert (count_reads(actor, "memory_fact"), count_reads(actor, "memory_vector")) == (0, 0)


def test_without_files_it_reads_both(actor: Actor, files: Path, settings: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "vector_file_rows": 0}
    fill(actor)
    assert list_folders(files) == []
    assert count_reads(actor, "memory_vector") == 1


@needs_fork
@pytest.mark.parametrize("rows", [1, 0])
def test_a_process_that_has_read_lets_the_next_one_read(actor: Actor, settings: Any, rows: int) -> None:
    settings.DAY1 = {**settings.DAY1, "vector_file_rows": rows}
    group = start_group(has_worker=False)
    try:
        fill(actor)
        folder = VectorFiles(
            str(connection.settings_dict["NAME"]), Fact._meta.label, actor.project_id, MODEL
        ).folder
        assert end_of(in_child(lambda: Turn(group, str(folder)).acquire(0) or os._exit(3))) == 0
    finally:
        end_group()


@needs_fork
def test_a_process_waits_for_the_one_that_reads_and_maps_its_files(actor: Actor, files: Path) -> None:
    fill(actor)
    (folder,) = list_folders(files)
    hidden = folder.rename(files / "not-yet")
    group = start_group(has_worker=False)
    read, write_end = os.pipe()

    def read_rows() -> None:
        turn = Turn(group, str(folder.parent))
        turn.acquire(0)
        os.write(write_end, b"!")
        time.sleep(0.2)
        hidden.rename(folder)
        turn.release()

    try:
        reader = in_child(read_rows)
        os.read(read, 1)
        assert (count_reads(actor, "memory_fact"), count_reads(actor, "memory_vector")) == (0, 0)
        assert end_of(reader) == 0
    finally:
        end_group()


def test_what_came_since_is_found_and_what_ended_is_not(actor: Actor) -> None:
    fill(actor)
    write(actor, "nearest", "later")
    embed(actor, nearest=(1, 0.1, 0))
    north = Fact.objects.on(shown(actor).first().branch).get(fact_text="north")
    FactEngine().delete_fact(fact_id=north.uid, actor=actor)
    assert near(shown(actor), actor) == ["east", "nearest", "between"]
    restart()
    embed(actor, later=(1, 0, 0.05))
    assert near(shown(actor), actor) == ["east", "later", "nearest", "between"]
    assert near(shown(actor, seq=1), actor) == list(VECTORS)


def test_one_project_is_not_another(actor: Actor) -> None:
    fill(actor)
    other = some_actor()
    write(other, "east")
    embed(other, east=(0, 0, 1))
    found = shown(other).search_vectors(ASKED, 5, MODEL, other.project_id)
    assert [score for _, score in found] == pytest.approx([0.0], abs=1e-6)


def test_an_erasure_leaves_no_file(actor: Actor, files: Path) -> None:
    fill(actor)
    assert get_backend().overwrite_deleted() == ""
    assert not files.exists()
    assert near(shown(actor), actor) == list(VECTORS)


def test_files_of_before_an_erasure_are_not_read_and_go(actor: Actor, files: Path) -> None:
    fill(actor)
    (before,) = list_folders(files)
    VectorClock.objects.filter(project=actor.project_id).update(epoch=F("epoch") + 1)
    assert count_reads(actor, "memory_vector") == 1
    restart()
    assert before not in list_folders(files)
    assert count_reads(actor, "memory_vector") == 0


def test_a_restored_store_does_not_take_the_files_of_its_later_state(actor: Actor, files: Path) -> None:
    write(actor, "east")
    embed(actor, **VECTORS)
    write(actor, "north")
    assert near(shown(actor), actor) == ["east", "north"]
    restart()
    # The backup was older than the last commit; another one has taken its place.
    Fact._base_manager.filter(fact_text="north").delete()
    Commit.objects.filter(seq=2).delete()
    Branch.objects.filter(project=actor.project_id).update(head=1)
    write(actor, "between")
    assert near(shown(actor), actor) == ["east", "between"]


@pytest.mark.parametrize("damage", ["cut", "no JSON", "another format", "a file is missing", "other columns"])
def test_damaged_files_are_not_read(actor: Actor, files: Path, damage: str) -> None:
    fill(actor)
    (folder,) = list_folders(files)
    meta = json.loads((folder / META).read_text())
    if damage == "cut":
        (folder / "coarse.npy").write_bytes((folder / "coarse.npy").read_bytes()[:-1])
    elif damage == "no JSON":
        (folder / META).write_text("{")
    elif damage == "another format":
        (folder / META).write_text(json.dumps(meta | {"format": 0}))
    elif damage == "other columns":
        (folder / META).write_text(json.dumps(meta | {"tokens": ["other"]}))
    else:
        (folder / "steps.npy").unlink()
    assert count_reads(actor, "memory_vector") == 1


def test_a_folder_that_cannot_be_made_stops_no_search(
    actor: Actor, files: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files.write_text("in the way")
    try:
        fill(actor)
        assert "Vectors were not kept in files" in caplog.text
        assert near(shown(actor), actor) == list(VECTORS)
    finally:
        files.unlink()


def test_more_rows_replace_the_files(actor: Actor, files: Path) -> None:
    fill(actor)
    before = list_folders(files)
    write(actor, *(f"more {number}" for number in range(20)))
    assert near(shown(actor), actor) == list(VECTORS)
    restart()
    assert len(list_folders(files)) == 1
    assert list_folders(files) != before


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["write", "delete", "embed", "fork", "search", "restart"]),
        st.integers(0, 7),
        st.sampled_from(["main", "task/a"]),
    ),
    max_size=25,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
@pytest.mark.slow
def test_any_history_with_restarts_finds_what_the_database_has(steps: list[tuple[str, int, str]]) -> None:
    forget_vector_caches()
    actor = some_actor()
    for step, number, name in [*steps, ("restart", 0, ""), ("search", 0, "main"), ("search", 0, "task/a")]:
        branch = Branch.objects.filter(project=actor.project_id, name=name).first()
        if step == "restart":
            restart()
        elif step == "fork" and not Branch.objects.filter(project=actor.project_id, name="task/a").exists():
            BranchManager().create_branch(name="task/a", actor=actor)
        elif branch:
            take_step(actor, step, number, branch)


def take_step(actor: Actor, step: str, number: int, branch: Branch) -> None:
    if step == "write":
        write(actor, f"text {number}", branch=branch.name)
    elif step == "embed":
        embed_once(actor, number)
    elif step == "delete" and (rows := list(Fact.objects.on(branch).order_by("uid"))):
        FactEngine().delete_fact(fact_id=rows[number % len(rows)].uid, branch_name=branch.name, actor=actor)
    elif step == "search":
        rows = Fact.objects.on(branch)
        read = StoredVectors(Fact, actor.project_id, MODEL).nearest_read(rows, ASKED, 50)
        found = rows.search_vectors(ASKED, 50, MODEL, actor.project_id)
        assert [rid for rid, _ in found] == [rid for rid, _ in read]
        assert np.allclose([score for _, score in found], [score for _, score in read], atol=1e-5)


def embed_once(actor: Actor, number: int) -> None:
    from memory.models import Vector
    from memory.models.hashes import content_hash

    value = content_hash(f"text {number}")
    if not Vector.objects.filter(project=actor.project_id, content_hash=value).exists():
        embed(actor, **{f"text {number}": (1, number / 7, 1 - number / 9)})
