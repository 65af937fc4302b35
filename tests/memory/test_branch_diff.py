"""The difference of two points: compared with the model, and field by field."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given

from memory.actors import Actor
from memory.engines.branches.diff import KINDS, DiffRange, find_common_ancestor, order_points
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.engine import MergeEngine
from memory.exceptions import BranchForbidden, BranchNotFound, Invalid
from memory.models import Branch, Fact, Project
from tests.memory.oracle import NaiveBranch
from tests.memory.test_versions import World, histories, looks, random_histories

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, LINKS, BRANCHES = FactEngine(), LinkEngine(), BranchManager()


# ---- against the model -------------------------------------------------------------------------------


def expected(before: dict[UUID, str], after: dict[UUID, str]) -> dict[UUID, tuple[str, list]]:
    """Return the expected differences of two states."""
    found = {}
    for uid in before.keys() | after.keys():
        one, other = before.get(uid), after.get(uid)
        if one != other:
            change = "added" if one is None else "removed" if other is None else "changed"
            found[uid] = (change, [one, other] if change == "changed" else [])
    return found


@pytest.mark.slow
@given(history=histories)
@random_histories(5)
def test_the_difference_is_that_of_the_model(history: list[tuple]) -> None:
    world = World()
    for move in history:
        world.play(move)
    points = looks(world)
    for step in (0, 1, len(points) // 2):
        for place, (one, one_row, one_seq) in enumerate(points):
            other, other_row, other_seq = points[(place + step) % len(points)]
            both = order_points(one_row.lineage(one_seq), other_row.lineage(other_seq), world.project.pk)
            compare(both, expected(one.states[one_seq], other.states[other_seq]))


def compare(both: DiffRange, wanted: dict[UUID, tuple[str, list]]) -> None:
    found, cursor = [], ""
    while True:
        page = both.list_differences(KINDS["fact"], ("added", "changed", "removed"), 3, cursor, {})
        found += page.results
        if not page.next:
            break
        cursor = page.next
    assert [one.uid for one in found] == sorted(wanted, reverse=True)
    assert {one.uid: (one.change, one.fields.get("fact_text", [])) for one in found} == wanted
    tally = both.counts()["fact"]
    kinds = [change for change, _ in wanted.values()]
    assert tally == {change: kinds.count(change) for change in ("added", "changed", "removed")}


@pytest.mark.slow
@given(history=histories)
@random_histories(5)
def test_what_a_branch_did_is_its_difference_from_its_beginning(history: list[tuple]) -> None:
    world = World()
    for step in history:
        world.play(step)
    for branch, row, seq in looks(world):
        diff = BRANCHES.compare_branch(name=row.name, actor=world.actor, at=seq)
        assert {one.uid for one in diff.page.results} == set(did(branch, seq))
        assert all(one.commit and one.commit.branch_id == row.pk for one in diff.page.results)


@pytest.mark.slow
@given(history=histories)
@random_histories(5)
def test_a_branch_counts_what_it_shows(history: list[tuple]) -> None:
    world = World()
    for step in history:
        world.play(step)
    for name, branch in world.naive.branches.items():
        shown, on = branch.states[-1], {"actor": world.actor, "branch_name": name}
        judged = [] if branch.archived else list(shown)[::2]
        for uid in judged:
            FACTS.set_verification(fact_id=uid, verdict="verified", reason="x", **on)
        stats = BRANCHES.load_stats(name=name, actor=world.actor)
        assert (sum(stats.facts.values()), stats.verification["verified"]) == (len(shown), len(judged))


def did(branch: NaiveBranch, seq: int) -> dict[UUID, Any]:
    return expected(branch.states[0], branch.states[seq])


# ---- field by field ----------------------------------------------------------------------------------


@pytest.fixture
def scene(actor: Actor) -> dict[str, Fact]:
    """Write three facts on main; on task/a update and verify one, delete one, add and link one."""
    written = FACTS.write_facts(
        facts=[{"fact_text": text, "tags": ["auth"]} for text in ("one", "two", "three")], actor=actor
    )
    one, two, three = (row.fact for row in written.results)
    BRANCHES.create_branch(name="task/a", actor=actor)
    on = {"actor": actor, "branch_name": "task/a"}
    FACTS.update_fact(fact_id=one.uid, updates={"category": "security", "tags": ["auth", "tokens"]}, **on)
    FACTS.set_verification(fact_id=one.uid, verdict="verified", reason="read", **on)
    FACTS.delete_fact(fact_id=two.uid, **on)
    four = FACTS.write_fact(fact_text="four", **on).fact
    LINKS.write_link(from_id=four.uid, to_id=three.uid, link_type="DEPENDS_ON", **on)
    FACTS.update_fact(fact_id=three.uid, updates={"category": "x"}, actor=actor)  # later, on main
    return {"one": one, "two": two, "three": three, "four": four}


def test_a_branch_against_its_beginning(scene: dict[str, Fact], actor: Actor) -> None:
    diff = BRANCHES.compare_branch(name="task/a", actor=actor)
    assert (diff.branch.name, diff.seq, diff.against.name, diff.against_seq) == ("task/a", 5, "main", 1)
    nothing = {"added": 0, "changed": 0, "removed": 0}
    assert diff.counts == {
        "fact": {"added": 1, "changed": 1, "removed": 1},
        "link": {"added": 1, "changed": 0, "removed": 0},
        **dict.fromkeys(("relation", "observation", "conversation", "message"), nothing),
    }
    four, two, one = diff.page.results
    assert [(d.uid, d.change) for d in (four, two, one)] == [
        (scene["four"].uid, "added"),
        (scene["two"].uid, "removed"),
        (scene["one"].uid, "changed"),
    ]
    assert one.fields == {
        "category": ["general", "security"],
        "tags": [["auth"], ["auth", "tokens"]],
        "verification_status": ["unverified", "verified"],
    }
    assert (two.before.fact_text, two.after, four.before, four.after.fact_text) == ("two", None, None, "four")
    kinds = [d.commit.kind for d in (four, two, one) if d.commit]
    assert kinds == ["fact.write", "fact.delete", "fact.verify"]


def test_what_came_later_on_the_parent_is_behind_not_removed(scene: dict[str, Fact], actor: Actor) -> None:
    FACTS.write_facts(facts=[{"fact_text": f"later {n}"} for n in range(3)], actor=actor)
    FACTS.delete_fact(fact_id=scene["one"].uid, actor=actor)
    own, named = (
        BRANCHES.compare_branch(name="task/a", actor=actor),
        BRANCHES.compare_branch(name="task/a", actor=actor, against="main"),
    )
    for diff in (own, named):
        assert diff.counts["fact"] == {"added": 1, "changed": 1, "removed": 1}
        assert (diff.base, diff.ahead, diff.behind) == ("ancestor", 5, 3)
        assert [d.uid for d in diff.page.results] == [scene[name].uid for name in ("four", "two", "one")]
    assert (own.against_seq, named.against_seq) == (1, 4)


def test_what_the_parent_changed_since_a_branch_left(scene: dict[str, Fact], actor: Actor) -> None:
    diff = BRANCHES.compare_branch(name="main", actor=actor, against="task/a")
    assert [(d.uid, d.change) for d in diff.page.results] == [(scene["three"].uid, "changed")]
    assert (diff.ahead, diff.behind) == (1, 5)


def test_two_branches_since_they_had_the_same_history(scene: dict[str, Fact], actor: Actor) -> None:
    BRANCHES.create_branch(name="task/a/b", parent="task/a", at=4, actor=actor)
    FACTS.delete_fact(fact_id=scene["one"].uid, actor=actor, branch_name="task/a/b")
    BRANCHES.create_branch(name="task/c", actor=actor)
    for name, against, expected in (
        ("task/a/b", "task/a", ({"one"}, 1, 1)),
        ("task/a/b", "task/c", ({"one", "two", "four"}, 5, 1)),
        ("task/c", "task/a/b", ({"three"}, 1, 5)),
    ):
        diff = BRANCHES.compare_branch(name=name, actor=actor, against=against)
        uids = {scene[fact].uid for fact in expected[0]}
        assert ({d.uid for d in diff.page.results}, diff.ahead, diff.behind) == (uids, *expected[1:])


def test_a_branch_against_all_that_the_parent_shows_now(scene: dict[str, Fact], actor: Actor) -> None:
    diff = BRANCHES.compare_branch(name="task/a", actor=actor, against="main", base="point")
    found = {d.uid: d for d in diff.page.results}
    assert (len(found), diff.against_seq, diff.base) == (4, 2, "point")
    assert found[scene["three"].uid].fields == {"category": ["x", "general"]}
    assert found[scene["three"].uid].commit.branch.name == "main"
    assert BRANCHES.compare_branch(name="task/a", actor=actor, against_at=2).counts == diff.counts


@given(history=histories)
@random_histories(5)
def test_the_common_ancestor_is_that_of_the_model(history: list[tuple]) -> None:
    """Compare with the versions that the two model branches both inherited first."""
    world = World()
    for step in history:
        world.play(step)
    points = looks(world)
    for one, row, seq in points:
        for other, other_row, other_seq in points:
            base = find_common_ancestor(row.lineage(seq), other_row.lineage(other_seq))
            both = zip(one.written[: one.marks[seq]], other.written[: other.marks[other_seq]], strict=False)
            shared = list(takewhile(lambda pair: pair[0] == pair[1], both))
            shown = Fact.objects.in_lineage(base).values_list("uid", "fact_text")
            latest = {uid: text for (uid, text), _ in shared}
            assert dict(shown) == {uid: text for uid, text in latest.items() if text is not None}


def test_links_and_single_changes(scene: dict[str, Fact], actor: Actor) -> None:
    (link,) = BRANCHES.compare_branch(name="task/a", actor=actor, kind="link").page.results
    assert (link.change, link.after.to_id, link.commit.kind) == ("added", scene["three"].uid, "link.write")
    some = BRANCHES.compare_branch(name="task/a", actor=actor, change=["removed", "added"]).page.results
    assert [d.change for d in some] == ["added", "removed"]


def test_main_against_its_past(scene: dict[str, Fact], actor: Actor) -> None:
    assert BRANCHES.compare_branch(name="main", actor=actor).counts["fact"] == {
        "added": 3,
        "changed": 0,
        "removed": 0,
    }
    diff = BRANCHES.compare_branch(name="main", actor=actor, against_at=1)
    assert [(d.uid, list(d.fields)) for d in diff.page.results] == [(scene["three"].uid, ["category"])]


def test_all_that_main_holds_comes_page_by_page(actor: Actor) -> None:
    FACTS.write_facts(facts=[{"fact_text": f"fact {n}"} for n in range(5)], actor=actor)
    first = BRANCHES.compare_branch(name="main", actor=actor, limit=2)
    second = BRANCHES.compare_branch(name="main", actor=actor, limit=2, cursor=first.page.next)
    texts = [one.after.fact_text for one in (*first.page, *second.page)]
    assert texts == ["fact 4", "fact 3", "fact 2", "fact 1"]
    back = BRANCHES.compare_branch(name="main", actor=actor, limit=2, cursor=second.page.previous).page
    assert ([one.after.fact_text for one in back], back.previous) == (["fact 4", "fact 3"], None)
    assert not BRANCHES.compare_branch(name="main", actor=actor, change=["removed"]).page.results


def test_what_is_the_same_again_is_no_difference(actor: Actor) -> None:
    fact = FACTS.write_fact(fact_text="one", actor=actor).fact
    BRANCHES.create_branch(name="task/a", actor=actor)
    on = {"fact_id": fact.uid, "actor": actor, "branch_name": "task/a"}
    FACTS.archive_fact(**on)
    FACTS.restore_fact(**on)
    diff = BRANCHES.compare_branch(name="task/a", actor=actor)
    assert (diff.counts["fact"], diff.page.results) == ({"added": 0, "changed": 0, "removed": 0}, [])


def test_pages_keep_the_points_of_the_first(actor: Actor) -> None:
    BRANCHES.create_branch(name="task/a", actor=actor)
    on = {"actor": actor, "branch_name": "task/a"}
    for number in range(5):
        FACTS.write_fact(fact_text=f"fact {number}", **on)
    first = BRANCHES.compare_branch(name="task/a", actor=actor, limit=2)
    FACTS.write_fact(fact_text="later", **on)
    second = BRANCHES.compare_branch(name="task/a", actor=actor, limit=2, cursor=first.page.next)
    texts = [d.after.fact_text for d in (*first.page.results, *second.page.results)]
    assert texts == ["fact 4", "fact 3", "fact 2", "fact 1"]
    assert (second.seq, second.counts) == (5, None)
    for other in ({"kind": "link"}, {"change": ["added"]}, {"against": "main"}, {"base": "point"}, {"at": 1}):
        with pytest.raises(Invalid, match="This cursor is of another list"):
            BRANCHES.compare_branch(name="task/a", actor=actor, cursor=first.page.next, **other)
    back = BRANCHES.compare_branch(name="task/a", actor=actor, limit=2, cursor=second.page.previous).page
    assert ([d.after.fact_text for d in back.results], back.previous) == (["fact 4", "fact 3"], None)


def test_refusals(actor: Actor, other_project: Project) -> None:
    FactEngine().write_fact(fact_text="before the fork", actor=actor)
    BRANCHES.create_branch(name="task/a", actor=actor)
    Branch.objects.create(
        project=other_project, name="theirs", head_at="2026-01-01T00:00Z", created_at="2026-01-01T00:00Z"
    )
    bound = replace(actor, branch_patterns=("task/*",))
    assert BRANCHES.compare_branch(name="task/a", actor=bound).against.name == "main"
    for who, name, against, error in (
        (actor, "gone", "", BranchNotFound),
        (actor, "task/a", "theirs", BranchNotFound),
        (bound, "main", "", BranchForbidden),
        (bound, "task/a", "main", BranchForbidden),
    ):
        with pytest.raises(error):
            BRANCHES.compare_branch(name=name, actor=who, against=against)
    with pytest.raises(BranchForbidden):
        BRANCHES.compare_branch(name="task/a", actor=bound, against_at=0)
    for wrong in ({"kind": "x"}, {"change": ["x"]}, {"limit": 0}, {"base": "x"}, {"at": 9}, {"cursor": "x"}):
        with pytest.raises(Invalid):
            BRANCHES.compare_branch(name="task/a", actor=actor, **wrong)
    early = datetime(2020, 1, 1, tzinfo=UTC)
    with pytest.raises(Invalid, match="task/a was not there yet: it was forked from main later"):
        BRANCHES.compare_branch(name="task/a", actor=actor, at=early)


def test_what_a_forbidden_parent_held_at_a_merge_stays_its_own(actor: Actor) -> None:
    fact = FACTS.write_fact(fact_text="before the fork", actor=actor).fact
    BRANCHES.create_branch(name="task/a", actor=actor)
    for branch, text in (("main", "said on main"), ("task/a", "said here")):
        FACTS.update_fact(fact_id=fact.uid, updates={"fact_text": text}, branch_name=branch, actor=actor)
    MergeEngine().merge_branch(source="main", target="task/a", strategy="ours", actor=actor)
    bound = replace(actor, branch_patterns=("task/*",))
    for who, before in ((actor, "said on main"), (bound, "before the fork")):
        found = BRANCHES.compare_branch(name="task/a", actor=who)
        assert [one.fields["fact_text"] for one in found.page] == [[before, "said here"]]
    assert (found.base, found.since_merge) == ("point", False)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["added", "changed", "written anew", "judged", "removed"])
def test_the_number_of_queries_does_not_grow(what: str, actor: Actor) -> None:
    written = FACTS.write_facts(facts=[{"fact_text": f"fact {n}"} for n in range(60)], actor=actor)
    ids = [row.fact.uid for row in written.results]
    BRANCHES.create_branch(name="task/a", actor=actor)
    on = {"actor": actor, "branch_name": "task/a"}
    asked = []
    for some in (ids[:5], ids[5:]):
        for uid in some:
            changed(what, uid, on)
        with CaptureQueriesContext(connection) as queries:
            BRANCHES.compare_branch(name="task/a", actor=actor, limit=5)
        asked.append(len(queries))
    assert asked[0] == asked[1]


def changed(what: str, uid: UUID, on: dict[str, Any]) -> None:
    if what == "added":
        FACTS.write_fact(fact_text=f"beside {uid}", **on)
    elif what == "changed":
        FACTS.update_fact(fact_id=uid, updates={"tags": ["x"]}, **on)
    elif what == "written anew":
        FACTS.archive_fact(fact_id=uid, **on)
        FACTS.restore_fact(fact_id=uid, **on)
    elif what == "judged":
        FACTS.set_verification(fact_id=uid, verdict="verified", reason="read", **on)
    else:
        FACTS.delete_fact(fact_id=uid, **on)


# ---- stats -------------------------------------------------------------------------------------------


def test_stats_count_what_the_branch_shows(scene: dict[str, Fact], actor: Actor) -> None:
    FACTS.archive_fact(fact_id=scene["four"].uid, actor=actor, branch_name="task/a")
    FACTS.write_fact(
        fact_text="five", actor=actor, branch_name="task/a", session_id="s1", agent_id="a1", propose=True
    )
    BRANCHES.create_branch(name="task/a/b", parent="task/a", actor=actor)
    stats = BRANCHES.load_stats(name="task/a", actor=actor)
    assert stats.facts == {"created": 1, "active": 2, "done": 0, "superseded": 0, "archived": 1}
    assert stats.verification == {"unverified": 3, "plausible": 0, "verified": 1, "invalidated": 0}
    assert (stats.links, stats.ahead, stats.behind, stats.children) == (1, 7, 1, 1)
    assert (stats.sessions, stats.agents) == (1, 1)
    # A verdict on an earlier text does not count.
    FACTS.update_fact(fact_id=scene["one"].uid, updates={"category": "y"}, actor=actor, branch_name="task/a")
    assert BRANCHES.load_stats(name="task/a", actor=actor).verification["verified"] == 0


# ---- over REST and the command line ------------------------------------------------------------------
