"""Actions on many facts of the queue: answers to their questions, and moves to another branch."""

from collections.abc import Callable
from typing import Any

import pytest

from curation.engines.queue.actions import MERGE_DUPLICATES, MOVE, QueueActionEngine
from curation.engines.review.pair_answers import KEEP_BOTH
from curation.models import ReviewItem
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import BranchNotFound, Conflict, Invalid, ScopeMissing
from memory.models import AuditEntry, Branch, Commit, Fact
from memory.models.nodes import uuid7
from tests.curation.test_queue import ask  # noqa: F401  a fixture

pytestmark = pytest.mark.django_db(transaction=True)
engine, facts = QueueActionEngine(), FactEngine()


def apply(actor: Actor, action: str, *found: Fact, **options: Any) -> Any:
    return engine.apply_action(action=action, fact_ids=[fact.uid for fact in found], actor=actor, **options)


def outcomes(report: Any) -> list[tuple[str, str]]:
    return [(one.outcome, one.code) for one in report.results]


def states(actor: Actor, *found: Fact, branch: str = "main") -> list[str]:
    return [facts.get_fact(fact_id=fact.uid, actor=actor, branch_name=branch).status for fact in found]


def is_open(*items: ReviewItem) -> list[bool]:
    return [ReviewItem.objects.get(pk=item.pk).status == "open" for item in items]


def undo(actor: Actor, commit: Commit | None) -> None:
    assert commit is not None
    RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)


def test_duplicates_are_merged_in_one_commit_that_is_undone_as_one(
    actor: Actor,
    main: Branch,
    write: Callable[..., Fact],
    ask: Callable[..., ReviewItem],  # noqa: F811
) -> None:
    one, two = write("one", session_id="a"), write("uno", session_id="b")
    old, new = write("old"), write("new")
    alone = write("alone")
    items = ask(two, one), ask(new, old, kind="contested")
    head = Branch.objects.get(pk=main.pk).head
    report = apply(actor, MERGE_DUPLICATES, two, new, alone, reason="The same.")
    assert outcomes(report) == [("done", ""), ("done", ""), ("refused", "conflict")]
    assert [one.essence for one in report.results] == ["uno", "new", "alone"]
    assert (report.commit.seq, report.commit.kind) == (head + 1, "review.resolve")
    assert states(actor, one, two, old, new, alone) == [
        "superseded",
        "active",
        "superseded",
        "active",
        "active",
    ]
    assert facts.get_fact(fact_id=two.uid, actor=actor).confirmation_count == 1
    assert is_open(*items) == [False, False]
    entry = AuditEntry.objects.filter(action="review.resolve").get()
    assert entry.target == f"main@{head + 1}"
    undo(actor, report.commit)
    assert states(actor, one, two, old, new) == ["active"] * 4
    assert is_open(*items) == [True, True]


def test_a_fact_of_two_questions_is_merged_once(
    actor: Actor,
    write: Callable[..., Fact],
    ask: Callable[..., ReviewItem],  # noqa: F811
) -> None:
    one, two, three = write("one"), write("two"), write("three")
    first, second = ask(two, one), ask(three, two)
    report = apply(actor, MERGE_DUPLICATES, two, three)
    assert outcomes(report) == [("done", ""), ("refused", "conflict")]
    assert is_open(first, second) == [False, True]
    assert states(actor, one, two, three) == ["superseded", "active", "active"]


def test_keep_both_answers_all_questions_of_the_facts(
    actor: Actor,
    write: Callable[..., Fact],
    ask: Callable[..., ReviewItem],  # noqa: F811
) -> None:
    one, two, three = write("one"), write("two"), write("three")
    items = ask(two, one), ask(three, two)
    assert outcomes(apply(actor, KEEP_BOTH, two)) == [("done", "")]
    assert is_open(*items) == [False, False]
    assert states(actor, one, two, three) == ["active"] * 3


def test_what_changed_since_it_was_read_is_not_merged(
    actor: Actor,
    write: Callable[..., Fact],
    ask: Callable[..., ReviewItem],  # noqa: F811
) -> None:
    one, two = write("one"), write("two")
    item = ask(two, one)
    facts.update_fact(fact_id=one.uid, updates={"confidence": 0.1}, actor=actor)
    report = apply(actor, MERGE_DUPLICATES, two, expected_versions={two.uid: 1})
    assert (outcomes(report), report.commit) == ([("refused", "stale_version")], None)
    assert (is_open(item), states(actor, one, two)) == ([True], ["active", "active"])


def test_a_move_brings_the_facts_and_archives_them_here(
    actor: Actor, main: Branch, write: Callable[..., Fact]
) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    one, two, stays = write("one"), write("two"), write("stays")
    curator = Actor(actor.project_id, "user", "c", "cora", frozenset({"curate"}))
    report = apply(curator, MOVE, one, two, to_branch="task/x", expected_versions={two.uid: 7})
    assert outcomes(report) == [("done", ""), ("refused", "stale_version")]
    assert states(actor, one, two, stays) == ["archived", "active", "active"]
    assert states(actor, one, branch="task/x") == ["active"]
    assert (report.arrival.branch.name, report.commit.branch.name) == ("task/x", "main")
    assert report.commit.message == "Moved to task/x."
    undo(curator, report.commit)
    undo(curator, report.arrival)
    assert states(actor, one) == ["active"]
    assert not Fact.objects.on(Branch.objects.get(name="task/x")).filter(uid=one.uid).fetch_all()


def test_a_move_to_where_the_branch_comes_from_leaves_the_fact_here(
    actor: Actor, write: Callable[..., Fact]
) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    fact = write("learned there", branch="task/x")
    with pytest.raises(Conflict):  # main takes verified facts alone
        apply(actor, MOVE, fact, branch_name="task/x", to_branch="main")
    apply(actor, "verify", fact, branch_name="task/x")
    report = apply(actor, MOVE, fact, branch_name="task/x", to_branch="main")
    assert outcomes(report) == [("done", "")]
    assert "stays here" in report.results[0].message
    assert (states(actor, fact), states(actor, fact, branch="task/x")) == (["active"], ["active"])


def test_refusals_change_nothing(actor: Actor, main: Branch, write: Callable[..., Fact]) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    fact = write("one")
    head = Branch.objects.get(pk=main.pk).head
    writer = Actor(actor.project_id, "key", scopes=frozenset({"write"}))
    for action in (MERGE_DUPLICATES, KEEP_BOTH, MOVE):
        with pytest.raises(ScopeMissing):
            apply(writer, action, fact, to_branch="task/x")
        with pytest.raises(Invalid):
            apply(actor, action, to_branch="task/x")
    with pytest.raises(Invalid):
        apply(actor, "explode", fact)
    for name, error in {"main": Conflict, "no/such": BranchNotFound, "": BranchNotFound}.items():
        with pytest.raises(error):
            apply(actor, MOVE, fact, to_branch=name)
    unknown = Fact(uid=uuid7())
    assert outcomes(apply(actor, MOVE, unknown, to_branch="task/x")) == [("refused", "not_found")]
    assert outcomes(apply(actor, "verify", unknown)) == [("refused", "not_found")]
    assert Branch.objects.get(pk=main.pk).head == head
