"""Workspaces: a separate copy, promoted as a whole while the store is unchanged, or dropped."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import DatabaseError, connections
from django.db.migrations.recorder import MigrationRecorder

from conversations.capture.engine import IngestEngine
from conversations.models import Message
from curation.engines.quarantine.engine import QuarantineEngine
from memory.actors import Actor, local_actor
from memory.db.backend import get_store_copies
from memory.engines.access.keys import KeyEngine
from memory.engines.access.projects import ProjectEngine
from memory.engines.audit.trail import broken_at, seal_entries
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.search.engine import SearchEngine
from memory.engines.store.release import FIRST
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.store.workspaces import MAX_WORKSPACES, WorkspaceEngine
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.pinned_versions import pin_versions
from memory.exceptions import BranchArchived, Conflict, Exists, Invalid, NotFound, ScopeMissing
from memory.migrations import REPLACED
from memory.models import ApiKey, AuditEntry, Branch, Fact, Project, Session, Vector, Workspace
from tests.site.hook_events import event

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("copies_open")]
workspace_engine, fact_engine, branch_manager = WorkspaceEngine(), FactEngine(), BranchManager()


def there(workspace: Workspace) -> bool:
    return get_store_copies().has_workspace(workspace.copy)


@contextmanager
def server_on(workspace: Workspace) -> Iterator[None]:
    """Simulate a server on the workspace: its store is the default one."""
    store = connections["default"]
    with get_store_copies().open_workspace(workspace.copy) as alias:
        connections["default"] = connections[alias]
        try:
            yield
        finally:
            connections["default"] = store


def test_a_workspace_of_another_release_is_refused_with_the_reason(actor: Actor) -> None:
    """One from before an upgrade says how it is migrated; after its server has, it is as any other.

    One that has all migrations which the first ones replace is of this release.
    """
    made = workspace_engine.create_workspace(name="before", actor=actor)
    with get_store_copies().open_workspace(made.copy) as alias:
        recorder = MigrationRecorder(connections[alias])
        newest = REPLACED[-1]
        recorder.record_unapplied("memory", newest)
        for work in (workspace_engine.diff_workspace, workspace_engine.promote_workspace):
            with pytest.raises(Conflict, match=f"before an upgrade.* Start a server on {made.place} once"):
                work(workspace_id=made.pk, actor=actor)
        recorder.record_applied("memory", newest)
        recorder.record_applied("memory", "0999_later")
        with pytest.raises(Conflict, match="A newer Day1 has migrated this workspace"):
            workspace_engine.diff_workspace(workspace_id=made.pk, actor=actor)
        recorder.record_unapplied("memory", "0999_later")
        recorder.migration_qs.filter(name=FIRST).delete()
    assert workspace_engine.diff_workspace(workspace_id=made.pk, actor=actor).moved == ()
    workspace_engine.drop_workspace(workspace_id=made.pk, actor=actor)


def write(actor: Actor, text: str, branch: str = "main", **more: str) -> Fact:
    return fact_engine.write_fact(actor=replace(actor, **more), fact_text=text, branch_name=branch).fact


def texts(actor: Actor, branch: str = "main") -> list[str]:
    return sorted(Fact.objects.on(find_branch(actor, branch)).values_list("fact_text", flat=True))


def found(actor: Actor, query: str, branch: str = "main") -> list[str]:
    hits = SearchEngine().search(query=query, actor=actor, branch_name=branch).hits
    return [hit.fact.fact_text for hit in hits]


def test_work_is_apart_until_it_is_promoted(actor):
    edited, deleted = write(actor, "before"), write(actor, "to be deleted")
    made = workspace_engine.create_workspace(name="cleaning", actor=actor, description="a bulk job")
    assert there(made)
    with server_on(made):
        fact_engine.update_fact(fact_id=edited.uid, updates={"fact_text": "after"}, actor=actor)
        fact_engine.delete_fact(fact_id=deleted.uid, actor=actor)
        write(actor, "new words", session_id="night")
        branch_manager.create_branch(name="task/there", actor=actor)
        write(actor, "on the new branch", "task/there")
    assert texts(actor) == ["before", "to be deleted"]
    diff = workspace_engine.diff_workspace(workspace_id=made.pk, actor=actor)
    assert [(one.name, one.base, one.head) for one in diff.branches] == [
        ("main", 2, 5),
        ("task/there", None, 1),
    ]
    assert {name: (one.added, one.changed) for name, one in diff.tables.items()} == {
        "branch": (1, 1),
        "commit": (4, 0),
        "auditentry": (5, 0),
        "fact": (4, 2),
        "session": (1, 0),
    }
    assert diff.moved == ()
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert texts(actor) == ["after", "new words"]
    assert texts(actor, "task/there") == ["after", "new words", "on the new branch"]
    assert found(actor, "new words") == ["new words"]
    assert found(actor, "before") == []
    assert [row.fact_text for row in fact_engine.list_versions(fact_id=edited.uid, actor=actor)] == [
        "after",
        "before",
    ]
    assert Session.objects.get().key == "night"
    assert not there(made)
    made.refresh_from_db()
    assert (made.state, made.ended_by, made.slot) == ("promoted", "local", None)
    assert write(actor, "next").branch_id == find_branch(actor, "main").pk
    assert find_branch(actor, "main").head == 6


@pytest.mark.parametrize("at", [None, 1])
def test_a_branch_that_was_made_there_finds_what_was_closed_since(actor, at):
    """Search versions that were pinned in the workspace's index only."""
    edited = write(actor, "amber first")
    if at:
        fact_engine.update_fact(fact_id=edited.uid, updates={"fact_text": "birch"}, actor=actor)
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        branch_manager.create_branch(name="task/there", actor=actor, at=at)
        hold_past_branches()
        if not at:
            fact_engine.update_fact(fact_id=edited.uid, updates={"fact_text": "birch"}, actor=actor)
        assert by_words(actor, "amber", "task/there") == ["amber first"]
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert by_words(actor, "amber", "task/there") == ["amber first"]
    hold_past_branches()
    assert Branch.objects.get(name="task/there").indexed
    assert by_words(actor, "amber", "task/there") == ["amber first"]
    assert by_words(actor, "amber") == []


def hold_past_branches() -> None:
    for branch in Branch.objects.live().filter(indexed=False):
        pin_versions(branch)


def by_words(actor: Actor, word: str, branch: str = "main") -> list[str]:
    rows = Fact.objects.on(find_branch(actor, branch))
    texts_of = dict(rows.values_list("pk", "fact_text"))
    return [texts_of[rid] for rid, _ in rows.match_words([word], 5)[0]]


def test_the_audit_of_the_work_comes_along_and_the_chain_holds(actor):
    write(actor, "one")
    project = Project.objects.get(pk=actor.project_id)
    made = workspace_engine.create_workspace(name="w", actor=actor)
    seal_entries(project)
    with server_on(made):
        write(actor, "two")
        seal_entries(Project.objects.get(pk=actor.project_id))
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    seal_entries(project)
    assert broken_at(project.pk) is None
    acts = AuditEntry.objects.order_by("place").values_list("action", flat=True)
    assert sorted(acts) == sorted(["fact.write", "workspace.create", "fact.write", "workspace.promote"])
    assert AuditEntry.objects.get(action="workspace.promote").detail == {"branches": {"main": [1, 2]}}


def test_a_store_that_moved_refuses_and_stays_as_it_is(actor):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        write(actor, "there")
    write(actor, "here")
    assert workspace_engine.diff_workspace(workspace_id=made.pk, actor=actor).moved == ("main",)
    with pytest.raises(Conflict, match="main"):
        workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert texts(actor) == ["here"]
    made.refresh_from_db()
    assert (made.state, there(made)) == ("open", True)
    with server_on(made):
        assert texts(actor) == ["there"]
        write(actor, "still open")


def test_a_new_branch_in_the_store_is_a_move_too(actor):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    branch_manager.create_branch(name="task/a", actor=actor)
    with pytest.raises(Conflict, match="task/a"):
        workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)


def test_other_projects_may_move_and_are_not_touched(actor, other_project):
    other = local_actor(other_project.pk)
    fact = write(other, "theirs")
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        write(actor, "there")
        write(other, "their secret job")
        fact_engine.delete_fact(fact_id=fact.uid, actor=other)
    fact_engine.update_fact(fact_id=fact.uid, updates={"fact_text": "theirs, later"}, actor=other)
    diff = workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert diff.tables["fact"].added == 1
    assert (texts(actor), texts(other)) == (["there"], ["theirs, later"])


def test_branches_of_two_projects_with_one_number_are_never_mixed(actor, other_project):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        ours = branch_manager.create_branch(name="task/ours", actor=actor)
    theirs = branch_manager.create_branch(name="task/theirs", actor=local_actor(other_project.pk))
    if ours.pk != theirs.pk:
        pytest.skip("this database gives a copy numbers of its own")
    with pytest.raises(Conflict, match="same numbers"):
        workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    names = Branch.objects.exclude(name="main").values_list("name", "project")
    assert list(names) == [("task/theirs", other_project.pk)]


def test_who_writes_on_after_a_promote_is_refused(actor):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with get_store_copies().open_workspace(made.copy) as alias:
        late = connections[alias]
        list(Branch.objects.using(alias).all())  # its file stays open, as a server's would
        workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
        store, connections["default"] = connections["default"], late
        try:
            with pytest.raises((BranchArchived, DatabaseError)):  # or it is gone already
                write(actor, "too late")
        finally:
            connections["default"] = store
    assert find_branch(actor, "main").archived_at is None


def test_rights_made_or_taken_in_a_workspace_stay_there(actor):
    key, _ = KeyEngine().create_key(label="k", scopes=["read"], actor=actor)
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        KeyEngine().create_key(label="mine now", scopes=["admin"], actor=actor)
        KeyEngine().revoke_key(key_id=key.pk, actor=actor)
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert list(ApiKey.objects.values_list("label", "revoked_at")) == [("k", None)]


def test_vectors_come_along(actor):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        fact = write(actor, "with a vector")
        Vector.objects.create(
            slot="s" * 32,
            project_id=actor.project_id,
            model="m",
            content_hash=fact.content_hash,
            n=7,
            state="ready",
            next_try=fact.created_at,
        )
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert Vector.objects.get(model="m").n == 1


def test_dropping_removes_everything(actor):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        write(actor, "never mind")
    workspace_engine.drop_workspace(workspace_id=made.pk, actor=actor)
    assert (texts(actor), there(made)) == ([], False)
    for ended in (workspace_engine.diff_workspace, workspace_engine.promote_workspace):
        with pytest.raises(Conflict, match="dropped already"):
            ended(workspace_id=made.pk, actor=actor)
    assert workspace_engine.drop_workspace(workspace_id=made.pk, actor=actor).state == "dropped"
    assert AuditEntry.objects.filter(action="workspace.drop").count() == 1
    assert workspace_engine.create_workspace(name="w", actor=actor).state == "open"


def test_a_workspace_whose_files_are_gone(actor):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    get_store_copies().drop_workspace(made.copy)
    with pytest.raises(Conflict, match="gone"):
        workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert workspace_engine.drop_workspace(workspace_id=made.pk, actor=actor).state == "dropped"


def test_what_is_refused(actor, other_project):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with pytest.raises(Exists):
        workspace_engine.create_workspace(name="w", actor=actor)
    with pytest.raises(Invalid):
        workspace_engine.create_workspace(name="", actor=actor)
    with pytest.raises(ScopeMissing):
        workspace_engine.create_workspace(name="v", actor=replace(actor, scopes=frozenset({"merge"})))
    for stranger, pk in ((local_actor(other_project.pk), made.pk), (actor, uuid4())):
        for refused in (
            workspace_engine.get_workspace,
            workspace_engine.promote_workspace,
            workspace_engine.drop_workspace,
        ):
            with pytest.raises(NotFound):
                refused(workspace_id=pk, actor=stranger)
    assert workspace_engine.list_workspaces(actor=local_actor(other_project.pk)).results == []
    for number in range(MAX_WORKSPACES - 1):
        workspace_engine.create_workspace(name=str(number), actor=actor)
    with pytest.raises(Invalid):
        workspace_engine.create_workspace(name="one more", actor=actor)
    assert [
        row.name for row in workspace_engine.list_workspaces(actor=actor, state="open", limit=2).results
    ] == [
        "3",
        "2",
    ]


def hide(actor: Actor, agent: str) -> None:
    QuarantineEngine().create_quarantine(source="agent", target=agent, actor=actor)


def test_a_quarantine_of_the_store_holds_on_what_a_workspace_brings(actor):
    write(actor, "kept")
    write(actor, "invented", agent_id="liar")
    made = workspace_engine.create_workspace(name="w", actor=actor)
    hide(actor, "liar")
    with server_on(made):
        write(actor, "new")
        branch_manager.create_branch(name="task/there", actor=actor)
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert texts(actor) == texts(actor, "task/there") == ["kept", "new"]
    assert found(actor, "invented") == []


def test_a_workspace_with_a_quarantine_of_its_own_is_not_promoted(actor):
    write(actor, "invented", agent_id="liar")
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        hide(actor, "liar")
    with pytest.raises(Conflict, match="The workspace has quarantines of its own"):
        workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert texts(actor) == ["invented"]
    hide(actor, "liar")
    assert texts(actor) == []


def test_a_second_promote_is_refused(actor):
    made = workspace_engine.create_workspace(name="w", actor=actor)
    with server_on(made):
        write(actor, "there")
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    with pytest.raises(Conflict):
        workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    assert texts(actor) == ["there"]


def test_a_project_that_is_removed_takes_its_copies_along(actor, other_project):
    other = local_actor(other_project.pk)
    gone = SnapshotManager().create_store_snapshot(name="s", actor=other)
    SnapshotManager().create_snapshot(name="p", actor=other)
    made = workspace_engine.create_workspace(name="w", actor=other)
    kept = SnapshotManager().create_store_snapshot(name="s", actor=actor)
    ProjectEngine().remove_project(project_slug=other_project.slug, confirm=other_project.slug, actor=actor)
    assert not there(made)
    assert [get_store_copies().has_snapshot(one) for one in (gone.copy, kept.copy)] == [False, True]


def test_events_that_came_in_there_are_not_taken_in_again(actor):
    made = workspace_engine.create_workspace(name="night", actor=actor)
    said = event("UserPromptSubmit", prompt="Why do logins fail?", prompt_id="p1")
    with server_on(made):
        IngestEngine().ingest(events=[said], actor=actor, client="claude-code")
    workspace_engine.promote_workspace(workspace_id=made.pk, actor=actor)
    IngestEngine().ingest(events=[said], actor=actor, client="claude-code")
    shown = Message.objects.on(find_branch(actor, "main"))
    assert list(shown.values_list("content", flat=True)) == ["Why do logins fail?"]
