"""Snapshots of the store: frozen copies; restores branch by branch; lost rows are recovered."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection

from memory.actors import local_actor
from memory.db.backend import get_features, get_store_copies
from memory.engines.access.keys import KeyEngine
from memory.engines.audit.trail import broken_at, seal_entries
from memory.engines.versions.pinned_versions import pin_versions
from memory.exceptions import (
    Conflict,
    Invalid,
    NotFound,
    ScopeMissing,
    Unauthenticated,
)
from memory.models import AuditEntry, Branch, Fact, Project, Snapshot
from tests.contract.snapshots import branch_manager, fact_engine, found, snapshot_manager, texts, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
FILES = pytest.mark.skipif(
    not get_features().has_online_backup, reason="this database keeps no snapshots in files"
)


def copies() -> list[Path]:
    return sorted(connection.copies.folder.glob("snapshots/*"))


def test_a_store_goes_back_branch_by_branch(actor):
    write(actor, "on main")
    branch_manager.create_branch(name="task/old", actor=actor)
    write(actor, "on old", "task/old")
    branch_manager.create_branch(name="task/done", actor=actor)
    branch_manager.archive_branch(name="task/done", actor=actor)
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    write(actor, "later")
    write(actor, "later on old", "task/old")
    branch_manager.archive_branch(name="task/old", actor=actor)
    branch_manager.restore_branch(name="task/done", actor=actor)
    branch_manager.create_branch(name="task/new", actor=actor)
    write(actor, "on new", "task/new")
    plan = snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor, dry_run=True)
    done = snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor)
    for told in (plan, done):
        assert [(one.name, one.counts, one.archive, one.unarchive) for one in told.branches] == [
            ("main", {"removed": {"fact": 1}}, False, False),
            ("task/old", {"removed": {"fact": 1}}, False, True),
            ("task/done", {}, True, False),
            ("task/new", {}, True, False),
        ]
    assert texts(actor) == ["on main"]
    assert texts(actor, "task/old") == ["on main", "on old"]
    assert [branch.name for branch in branch_manager.list_branches(actor=actor).results] == [
        "main",
        "task/old",
    ]
    assert texts(actor, "task/new") == ["later", "on main", "on new"]


def test_other_projects_stay_as_they_are(actor, other_project):
    other = local_actor(other_project.pk)
    write(other, "before")
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    write(other, "after")
    write(actor, "gone")
    snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor)
    assert (texts(actor), texts(other)) == ([], ["after", "before"])


def test_keys_audit_and_snapshots_are_not_rewound(actor):
    key, token = KeyEngine().create_key(label="k", scopes=["read"], actor=actor)
    write(actor, "one")
    project = Project.objects.get(pk=actor.project_id)
    seal_entries(project)
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    KeyEngine().revoke_key(key_id=key.pk, actor=actor)
    write(actor, "two")
    snapshot_manager.create_snapshot(name="later", actor=actor)
    seal_entries(project)
    before = list(AuditEntry.objects.order_by("id").values_list("id", "hash", "place"))
    snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor)
    seal_entries(project)
    assert list(AuditEntry.objects.order_by("id").values_list("id", "hash", "place"))[: len(before)] == before
    assert broken_at(project.pk) is None
    told = AuditEntry.objects.filter(action="snapshot.restore", target="s").values_list("detail", flat=True)
    assert list(told) == [{"kind": "store", "branches": 1, "mended": {}}]
    assert Snapshot.objects.count() == 2
    with pytest.raises(Unauthenticated):
        KeyEngine().verify_token(token)


def test_rows_that_the_store_has_lost_are_put_back(actor):
    lost, edited = write(actor, "lost words"), write(actor, "first")
    branch_manager.create_branch(name="task/a", actor=actor)
    write(actor, "on the branch", "task/a")
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    fact_engine.update_fact(fact_id=edited.uid, updates={"fact_text": "second"}, actor=actor)
    assert found(actor, "lost words") == ["lost words"]
    with connection.cursor() as cursor:  # a manual change in the database
        cursor.execute("DELETE FROM memory_fact WHERE fact_text IN ('lost words', 'first', 'on the branch')")
        cursor.execute(
            "DELETE FROM memory_commit WHERE branch_id = (SELECT id FROM memory_branch WHERE name = 'task/a')"
        )
        cursor.execute("DELETE FROM memory_branch WHERE name = 'task/a'")
    plan = snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor, dry_run=True)
    assert plan.mended == {"branch": 1, "commit": 1, "fact": 3}
    done = snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor)
    assert done.mended == plan.mended
    assert texts(actor) == ["first", "lost words"]
    assert texts(actor, "task/a") == ["first", "lost words", "on the branch"]
    assert found(actor, "lost words") == ["lost words"]
    assert fact_engine.get_fact(fact_id=lost.uid, actor=actor).version == 1
    history = fact_engine.list_versions(fact_id=edited.uid, actor=actor)
    assert [(row.version, row.fact_text) for row in history] == [(3, "first"), (2, "second"), (1, "first")]


def test_a_branch_that_was_lost_finds_what_was_closed_without_it(actor):
    edited = write(actor, "amber first")
    branch_manager.create_branch(name="task/a", actor=actor)
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memory_branch WHERE name = 'task/a'")
    fact_engine.update_fact(fact_id=edited.uid, updates={"fact_text": "birch"}, actor=actor)
    snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor)
    branch = Branch.objects.get(name="task/a")
    for _ in range(2):
        ((rid, _),), _ = Fact.objects.on(branch).match_words(["amber"], 5)
        assert rid == edited.pk
        pin_versions(branch)
        branch.refresh_from_db()
    assert branch.indexed


@FILES
def test_a_copy_that_was_changed_or_is_gone_restores_nothing(actor):
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    write(actor, "stays")
    (file,) = copies()
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(Conflict, match="checksum"):
        snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor)
    file.unlink()
    with pytest.raises(Conflict, match="gone"):
        snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor, dry_run=True)
    assert texts(actor) == ["stays"]


def test_the_frozen_copy_can_be_read_and_not_written(actor):
    write(actor, "then")
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    write(actor, "now")
    with get_store_copies().open_snapshot(made.copy) as alias:
        branch = Branch.objects.using(alias).get(project=actor.project_id, name="main")
        assert list(Fact.objects.using(alias).on(branch).values_list("fact_text", flat=True)) == ["then"]
        with suppress(DatabaseError):  # SQLite refuses; on MatrixOne it is a copy of the copy
            Fact._base_manager.using(alias).update(fact_text="changed")
    with get_store_copies().open_snapshot(made.copy) as again:
        assert list(Fact._base_manager.using(again).values_list("fact_text", flat=True)) == ["then"]
    assert texts(actor) == ["now", "then"]


@FILES
def test_where_no_copy_can_be_written_nothing_is_kept(actor):
    folder = connection.copies.folder / "snapshots"
    folder.mkdir(exist_ok=True)
    folder.rmdir()
    folder.write_text("a file in the way")
    try:
        with pytest.raises(Conflict, match="could not be written"):
            snapshot_manager.create_store_snapshot(name="s", actor=actor)
    finally:
        folder.unlink()
    assert Snapshot.objects.count() == 0


def test_the_window_that_the_database_keeps(actor):
    assert snapshot_manager.get_window(actor=actor) == 0
    for days in (-1, 101):
        with pytest.raises(Invalid):
            snapshot_manager.set_retention(days=days, actor=actor)
    with pytest.raises(ScopeMissing):
        snapshot_manager.set_retention(days=1, actor=replace(actor, scopes=frozenset({"merge"})))
    if not get_features().has_time_window:
        with pytest.raises(Conflict, match="no window"):
            snapshot_manager.set_retention(days=1, actor=actor)
        return
    for days in (1, 7, 0):
        assert snapshot_manager.set_retention(days=days, actor=actor) == days
        assert snapshot_manager.get_window(actor=actor) == days
    assert AuditEntry.objects.filter(action="snapshot.window").count() == 3


@FILES
def test_hostile_names_stay_names(actor):
    name = "'; DROP TABLE memory_fact; -- ../../ 雪"
    made = snapshot_manager.create_store_snapshot(name=name, actor=actor)
    assert [file.name for file in copies()] == [f"{get_store_copies().make_name(made.pk)}.sqlite3"]
    assert snapshot_manager.get_snapshot(snapshot_id=made.pk, actor=actor).name == name
    with pytest.raises(NotFound):
        snapshot_manager.get_snapshot(snapshot_id=uuid4(), actor=actor)
