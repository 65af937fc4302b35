"""Branches: creation, lists, logs, archiving; and what a commit refuses."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from memory.actors import Actor, local_actor
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.exceptions import (
    BranchArchived,
    BranchExists,
    BranchForbidden,
    BranchNotFound,
    Conflict,
    Invalid,
    NotFound,
    ScopeMissing,
)
from memory.models import MAX_DEPTH, AuditEntry, Branch, Fact, Project
from memory.models.hashes import content_hash, judged_hash, norm_hash

pytestmark = pytest.mark.django_db(transaction=True)


def some_project(name: str = "p") -> Project:
    project = Project.objects.create(name=name, slug=uuid4().hex)
    create_main(project)
    return project


def some_actor(project: Project | None = None) -> Actor:
    return local_actor((project or some_project()).pk)


def content_of(text: str) -> dict[str, str]:
    """Return the columns that derive from a fact's text."""
    essence = text[:200]
    return {
        "fact_text": text,
        "essence": essence,
        "content_hash": content_hash(text),
        "norm_hash": norm_hash(text),
        "judged_hash": judged_hash(text, essence, "general"),
    }


def fact(text: str, **fields: Any) -> Fact:
    return Fact(**content_of(text), **fields)


def write(actor: Actor, *texts: str, branch: str = "main", **fields: Any) -> list[Fact]:
    """Make one commit that adds a fact for each text."""
    with open_commit(actor, branch, "write") as commit:
        return list(commit.add_rows([fact(text, **fields) for text in texts]))


@pytest.fixture
def actor() -> Actor:
    return some_actor()


@pytest.fixture
def manager() -> BranchManager:
    return BranchManager()


def shown(actor: Actor, name: str, seq: int | None = None) -> list[str]:
    return sorted(Fact.objects.on(find_branch(actor, name), seq).values_list("fact_text", flat=True))


# ---- making ----------------------------------------------------------------------------------------


def test_a_branch_starts_with_what_its_parent_holds(actor: Actor, manager: BranchManager) -> None:
    write(actor, "a")
    branch = manager.create_branch(name="task/a", actor=actor, purpose="try it")
    assert (branch.parent.name, branch.fork_seq, branch.head, branch.depth) == ("main", 1, 0, 1)
    assert (branch.purpose, branch.created_by, branch.indexed) == ("try it", "local", True)
    assert shown(actor, "task/a") == ["a"]


@pytest.mark.parametrize("purpose", ["p" * 501, "a\x00b"])
def test_a_purpose_that_cannot_be_is_refused(actor: Actor, manager: BranchManager, purpose: str) -> None:
    with pytest.raises(Invalid) as refused:
        manager.create_branch(name="task/a", actor=actor, purpose=purpose)
    assert refused.value.data["field"] == "purpose"
    assert Branch.objects.filter(project=actor.project_id).count() == 1


def test_a_branch_from_a_seq_a_commit_and_a_time(actor: Actor, manager: BranchManager) -> None:
    for text in "abc":
        write(actor, text)
    second = find_branch(actor, "main").commits.get(seq=2)
    just_before = second.at - timedelta(microseconds=1)
    for number, (at, expected) in enumerate(
        [(2, "ab"), (second.pk, "ab"), (second.at, "ab"), (just_before, "a")]
    ):
        branch = manager.create_branch(name=f"task/{number}", actor=actor, at=at)
        assert shown(actor, branch.name) == list(expected)
        assert not branch.indexed


@pytest.mark.parametrize("at", [-1, 2])
def test_a_point_that_is_not_there_is_refused(actor: Actor, manager: BranchManager, at: int) -> None:
    write(actor, "a")
    with pytest.raises(Invalid, match="main has the seqs 0 to 1"):
        manager.create_branch(name="task/a", actor=actor, at=at)
    assert Branch.objects.filter(project=actor.project_id).count() == 1


def test_a_commit_of_another_branch_is_no_point(actor: Actor, manager: BranchManager) -> None:
    manager.create_branch(name="task/a", actor=actor)
    write(actor, "a", branch="task/a")
    elsewhere = find_branch(actor, "task/a").commits.get(seq=1)
    with pytest.raises(NotFound):
        manager.create_branch(name="task/b", actor=actor, at=elsewhere.pk)


@pytest.mark.parametrize("name", ["main", "task/a"])
def test_a_name_is_given_once_in_a_project(actor: Actor, manager: BranchManager, name: str) -> None:
    manager.create_branch(name="task/a", actor=actor)
    with pytest.raises(BranchExists):
        manager.create_branch(name=name, actor=actor)
    manager.create_branch(name="task/a", actor=some_actor())
    assert Branch.objects.filter(name="task/a").count() == 2


@pytest.mark.parametrize(
    "name",
    [
        "",
        "/",
        "a/",
        "/a",
        "a//b",
        "A",
        "a b",
        "a\n",
        "..",
        "a/../b",
        "a..b",
        ".",
        "a/.",
        "é",
        "a" * 201,
        "log",
        "task/merge",
        "task/auto-archive",
    ],
)
def test_names_that_are_refused(actor: Actor, manager: BranchManager, name: str) -> None:
    with pytest.raises(Invalid):
        manager.create_branch(name=name, actor=actor)


@pytest.mark.parametrize("name", ["a", "a.b", "task/a_b-c/1", "merge/a", "a" * 200, ".a"])
def test_names_that_are_taken(actor: Actor, manager: BranchManager, name: str) -> None:
    assert manager.create_branch(name=name, actor=actor).name == name


def test_branches_nest_sixteen_deep(actor: Actor, manager: BranchManager) -> None:
    parent = "main"
    for depth in range(1, MAX_DEPTH + 1):
        write(actor, f"{depth:02}", branch=parent)
        parent = manager.create_branch(name=f"b{depth}", actor=actor, parent=parent).name
    assert shown(actor, parent) == [f"{depth:02}" for depth in range(1, MAX_DEPTH + 1)]
    assert len(Fact.objects.on(find_branch(actor, parent)).match_words(["16", "01"], 5)[0]) == 2
    with pytest.raises(Invalid, match="at most 16 deep"):
        manager.create_branch(name="deeper", actor=actor, parent=parent)


def test_a_key_may_fork_main_but_no_other_branch_out_of_its_patterns(
    actor: Actor, manager: BranchManager
) -> None:
    manager.create_branch(name="other", actor=actor)
    bound = replace(actor, branch_patterns=("task/*",))
    manager.create_branch(name="task/a", actor=bound)
    manager.create_branch(name="task/b", actor=bound, parent="task/a")
    for name, parent in (("free", "main"), ("task/c", "other")):
        with pytest.raises(BranchForbidden):
            manager.create_branch(name=name, actor=bound, parent=parent)
    with pytest.raises(ScopeMissing):
        manager.create_branch(name="task/d", actor=replace(actor, scopes=frozenset({"propose"})))


def test_an_archived_branch_has_no_new_children(actor: Actor, manager: BranchManager) -> None:
    manager.create_branch(name="task/a", actor=actor)
    manager.archive_branch(name="task/a", actor=actor)
    with pytest.raises(BranchArchived):
        manager.create_branch(name="task/b", actor=actor, parent="task/a")


def test_a_fork_inside_a_commit_is_refused(actor: Actor, manager: BranchManager) -> None:
    with suppress(Exception), open_commit(actor, "main", "write"):
        manager.create_branch(name="task/a", actor=actor)
    write(actor, "a")
    child = Branch.objects.filter(project=actor.project_id, name="task/a").first()
    assert child is None or shown(actor, "task/a") == []


# ---- listing, logging, archiving -------------------------------------------------------------------


def test_the_list_leaves_out_archived_and_forbidden_ones(actor: Actor, manager: BranchManager) -> None:
    for name in ("task/b", "task/a", "other"):
        manager.create_branch(name=name, actor=actor)
    manager.archive_branch(name="task/b", actor=actor)
    bound = replace(actor, branch_patterns=("task/*",))
    for who, archived, expected in (
        (actor, False, ["main", "other", "task/a"]),
        (actor, True, ["main", "other", "task/a", "task/b"]),
        (bound, False, ["task/a"]),
    ):
        assert [b.name for b in manager.list_branches(actor=who, archived=archived).results] == expected


def test_the_list_comes_in_pages_there_and_back(actor: Actor, manager: BranchManager) -> None:
    for n in range(4):
        manager.create_branch(name=f"b{n}", actor=actor)
    first = manager.list_branches(actor=actor, limit=2)
    second = manager.list_branches(actor=actor, limit=2, cursor=first.next or "")
    third = manager.list_branches(actor=actor, limit=2, cursor=second.next or "")
    names = [[b.name for b in page.results] for page in (first, second, third)]
    assert names == [["b0", "b1"], ["b2", "b3"], ["main"]]
    assert (first.previous, third.next) == (None, None)
    back = manager.list_branches(actor=actor, limit=2, cursor=third.previous or "")
    assert [b.name for b in back.results] == ["b2", "b3"]


def test_the_log_is_the_branch_own_newest_first(actor: Actor, manager: BranchManager) -> None:
    write(actor, "a")
    manager.create_branch(name="task/a", actor=actor)
    write(actor, "b", "c", branch="task/a")
    with open_commit(actor, "task/a", "fact.delete", message="not needed") as commit:
        commit.remove_row(commit.visible_rows(Fact).get(fact_text="a"))
    log = manager.list_commits(name="task/a", actor=actor).results
    assert [(c.seq, c.kind, c.added, c.changed, c.removed) for c in log] == [
        (2, "fact.delete", 0, 0, 1),
        (1, "write", 2, 0, 0),
    ]
    assert (log[0].message, log[0].actor_label) == ("not needed", "local")
    entries = AuditEntry.objects.filter(project=actor.project_id, action__in=["write", "fact.delete"])
    assert entries.count() == 3


def test_an_archived_branch_takes_no_writes_until_it_is_restored(
    actor: Actor, manager: BranchManager
) -> None:
    manager.create_branch(name="task/a", actor=actor)
    write(actor, "a", branch="task/a")
    manager.archive_branch(name="task/a", actor=actor)
    manager.archive_branch(name="task/a", actor=actor)
    with pytest.raises(BranchArchived):
        write(actor, "b", branch="task/a")
    assert (find_branch(actor, "task/a").head, shown(actor, "task/a")) == (1, ["a"])
    assert AuditEntry.objects.filter(action="branch.archive", project=actor.project_id).count() == 1
    manager.restore_branch(name="task/a", actor=actor)
    write(actor, "b", branch="task/a")
    assert shown(actor, "task/a") == ["a", "b"]


def test_main_is_never_archived(actor: Actor, manager: BranchManager) -> None:
    with pytest.raises(Conflict):
        manager.archive_branch(name="main", actor=actor)


def test_a_child_of_an_archived_parent_lives_on(actor: Actor, manager: BranchManager) -> None:
    manager.create_branch(name="task/a", actor=actor)
    write(actor, "a", branch="task/a")
    manager.create_branch(name="task/b", actor=actor, parent="task/a")
    manager.archive_branch(name="task/a", actor=actor)
    write(actor, "b", branch="task/b")
    assert shown(actor, "task/b") == ["a", "b"]


def test_a_branch_of_another_project_is_not_found(actor: Actor, manager: BranchManager) -> None:
    manager.create_branch(name="task/a", actor=some_actor())
    for act in (
        lambda: manager.get_branch(name="task/a", actor=actor),
        lambda: write(actor, "a", branch="task/a"),
        lambda: manager.create_branch(name="task/b", actor=actor, parent="task/a"),
    ):
        with pytest.raises(BranchNotFound):
            act()
