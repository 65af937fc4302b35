"""Visibility on every backend: versions are read by branch, or not at all."""

from typing import Any

import pytest
from django.db.models import Count, Exists, QuerySet, Subquery

from memory.db.backend import get_features
from memory.db.neighbours import unite_neighbours
from memory.db.querysets import BranchNotNamed
from memory.engines.branches.manager import BranchManager
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import find_branch
from memory.models import Branch, Fact
from tests.memory.test_branches import fact, some_actor, write

pytestmark = pytest.mark.django_db(transaction=True)

UNSAID = {
    "iteration": lambda: list(Fact.objects.all()),
    "iterator": lambda: list(Fact.objects.iterator()),
    "length": lambda: len(Fact.objects.all()),
    "truth": lambda: bool(Fact.objects.all()),
    "index": lambda: Fact.objects.all()[0],
    "slice": lambda: list(Fact.objects.all()[:1]),
    "count": lambda: Fact.objects.count(),
    "exists": lambda: Fact.objects.exists(),
    "contains": lambda: Fact.objects.contains(Fact()),
    "aggregate": lambda: Fact.objects.aggregate(n=Count("pk")),
    "update": lambda: Fact.objects.update(category="x"),
    "bulk_update": lambda: Fact.objects.bulk_update([fact("a")], ["category"]),
    "delete": lambda: Fact.objects.all().delete(),
    "first": lambda: Fact.objects.first(),
    "last": lambda: Fact.objects.last(),
    "earliest": lambda: Fact.objects.earliest("rid"),
    "get": lambda: Fact.objects.get(pk=1),
    "in_bulk": lambda: Fact.objects.in_bulk([1]),
    "values": lambda: list(Fact.objects.values("pk")),
    "values_list": lambda: list(Fact.objects.values_list("pk")),
    "dates": lambda: list(Fact.objects.dates("created_at", "day")),
    "filter": lambda: list(Fact.objects.filter(pk=1)),
    "exclude": lambda: list(Fact.objects.exclude(pk=1)),
    "union": lambda: list(Fact.objects.all().union(Fact.objects.all_versions())),
    "subquery": lambda: list(Fact.objects.all_versions().filter(pk__in=Fact.objects.values("pk"))),
    "explain": lambda: Fact.objects.all().explain(),
    "keyword": lambda: Fact.objects.match_words(["a"], 5),
    "rows": lambda: list(Fact.objects.rows()),
}
BYPASSES = {
    "union with": lambda: list(Fact.objects.all_versions().union(Fact.objects.all())),
    "or": lambda: list(Fact.objects.all_versions() | Fact.objects.all()),
    "Exists": lambda: list(Branch.objects.filter(Exists(Fact.objects.all()))),
    "Subquery": lambda: list(Branch.objects.filter(pk__in=Subquery(Fact.objects.values("branch_id")))),
    "newest": lambda: Fact.objects.newest(3),
    "and": lambda: Fact.objects.all_versions() & Fact.objects.all_versions(),
}


@pytest.mark.parametrize("name", UNSAID)
def test_nothing_is_read_before_a_branch_was_named(name: str) -> None:
    with pytest.raises(BranchNotNamed, match=r"Fact: say \.on\(branch\) or \.all_versions\(\) first\."):
        UNSAID[name]()


@pytest.mark.parametrize("name", BYPASSES)
def test_no_other_way_round_either(name: str) -> None:
    with pytest.raises(BranchNotNamed):
        BYPASSES[name]()


def texts(rows: Any) -> list[str]:
    return sorted(f.fact_text for f in rows)


def test_a_child_sees_its_parent_as_of_the_fork_and_nothing_later() -> None:
    actor = some_actor()
    write(actor, "known before")
    child = BranchManager().create_branch(name="task/a", actor=actor)
    write(actor, "known later")
    write(actor, "known to the child", branch="task/a")
    assert texts(Fact.objects.on(find_branch(actor, "task/a"))) == ["known before", "known to the child"]
    assert texts(Fact.objects.on(find_branch(actor, "main"))) == ["known before", "known later"]
    assert texts(Fact.objects.on(child)) == ["known before"]


def test_a_tombstone_of_a_nearer_branch_hides_and_a_removal_on_the_parent_does_not() -> None:
    actor = some_actor()
    write(actor, "first", "second")
    BranchManager().create_branch(name="task/a", actor=actor)
    for branch, text in (("task/a", "first"), ("main", "second")):
        with open_commit(actor, branch, "remove") as commit:
            commit.remove_row(commit.visible_rows(Fact).get(fact_text=text))
    assert texts(Fact.objects.on(find_branch(actor, "task/a"))) == ["second"]
    assert texts(Fact.objects.on(find_branch(actor, "main"))) == ["first"]


def test_two_projects_never_see_each_other() -> None:
    one, other = some_actor(), some_actor()
    write(one, "ours")
    write(other, "theirs")
    assert texts(Fact.objects.on(find_branch(one, "main"))) == ["ours"]
    assert texts(Fact.objects.on(find_branch(other, "main"))) == ["theirs"]


def test_filters_said_before_and_after_naming_the_branch_both_count() -> None:
    actor = some_actor()
    write(actor, "a", "b", category="bug_fix")
    write(actor, "c", category="pattern")
    main = find_branch(actor, "main")
    shown = Fact.objects.filter(category="bug_fix").on(main).exclude(fact_text="a")
    assert texts(shown) == texts(shown.rows()) == texts(shown.newest(5)) == ["b"]


@pytest.mark.parametrize("narrow", ["none", "complex_filter"])
def test_every_way_of_narrowing_reaches_every_way_of_reading(narrow: str) -> None:
    from django.db.models import Q

    actor = some_actor()
    write(actor, "a", category="bug_fix")
    shown = Fact.objects.on(find_branch(actor, "main"))
    narrowed = {
        "none": lambda: shown.none(),
        "complex_filter": lambda: shown.complex_filter(Q(category="pattern")),
    }[narrow]()
    assert list(narrowed) == []
    assert narrowed.newest(5) == []
    assert narrowed.match_words(["a"], 5) == ([], [])


def test_rows_next_to_others_are_those_that_the_lineage_shows() -> None:
    actor = some_actor()
    one, _, three = write(actor, "one", "two", "three", session_id="s")
    write(actor, "apart", session_id="t")
    BranchManager().create_branch(name="task/a", actor=actor)
    with open_commit(actor, "task/a", "remove") as commit:
        commit.remove_row(commit.visible_rows(Fact).get(fact_text="two"))
    four, _ = write(actor, "four", "five", branch="task/a", session_id="s")

    def list_beside(branch: str, *rows: Fact, cut: int | None = None) -> dict[int, dict[int, str]]:
        shown = Fact.objects.on(find_branch(actor, branch))
        rids, columns = [row.rid for row in rows], ("fact_text", "uid")
        found = shown.read_neighbours(rids, "session_id", columns, (2, 1), cut)
        return {rid: {at: text for at, (text, _) in beside.items()} for rid, beside in found.items()}

    assert list_beside("main", one, three) == {one.rid: {1: "two"}, three.rid: {-1: "two", -2: "one"}}
    assert list_beside("task/a", four) == {four.rid: {-1: "three", -2: "one", 1: "five"}}
    assert list_beside("task/a", four, cut=3) == {four.rid: {-1: "thr", -2: "one", 1: "fiv"}}
    assert list_beside("task/a") == {}


def test_rows_next_to_others_can_be_read_one_by_one_and_united() -> None:
    (one,) = write(some_actor(), "one", session_id="s")
    arm, known = Fact.objects.all_versions(), Fact._base_manager.filter(pk=one.rid)
    found = unite_neighbours(arm, known, "session_id", ("fact_text", "origin", "uid"), (2, 1))
    assert isinstance(found, QuerySet)
    assert (found.query.combinator, len(found.query.combined_queries)) == ("union", 2)


@pytest.mark.parametrize("by", ["rid", "uid", "content_hash"])
def test_rows_picked_by_many_keys_are_those_picked_by_few(by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    actor = some_actor()
    with open_commit(actor, "main", "test") as commit:
        commit.add_rows([fact(f"text {number}") for number in range(7)])
    child = BranchManager().create_branch(name="child", actor=actor)
    rows = Fact.objects.on(child)
    keys = [value for (value,) in rows.gather_values(by)]
    picked = rows.select_by_key(("rid",), by, keys)
    assert len(picked) == 7
    monkeypatch.setattr(get_features(), "keys_at_once", 3)
    assert sorted(rows.select_by_key(("rid",), by, [*keys, *keys])) == sorted(picked)
