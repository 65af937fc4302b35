"""Snapshots: points of a branch; restoring without losing anything; names and refusals."""

from dataclasses import replace

import pytest
from django.utils import timezone

from memory.actors import local_actor
from memory.db.backend import get_store_copies
from memory.engines.facts.links import LinkEngine
from memory.engines.store.snapshots import MAX_SNAPSHOTS
from memory.engines.versions.lookup import find_branch
from memory.exceptions import (
    BranchArchived,
    BranchForbidden,
    BranchNotFound,
    Exists,
    Invalid,
    NotFound,
    ScopeMissing,
)
from memory.models import AuditEntry, Commit, FactLink, Project, Snapshot
from tests.contract.snapshots import branch_manager, fact_engine, found, snapshot_manager, texts, write

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
LINKS = LinkEngine()


# ---- a point of a branch ---------------------------------------------------------------------------


def test_a_branch_goes_back_by_one_commit(actor):
    kept, edited, deleted = write(actor, "kept"), write(actor, "before"), write(actor, "gone")
    point = snapshot_manager.create_snapshot(name="monday", actor=actor)
    fact_engine.update_fact(fact_id=edited.uid, updates={"fact_text": "after"}, actor=actor)
    fact_engine.delete_fact(fact_id=deleted.uid, actor=actor)
    write(actor, "new")
    plan = snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor, dry_run=True)
    counts = {"brought_back": {"fact": 1}, "changed": {"fact": 1}, "removed": {"fact": 1}}
    assert (plan.dry_run, plan.branches[0].counts) == (True, counts)
    assert texts(actor) == ["after", "kept", "new"]
    done = snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert (done.dry_run, done.branches[0].counts) == (False, counts)
    assert texts(actor) == ["before", "gone", "kept"]
    assert Commit.objects.filter(kind="snapshot.restore").values_list("seq", "message").get() == (
        7,
        "back to monday",
    )
    assert fact_engine.get_fact(fact_id=kept.uid, actor=actor).version == 1
    assert found(actor, "before") == ["before"]
    assert found(actor, "after new") == []


def test_nothing_leaves_the_history_and_a_restore_can_be_undone(actor):
    fact = write(actor, "first")
    first = snapshot_manager.create_snapshot(name="first", actor=actor)
    fact_engine.update_fact(fact_id=fact.uid, updates={"fact_text": "second"}, actor=actor)
    second = snapshot_manager.create_snapshot(name="second", actor=actor)
    snapshot_manager.restore_snapshot(snapshot_id=first.pk, actor=actor)
    assert texts(actor) == ["first"]
    snapshot_manager.restore_snapshot(snapshot_id=second.pk, actor=actor)
    assert texts(actor) == ["second"]
    history = fact_engine.list_versions(fact_id=fact.uid, actor=actor)
    assert [(row.version, row.fact_text) for row in history] == [
        (4, "second"),
        (3, "first"),
        (2, "second"),
        (1, "first"),
    ]


def test_a_restore_that_changes_nothing_makes_no_commit(actor):
    write(actor, "one")
    point = snapshot_manager.create_snapshot(name="p", actor=actor)
    done = snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert done.branches[0].counts == {}
    assert find_branch(actor, "main").head == 1


def test_what_a_branch_inherited_comes_back(actor):
    fact = write(actor, "of main")
    branch_manager.create_branch(name="task/a", actor=actor)
    point = snapshot_manager.create_snapshot(name="p", actor=actor, branch_name="task/a")
    assert point.seq == 0
    fact_engine.update_fact(
        fact_id=fact.uid, updates={"fact_text": "edited"}, actor=actor, branch_name="task/a"
    )
    fact_engine.delete_fact(fact_id=fact.uid, actor=actor, branch_name="task/a")
    snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert texts(actor, "task/a") == ["of main"]
    assert found(actor, "of main", "task/a") == ["of main"]


def test_links_and_verdicts_go_back_too(actor):
    one, two = write(actor, "one"), write(actor, "two")
    link = LINKS.write_link(from_id=one.uid, to_id=two.uid, link_type="DEPENDS_ON", actor=actor)
    fact_engine.set_verification(fact_id=one.uid, verdict="verified", actor=actor)
    point = snapshot_manager.create_snapshot(name="p", actor=actor)
    LINKS.delete_link(from_id=one.uid, link_id=link.uid, actor=actor)
    again = LINKS.write_link(from_id=one.uid, to_id=two.uid, link_type="DEPENDS_ON", actor=actor)
    fact_engine.set_verification(fact_id=one.uid, verdict="invalidated", actor=actor)
    snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert fact_engine.get_fact(fact_id=one.uid, actor=actor).verification_status == "verified"
    shown = FactLink.objects.on(find_branch(actor, "main")).values_list("uid", flat=True)
    assert list(shown) == [link.uid]
    assert again.uid != link.uid


def test_a_snapshot_is_a_point_in_every_read(actor):
    write(actor, "old")
    point = snapshot_manager.create_snapshot(name="p", actor=actor)
    write(actor, "new")
    page = fact_engine.list_facts(actor=actor, at=point.pk)
    assert [fact.fact_text for fact in page.results] == ["old"]
    branch = branch_manager.create_branch(name="task/p", actor=actor, at=point.pk)
    assert branch.fork_seq == 1


def test_a_point_of_the_past(actor):
    write(actor, "one")
    write(actor, "two")
    point = snapshot_manager.create_snapshot(name="p", actor=actor, at=1)
    snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert texts(actor) == ["one"]


def test_confirmations_go_back_too(actor):
    def confirm(session: str) -> int:
        write(replace(actor, session_id=session), "said")
        return fact_engine.get_fact(fact_id=fact.uid, actor=actor).confirmation_count

    fact = write(replace(actor, session_id="s1"), "said")
    before = confirm("s2")
    point = snapshot_manager.create_snapshot(name="p", actor=actor)
    assert confirm("s3") == before + 1
    plan = snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor, dry_run=True)
    assert plan.branches[0].counts == {"removed": {"confirmation": 1}}
    later = snapshot_manager.create_snapshot(name="later", actor=actor)
    done = snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor)
    assert done.branches[0].counts == plan.branches[0].counts
    assert fact_engine.get_fact(fact_id=fact.uid, actor=actor).confirmation_count == before
    snapshot_manager.restore_snapshot(snapshot_id=later.pk, actor=actor)
    assert fact_engine.get_fact(fact_id=fact.uid, actor=actor).confirmation_count == before + 1


# ---- names, lists, refusals ------------------------------------------------------------------------


def test_names_are_taken_once_in_a_project(actor, other_project):
    snapshot_manager.create_snapshot(name="p", actor=actor)
    with pytest.raises(Exists):
        snapshot_manager.create_snapshot(name="p", actor=actor)
    with pytest.raises(Exists):
        snapshot_manager.create_store_snapshot(name="p", actor=actor)
    snapshot_manager.create_snapshot(name="p", actor=local_actor(other_project.pk))
    assert Snapshot.objects.count() == 2


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "a\0b", 5])
def test_names_that_are_none(actor, name):
    with pytest.raises(Invalid):
        snapshot_manager.create_snapshot(name=name, actor=actor)
    assert Snapshot.objects.count() == 0


def test_what_is_refused(actor, other_project):
    with pytest.raises(BranchNotFound):
        snapshot_manager.create_snapshot(name="p", actor=actor, branch_name="nowhere")
    with pytest.raises(Invalid):
        snapshot_manager.create_snapshot(name="p", actor=actor, at=5)
    point = snapshot_manager.create_snapshot(name="p", actor=actor)
    stranger = local_actor(other_project.pk)
    for refused in (
        snapshot_manager.restore_snapshot,
        snapshot_manager.drop_snapshot,
        snapshot_manager.get_snapshot,
    ):
        with pytest.raises(NotFound):
            refused(snapshot_id=point.pk, actor=stranger)
    assert snapshot_manager.list_snapshots(actor=stranger).results == []


def test_scopes(actor):
    point = snapshot_manager.create_snapshot(name="p", actor=actor)
    writer = replace(actor, scopes=frozenset({"write"}))
    bound = replace(actor, branch_patterns=("task/*",))
    with pytest.raises(ScopeMissing):
        snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=writer)
    with pytest.raises(ScopeMissing):
        snapshot_manager.create_store_snapshot(name="s", actor=writer)
    with pytest.raises(BranchForbidden):
        snapshot_manager.create_store_snapshot(name="s", actor=bound)
    with pytest.raises(NotFound):
        snapshot_manager.get_snapshot(snapshot_id=point.pk, actor=bound)
    assert snapshot_manager.list_snapshots(actor=bound).results == []
    assert snapshot_manager.create_snapshot(name="w", actor=writer).created_by == "local"


def test_an_archived_branch_does_not_go_back(actor):
    branch_manager.create_branch(name="task/a", actor=actor)
    point = snapshot_manager.create_snapshot(name="p", actor=actor, branch_name="task/a")
    branch_manager.archive_branch(name="task/a", actor=actor)
    with pytest.raises(BranchArchived):
        snapshot_manager.restore_snapshot(snapshot_id=point.pk, actor=actor)


def test_lists_by_kind_and_branch_in_pages(actor):
    branch_manager.create_branch(name="task/a", actor=actor)
    for name in ("a", "b", "c"):
        snapshot_manager.create_snapshot(
            name=name, actor=actor, branch_name="task/a" if name == "c" else "main"
        )
    snapshot_manager.create_store_snapshot(name="s", actor=actor)
    first = snapshot_manager.list_snapshots(actor=actor, limit=3)
    assert [row.name for row in first.results] == ["s", "c", "b"]
    rest = snapshot_manager.list_snapshots(actor=actor, limit=3, cursor=first.next)
    assert [row.name for row in rest.results] == ["a"]
    assert [row.name for row in snapshot_manager.list_snapshots(actor=actor, kind="store").results] == ["s"]
    assert [
        row.name for row in snapshot_manager.list_snapshots(actor=actor, branch_name="task/a").results
    ] == ["c"]


def test_dropping_gives_the_name_and_the_file_back(actor):
    made = snapshot_manager.create_store_snapshot(name="s", actor=actor)
    assert get_store_copies().has_snapshot(made.copy)
    snapshot_manager.drop_snapshot(snapshot_id=made.pk, actor=actor)
    assert not get_store_copies().has_snapshot(made.copy)
    with pytest.raises(NotFound):
        snapshot_manager.restore_snapshot(snapshot_id=made.pk, actor=actor)
    assert snapshot_manager.create_snapshot(name="s", actor=actor).name == "s"
    acts = AuditEntry.objects.filter(action__startswith="snapshot").values_list("action", "target")
    assert sorted(acts) == [("snapshot.create", "s"), ("snapshot.create", "s"), ("snapshot.drop", "s")]


def test_copies_of_the_store_are_limited(actor):
    point = {
        "project": Project.objects.get(pk=actor.project_id),
        "kind": "store",
        "created_at": timezone.now(),
    }
    Snapshot.objects.bulk_create(Snapshot(name=str(n), **point) for n in range(MAX_SNAPSHOTS))
    with pytest.raises(Invalid):
        snapshot_manager.create_store_snapshot(name="one more", actor=actor)
