"""Commits: complete or absent, in order, based on what was read; and the ids of their rows."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.db.transaction import TransactionManagementError

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.versions import commits
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.engines.versions.lookup import find_branch, resolve_point
from memory.exceptions import TooLarge
from memory.models import OPEN, AuditEntry, Fact
from memory.models.nodes import RowIds, next_rid
from tests.memory.api.client import nothing_left
from tests.memory.test_branches import content_of, fact, shown, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def manager() -> BranchManager:
    return BranchManager()


# ---- bounds ----------------------------------------------------------------------------------------

BOUND = 20


@pytest.fixture
def low_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bound commits lower: five thousand rows take seconds, and are bounded in the same place."""
    monkeypatch.setattr(commits, "MAX_COMMIT_ROWS", BOUND)


def commit_rows(actor: Actor, count: int, removed: Sequence[Fact] = (), **options: Any) -> CommitWriter:
    with open_commit(actor, "main", "write", **options) as commit:
        commit.add_rows([fact(f"a{n}") for n in range(count)])
        commit.add_versions([(row, {}, True) for row in removed])
    return commit


@pytest.mark.usefixtures("low_bound")
def test_a_commit_has_a_bound_whoever_writes(actor: Actor) -> None:
    with nothing_left(), pytest.raises(TooLarge, match="The commit is over the limit of 20 rows"):
        commit_rows(actor, BOUND + 1)
    assert commit_rows(actor, BOUND).remaining_rows == 0


@pytest.mark.usefixtures("low_bound")
def test_a_change_counts_as_a_new_row_does(actor: Actor) -> None:
    old = write(actor, "a", "b")
    with nothing_left(), pytest.raises(TooLarge):
        commit_rows(actor, BOUND - 1, removed=old)
    assert commit_rows(actor, BOUND - 2, removed=old).remaining_rows == 0


@pytest.mark.usefixtures("low_bound")
def test_what_cannot_be_done_in_parts_has_no_bound(actor: Actor) -> None:
    """Revert a commit larger than the bound, and restore in one commit."""
    commit = commit_rows(actor, BOUND + 1, bounded=False)
    snapshot = SnapshotManager().create_snapshot(name="s", actor=actor)
    assert commit.commit is not None
    undone = RevertEngine().revert_commit(commit_id=commit.commit.pk, actor=actor)
    assert (undone.removed, shown(actor, "main")) == (BOUND + 1, [])
    SnapshotManager().restore_snapshot(snapshot_id=snapshot.pk, actor=actor)
    assert len(shown(actor, "main")) == BOUND + 1


# ---- commits ---------------------------------------------------------------------------------------


def test_a_commit_without_changes_uses_no_seq(actor: Actor) -> None:
    with open_commit(actor, "main", "nothing"):
        pass
    write(actor, "a")
    assert [c.seq for c in find_branch(actor, "main").commits.all()] == [1]


def test_a_commit_that_fails_leaves_nothing(actor: Actor) -> None:
    with suppress(ZeroDivisionError), open_commit(actor, "main", "write") as commit:
        commit.add_rows([fact("a")])
        raise ZeroDivisionError
    main = find_branch(actor, "main")
    assert (main.head, main.commits.count(), shown(actor, "main")) == (0, 0, [])
    assert AuditEntry.objects.filter(project=actor.project_id).count() == 0


def test_an_exception_caught_outside_ends_the_whole_transaction(actor: Actor) -> None:
    """Lose earlier writes of the transaction too: there is no savepoint."""
    with suppress(TransactionManagementError), transaction.atomic():
        write(actor, "a")
        with suppress(ZeroDivisionError), open_commit(actor, "main", "write"):
            raise ZeroDivisionError
        write(actor, "b")
    assert shown(actor, "main") == []


def test_commit_times_grow_when_the_clock_goes_back(actor: Actor) -> None:
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False):
        write(actor, "a")
        write(actor, "b")
    with time_machine.travel("2026-04-01T12:00:00Z", tick=False):
        write(actor, "c")
    first, second, third = (c.at for c in find_branch(actor, "main").commits.order_by("seq"))
    assert second - first == third - second == timedelta(microseconds=1)
    assert [resolve_point(find_branch(actor, "main"), at) for at in (first, second, third)] == [1, 2, 3]


def test_a_child_is_never_earlier_than_what_it_was_forked_from(actor: Actor, manager: BranchManager) -> None:
    with time_machine.travel("2026-05-01T12:00:00Z", tick=False):
        write(actor, "a")
    with time_machine.travel("2026-04-01T12:00:00Z", tick=False):
        manager.create_branch(name="task/a", actor=actor)
        write(actor, "b", branch="task/a")
    before = find_branch(actor, "main").commits.get().at
    assert find_branch(actor, "task/a").commits.get().at > before


def test_a_stale_version_of_the_branch_cannot_be_changed(actor: Actor) -> None:
    stale = write(actor, "a")[0]
    with open_commit(actor, "main", "change") as commit:
        commit.change_row(commit.get_version(Fact, stale.uid), category="x")
    with (
        pytest.raises(RuntimeError, match="was closed by somebody else"),
        open_commit(actor, "main", "x") as commit,
    ):
        commit.change_row(stale, category="y")
    assert find_branch(actor, "main").head == 2


@pytest.mark.parametrize("same_commit", [True, False])
def test_a_stale_inherited_version_cannot_be_changed(
    actor: Actor, manager: BranchManager, same_commit: bool
) -> None:
    stale = write(actor, "a")[0]
    branch = manager.create_branch(name="task/a", actor=actor)
    with suppress(RuntimeError):
        with open_commit(actor, "task/a", "remove") as commit:
            commit.remove_row(stale)
            if same_commit:
                commit.change_row(stale, category="y")
        if not same_commit:
            with open_commit(actor, "task/a", "change") as commit:
                commit.change_row(stale, category="y")
    assert Fact.objects.all_versions().filter(branch=branch, seq_to=OPEN).count() <= 1


def test_a_memory_is_open_once_on_a_branch(actor: Actor) -> None:
    first = write(actor, "a")[0]
    with pytest.raises(IntegrityError), open_commit(actor, "main", "write") as commit:
        commit.add_rows([fact("b", uid=first.uid)])
    assert shown(actor, "main") == ["a"]


def test_a_copy_that_is_changed_in_the_same_commit_is_another_version(
    actor: Actor, manager: BranchManager
) -> None:
    """Give changed content a new vid: a merge takes equal vids for equal versions."""
    manager.create_branch(name="task/a", actor=actor)
    source = write(actor, "a", branch="task/a")[0]
    vid = source.vid
    with open_commit(actor, "main", "merge") as commit:
        (copy,) = commit.merge_versions([(None, source)])
        changed = commit.change_row(copy, **content_of("b"))
    assert changed.vid != vid
    assert changed.prev_vid == vid


def test_an_empty_commit_around_another_gives_nothing_back(actor: Actor) -> None:
    with suppress(RuntimeError), open_commit(actor, "main", "outer"):
        write(actor, "a")
    write(actor, "b")
    main = find_branch(actor, "main")
    assert main.head == main.commits.count()


# ---- row ids ---------------------------------------------------------------------------------------


def test_row_ids_grow_and_differ_between_threads(actor: Actor) -> None:
    next_rid.ensure_lease()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda _: [next_rid() for _ in range(3000)], range(4)))
    assert all(some == sorted(some) for some in made)
    assert len({rid for some in made for rid in some}) == 12_000


def test_two_processes_never_hold_one_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda _: 7)
    made = [RowIds() for _ in range(3)]
    assert sorted((ids() >> 12) & 1023 for ids in made) == [7, 8, 9]


def test_a_lease_that_was_rolled_back_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.randbelow", lambda _: 7)
    one, other = RowIds(), RowIds()
    with suppress(ZeroDivisionError), transaction.atomic():
        one()
        raise ZeroDivisionError
    assert one() >> 12 & 1023 != other() >> 12 & 1023
