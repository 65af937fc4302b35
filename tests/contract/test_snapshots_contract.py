"""Snapshots: points of a branch and frozen copies of the store; going back without losing anything."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection
from django.utils import timezone

from memory.actors import Actor, local_actor
from memory.engines.audit import broken_at, seal
from memory.engines.branches import BranchManager, find_branch
from memory.engines.facts import FactEngine
from memory.engines.keys import KeyEngine
from memory.engines.links import LinkEngine
from memory.engines.search import SearchEngine
from memory.engines.snapshots import MOST, SnapshotManager
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    BranchNotFound,
    Conflict,
    Exists,
    Invalid,
    NotFound,
    ScopeMissing,
    Unauthenticated,
)
from memory.models import AuditEntry, Branch, Commit, Fact, FactLink, Project, Snapshot

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
ENGINE, FACTS, BRANCHES = SnapshotManager(), FactEngine(), BranchManager()
LINKS = LinkEngine()


FILES = pytest.mark.skipif(
    not connection.features.has_online_backup, reason="this database keeps no snapshots in files"
)


def copies() -> list[Path]:
    return sorted(connection.copies.folder.glob("snapshots/*"))


def write(actor: Actor, text: str, branch: str = "main") -> Fact:
    return FACTS.write_fact(actor=actor, fact_text=text, branch_name=branch).fact


def texts(actor: Actor, branch: str = "main") -> list[str]:
    row = find_branch(actor, branch)
    return sorted(Fact.objects.on(row).values_list("fact_text", flat=True))


def found(actor: Actor, query: str, branch: str = "main") -> list[str]:
    return [
        hit.fact.fact_text for hit in SearchEngine().search(query=query, actor=actor, branch_name=branch).hits
    ]


# ---- a point of a branch ---------------------------------------------------------------------------


def test_a_branch_goes_back_by_one_commit(actor):
    kept, edited, deleted = write(actor, "kept"), write(actor, "before"), write(actor, "gone")
    point = ENGINE.create_snapshot(name="monday", actor=actor)
    FACTS.update_fact(fact_id=edited.uid, updates={"fact_text": "after"}, actor=actor)
    FACTS.delete_fact(fact_id=deleted.uid, actor=actor)
    write(actor, "new")
    plan = ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor, dry_run=True)
    counts = {"brought_back": {"fact": 1}, "changed": {"fact": 1}, "removed": {"fact": 1}}
    assert (plan.dry_run, plan.branches[0].counts) == (True, counts)
    assert texts(actor) == ["after", "kept", "new"]
    done = ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert (done.dry_run, done.branches[0].counts) == (False, counts)
    assert texts(actor) == ["before", "gone", "kept"]
    assert Commit.objects.filter(kind="snapshot.restore").values_list("seq", "message").get() == (
        7,
        "back to monday",
    )
    assert FACTS.get_fact(fact_id=kept.uid, actor=actor).version == 1
    assert found(actor, "before") == ["before"]
    assert found(actor, "after new") == []


def test_nothing_leaves_the_history_and_a_restore_can_be_undone(actor):
    fact = write(actor, "first")
    first = ENGINE.create_snapshot(name="first", actor=actor)
    FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "second"}, actor=actor)
    second = ENGINE.create_snapshot(name="second", actor=actor)
    ENGINE.restore_snapshot(snapshot_id=first.pk, actor=actor)
    assert texts(actor) == ["first"]
    ENGINE.restore_snapshot(snapshot_id=second.pk, actor=actor)
    assert texts(actor) == ["second"]
    history = FACTS.history(fact_id=fact.uid, actor=actor)
    assert [(row.version, row.fact_text) for row in history] == [
        (4, "second"),
        (3, "first"),
        (2, "second"),
        (1, "first"),
    ]


def test_a_restore_that_changes_nothing_makes_no_commit(actor):
    write(actor, "one")
    point = ENGINE.create_snapshot(name="p", actor=actor)
    done = ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert done.branches[0].counts == {}
    assert find_branch(actor, "main").head == 1


def test_what_a_branch_inherited_comes_back(actor):
    fact = write(actor, "of main")
    BRANCHES.create_branch(name="task/a", actor=actor)
    point = ENGINE.create_snapshot(name="p", actor=actor, branch_name="task/a")
    assert point.seq == 0
    FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": "edited"}, actor=actor, branch_name="task/a")
    FACTS.delete_fact(fact_id=fact.uid, actor=actor, branch_name="task/a")
    ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert texts(actor, "task/a") == ["of main"]
    assert found(actor, "of main", "task/a") == ["of main"]


def test_links_and_verdicts_go_back_too(actor):
    one, two = write(actor, "one"), write(actor, "two")
    link = LINKS.write_link(from_id=one.uid, to_id=two.uid, link_type="DEPENDS_ON", actor=actor)
    FACTS.set_verification(fact_id=one.uid, verdict="verified", actor=actor)
    point = ENGINE.create_snapshot(name="p", actor=actor)
    LINKS.delete_link(from_id=one.uid, link_id=link.uid, actor=actor)
    again = LINKS.write_link(from_id=one.uid, to_id=two.uid, link_type="DEPENDS_ON", actor=actor)
    FACTS.set_verification(fact_id=one.uid, verdict="invalidated", actor=actor)
    ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert FACTS.get_fact(fact_id=one.uid, actor=actor).verification_status == "verified"
    shown = FactLink.objects.on(find_branch(actor, "main")).values_list("uid", flat=True)
    assert list(shown) == [link.uid]
    assert again.uid != link.uid


def test_a_snapshot_is_a_point_in_every_read(actor):
    write(actor, "old")
    point = ENGINE.create_snapshot(name="p", actor=actor)
    write(actor, "new")
    page = FACTS.list_facts(actor=actor, at=point.pk)
    assert [fact.fact_text for fact in page.results] == ["old"]
    branch = BRANCHES.create_branch(name="task/p", actor=actor, at=point.pk)
    assert branch.fork_seq == 1


def test_a_point_of_the_past(actor):
    write(actor, "one")
    write(actor, "two")
    point = ENGINE.create_snapshot(name="p", actor=actor, at=1)
    ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert texts(actor) == ["one"]


# ---- names, lists, refusals ------------------------------------------------------------------------


def test_names_are_taken_once_in_a_project(actor, other_project):
    ENGINE.create_snapshot(name="p", actor=actor)
    with pytest.raises(Exists):
        ENGINE.create_snapshot(name="p", actor=actor)
    with pytest.raises(Exists):
        ENGINE.create_store_snapshot(name="p", actor=actor)
    ENGINE.create_snapshot(name="p", actor=local_actor(other_project.pk))
    assert Snapshot.objects.count() == 2


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\0b", 5])
def test_names_that_are_none(actor, name):
    with pytest.raises(Invalid):
        ENGINE.create_snapshot(name=name, actor=actor)
    assert Snapshot.objects.count() == 0


def test_what_is_refused(actor, other_project):
    with pytest.raises(BranchNotFound):
        ENGINE.create_snapshot(name="p", actor=actor, branch_name="nowhere")
    with pytest.raises(Invalid):
        ENGINE.create_snapshot(name="p", actor=actor, at=5)
    point = ENGINE.create_snapshot(name="p", actor=actor)
    stranger = local_actor(other_project.pk)
    for refused in (ENGINE.restore_snapshot, ENGINE.drop_snapshot, ENGINE.get_snapshot):
        with pytest.raises(NotFound):
            refused(snapshot_id=point.pk, actor=stranger)
    assert ENGINE.list_snapshots(actor=stranger).results == []


def test_scopes(actor):
    point = ENGINE.create_snapshot(name="p", actor=actor)
    writer = replace(actor, scopes=frozenset({"write"}))
    bound = replace(actor, branch_patterns=("task/*",))
    with pytest.raises(ScopeMissing):
        ENGINE.restore_snapshot(snapshot_id=point.pk, actor=writer)
    with pytest.raises(ScopeMissing):
        ENGINE.create_store_snapshot(name="s", actor=writer)
    with pytest.raises(BranchForbidden):
        ENGINE.create_store_snapshot(name="s", actor=bound)
    with pytest.raises(NotFound):
        ENGINE.get_snapshot(snapshot_id=point.pk, actor=bound)
    assert ENGINE.list_snapshots(actor=bound).results == []
    assert ENGINE.create_snapshot(name="w", actor=writer).created_by == "local"


def test_an_archived_branch_does_not_go_back(actor):
    BRANCHES.create_branch(name="task/a", actor=actor)
    point = ENGINE.create_snapshot(name="p", actor=actor, branch_name="task/a")
    BRANCHES.archive_branch(name="task/a", actor=actor)
    with pytest.raises(BranchArchived):
        ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor)


def test_lists_by_kind_and_branch_in_pages(actor):
    BRANCHES.create_branch(name="task/a", actor=actor)
    for name in ("a", "b", "c"):
        ENGINE.create_snapshot(name=name, actor=actor, branch_name="task/a" if name == "c" else "main")
    ENGINE.create_store_snapshot(name="s", actor=actor)
    first = ENGINE.list_snapshots(actor=actor, limit=3)
    assert [row.name for row in first.results] == ["s", "c", "b"]
    rest = ENGINE.list_snapshots(actor=actor, limit=3, cursor=first.next)
    assert [row.name for row in rest.results] == ["a"]
    assert [row.name for row in ENGINE.list_snapshots(actor=actor, kind="store").results] == ["s"]
    assert [row.name for row in ENGINE.list_snapshots(actor=actor, branch_name="task/a").results] == ["c"]


def test_dropping_gives_the_name_and_the_file_back(actor):
    made = ENGINE.create_store_snapshot(name="s", actor=actor)
    assert connection.copies.has(made.copy)
    ENGINE.drop_snapshot(snapshot_id=made.pk, actor=actor)
    assert not connection.copies.has(made.copy)
    with pytest.raises(NotFound):
        ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor)
    assert ENGINE.create_snapshot(name="s", actor=actor).name == "s"
    acts = AuditEntry.objects.filter(action__startswith="snapshot").values_list("action", "target")
    assert sorted(acts) == [("snapshot.create", "s"), ("snapshot.create", "s"), ("snapshot.drop", "s")]


def test_copies_of_the_store_are_limited(actor):
    point = {
        "project": Project.objects.get(pk=actor.project_id),
        "kind": "store",
        "created_at": timezone.now(),
    }
    Snapshot.objects.bulk_create(Snapshot(name=str(n), **point) for n in range(MOST))
    with pytest.raises(Invalid):
        ENGINE.create_store_snapshot(name="one more", actor=actor)


# ---- the whole store -------------------------------------------------------------------------------


def test_a_store_goes_back_branch_by_branch(actor):
    write(actor, "on main")
    BRANCHES.create_branch(name="task/old", actor=actor)
    write(actor, "on old", "task/old")
    BRANCHES.create_branch(name="task/done", actor=actor)
    BRANCHES.archive_branch(name="task/done", actor=actor)
    made = ENGINE.create_store_snapshot(name="s", actor=actor)
    write(actor, "later")
    write(actor, "later on old", "task/old")
    BRANCHES.archive_branch(name="task/old", actor=actor)
    BRANCHES.restore_branch(name="task/done", actor=actor)
    BRANCHES.create_branch(name="task/new", actor=actor)
    write(actor, "on new", "task/new")
    plan = ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor, dry_run=True)
    done = ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor)
    for told in (plan, done):
        assert [(one.name, one.counts, one.archive, one.unarchive) for one in told.branches] == [
            ("main", {"removed": {"fact": 1}}, False, False),
            ("task/old", {"removed": {"fact": 1}}, False, True),
            ("task/done", {}, True, False),
            ("task/new", {}, True, False),
        ]
    assert texts(actor) == ["on main"]
    assert texts(actor, "task/old") == ["on main", "on old"]
    assert [branch.name for branch in BRANCHES.list_branches(actor=actor).results] == ["main", "task/old"]
    assert texts(actor, "task/new") == ["later", "on main", "on new"]


def test_other_projects_stay_as_they_are(actor, other_project):
    other = local_actor(other_project.pk)
    write(other, "before")
    made = ENGINE.create_store_snapshot(name="s", actor=actor)
    write(other, "after")
    write(actor, "gone")
    ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor)
    assert (texts(actor), texts(other)) == ([], ["after", "before"])


def test_keys_audit_and_snapshots_are_not_rewound(actor):
    key, token = KeyEngine().create_key(label="k", scopes=["read"], actor=actor)
    write(actor, "one")
    project = Project.objects.get(pk=actor.project_id)
    seal(project)
    made = ENGINE.create_store_snapshot(name="s", actor=actor)
    KeyEngine().revoke_key(key_id=key.pk, actor=actor)
    write(actor, "two")
    ENGINE.create_snapshot(name="later", actor=actor)
    seal(project)
    before = list(AuditEntry.objects.order_by("id").values_list("id", "hash", "place"))
    ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor)
    seal(project)
    assert list(AuditEntry.objects.order_by("id").values_list("id", "hash", "place"))[: len(before)] == before
    assert broken_at(project.pk) is None
    told = AuditEntry.objects.filter(action="snapshot.restore", target="s").values_list("detail", flat=True)
    assert list(told) == [{"kind": "store", "branches": 1, "mended": {}}]
    assert Snapshot.objects.count() == 2
    with pytest.raises(Unauthenticated):
        KeyEngine().verify(token)


def test_rows_that_the_store_has_lost_are_put_back(actor):
    lost, edited = write(actor, "lost words"), write(actor, "first")
    BRANCHES.create_branch(name="task/a", actor=actor)
    write(actor, "on the branch", "task/a")
    made = ENGINE.create_store_snapshot(name="s", actor=actor)
    FACTS.update_fact(fact_id=edited.uid, updates={"fact_text": "second"}, actor=actor)
    assert found(actor, "lost words") == ["lost words"]
    with connection.cursor() as cursor:  # somebody's hand in the database
        cursor.execute("DELETE FROM memory_fact WHERE fact_text IN ('lost words', 'first', 'on the branch')")
        cursor.execute(
            "DELETE FROM memory_commit WHERE branch_id = (SELECT id FROM memory_branch WHERE name = 'task/a')"
        )
        cursor.execute("DELETE FROM memory_branch WHERE name = 'task/a'")
    plan = ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor, dry_run=True)
    assert plan.mended == {"branch": 1, "commit": 1, "fact": 3}
    done = ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor)
    assert done.mended == plan.mended
    assert texts(actor) == ["first", "lost words"]
    assert texts(actor, "task/a") == ["first", "lost words", "on the branch"]
    assert found(actor, "lost words") == ["lost words"]
    assert FACTS.get_fact(fact_id=lost.uid, actor=actor).version == 1
    history = FACTS.history(fact_id=edited.uid, actor=actor)
    assert [(row.version, row.fact_text) for row in history] == [(3, "first"), (2, "second"), (1, "first")]


@FILES
def test_a_copy_that_was_changed_or_is_gone_restores_nothing(actor):
    made = ENGINE.create_store_snapshot(name="s", actor=actor)
    write(actor, "stays")
    (file,) = copies()
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(Conflict, match="checksum"):
        ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor)
    file.unlink()
    with pytest.raises(Conflict, match="gone"):
        ENGINE.restore_snapshot(snapshot_id=made.pk, actor=actor, dry_run=True)
    assert texts(actor) == ["stays"]


def test_the_frozen_copy_can_be_read_and_not_written(actor):
    write(actor, "then")
    made = ENGINE.create_store_snapshot(name="s", actor=actor)
    write(actor, "now")
    with ENGINE.reading(snapshot_id=made.pk, actor=actor) as alias:
        branch = Branch.objects.using(alias).get(project=actor.project_id, name="main")
        assert list(Fact.objects.using(alias).on(branch).values_list("fact_text", flat=True)) == ["then"]
        with suppress(DatabaseError):  # SQLite refuses; on MatrixOne it is a copy of the copy
            Fact._base_manager.using(alias).update(fact_text="changed")
    with ENGINE.reading(snapshot_id=made.pk, actor=actor) as again:
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
            ENGINE.create_store_snapshot(name="s", actor=actor)
    finally:
        folder.unlink()
    assert Snapshot.objects.count() == 0


def test_the_window_that_the_database_keeps(actor):
    assert ENGINE.get_window(actor=actor) == 0
    for days in (-1, 101):
        with pytest.raises(Invalid):
            ENGINE.keep_window(days=days, actor=actor)
    with pytest.raises(ScopeMissing):
        ENGINE.keep_window(days=1, actor=replace(actor, scopes=frozenset({"merge"})))
    if not connection.features.has_time_window:
        with pytest.raises(Conflict, match="no window"):
            ENGINE.keep_window(days=1, actor=actor)
        return
    for days in (1, 7, 0):
        assert ENGINE.keep_window(days=days, actor=actor) == days
        assert ENGINE.get_window(actor=actor) == days
    assert AuditEntry.objects.filter(action="snapshot.window").count() == 3


@FILES
def test_hostile_names_stay_names(actor):
    name = "'; DROP TABLE memory_fact; -- ../../ 雪"
    made = ENGINE.create_store_snapshot(name=name, actor=actor)
    assert [file.name for file in copies()] == [f"{connection.copies.name(made.pk)}.sqlite3"]
    assert ENGINE.get_snapshot(snapshot_id=made.pk, actor=actor).name == name
    with pytest.raises(NotFound):
        ENGINE.get_snapshot(snapshot_id=uuid4(), actor=actor)


def test_confirmations_go_back_too(actor):
    def confirm(session: str) -> int:
        write(replace(actor, session_id=session), "said")
        return FACTS.get_fact(fact_id=fact.uid, actor=actor).confirmation_count

    fact = write(replace(actor, session_id="s1"), "said")
    before = confirm("s2")
    point = ENGINE.create_snapshot(name="p", actor=actor)
    assert confirm("s3") == before + 1
    plan = ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor, dry_run=True)
    assert plan.branches[0].counts == {"removed": {"confirmation": 1}}
    later = ENGINE.create_snapshot(name="later", actor=actor)
    done = ENGINE.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert done.branches[0].counts == plan.branches[0].counts
    assert FACTS.get_fact(fact_id=fact.uid, actor=actor).confirmation_count == before
    ENGINE.restore_snapshot(snapshot_id=later.pk, actor=actor)
    assert FACTS.get_fact(fact_id=fact.uid, actor=actor).confirmation_count == before + 1
