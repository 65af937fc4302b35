"""Merges: what is applied, what conflicts, what is decided, and what comes back."""

from datetime import timedelta
from itertools import permutations

import pytest
from django.utils import timezone

from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.branches.topology import BranchTopologyEngine
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.bulk_actions import ActionEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision
from memory.engines.merging.plan_views import FrozenItems
from memory.engines.store.snapshots import SnapshotManager
from memory.exceptions import BranchArchived, BranchNotFound, Conflict, Invalid, ScopeMissing
from memory.models import Branch, Commit, Confirmation, Fact, FactLink, Relation
from tests.memory.fake_provider import FakeProvider, beside

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("without_gates")]
FACTS, MERGES, BRANCHES = FactEngine(), MergeEngine(), BranchManager()


@pytest.fixture
def write(actor):
    def write(text, branch="main", **more):
        return FACTS.write_fact(fact_text=text, actor=actor, branch_name=branch, **more).fact

    return write


@pytest.fixture
def edit(actor):
    def edit(fact, branch="main", **updates):
        return FACTS.update_fact(fact_id=fact.uid, updates=updates, actor=actor, branch_name=branch)

    return edit


@pytest.fixture
def delete(actor):
    def delete(fact, branch="main"):
        return FACTS.delete_fact(fact_id=fact.uid, actor=actor, branch_name=branch)

    return delete


@pytest.fixture
def fork(actor, main):
    def fork(name="task/x", parent="main"):
        return BRANCHES.create_branch(name=name, parent=parent, actor=actor)

    return fork


@pytest.fixture
def merge(actor):
    def merge(source="task/x", target="main", **more):
        return MERGES.merge_branch(source=source, target=target, actor=actor, **more)

    return merge


@pytest.fixture
def plan(actor):
    def plan(source="task/x", target="main", **more):
        return MERGES.preview_merge(source=source, target=target, actor=actor, **more).plan

    return plan


def texts(project, branch="main"):
    rows = Fact.objects.on(Branch.objects.get(project=project, name=branch)).fetch_all()
    return sorted(row.fact_text for row in rows)


def only(plan, outcome="conflict"):
    (item,) = [item for item in plan.page.results if item.outcome == outcome]
    return item


def merge_around(merge, circle):
    """Merge three branches into each other until none has anything left to take."""
    x, y, z = circle
    for source, target in ((x, y), (y, z), (z, x), (y, x), (z, y), (x, z), (x, y), (y, x), (z, y), (z, x)):
        merge(source, target)
    left = [merge(source, target).commit for source, target in permutations(circle, 2)]
    left = [merge(source, target).commit for source, target in permutations(circle, 2)] if any(left) else left
    assert left == [None] * 6


class TestApplied:
    def test_added_changed_and_removed(self, project, write, edit, delete, fork, merge, plan):
        _kept, changed, removed = write("kept"), write("old text"), write("gone")
        fork()
        write("added", "task/x")
        edit(changed, "task/x", fact_text="new text")
        delete(removed, "task/x")
        assert plan().counts == {"fact": {"applied": 3}}
        result = merge()
        assert texts(project) == ["added", "kept", "new text"]
        assert (result.counts, result.open_conflicts) == ({"fact": {"applied": 3}}, 0)
        assert (result.commit.kind, result.commit.source_branch.name) == ("branch.merge", "task/x")
        assert (result.commit.added, result.commit.changed, result.commit.removed) == (1, 1, 1)

    def test_again_changes_nothing(self, project, write, fork, merge, plan):
        fork()
        write("added", "task/x")
        merge()
        assert plan().counts == {}
        assert merge().commit is None
        assert merge("main", "task/x").commit is None

    def test_an_expired_fact_of_the_same_text_is_none(self, project, write, fork, merge):
        """As for writes: the text was learned anew, and must not end with the old one."""
        fork()
        expired, fresh = write("text"), write("text", "task/x")
        Fact._base_manager.filter(uid=expired.uid).update(expires_at=timezone.now() - timedelta(days=1))
        assert merge().counts == {"fact": {"applied": 1}}
        main = Branch.objects.get(project=project, name="main")
        assert {row.uid for row in Fact.objects.on(main).fetch_all()} == {expired.uid, fresh.uid}

    def test_provenance_stays(self, project, write, fork, merge):
        fork()
        there = write("added", "task/x", session_id="s1", agent_id="a1")
        merge()
        main = Branch.objects.get(project=project, name="main")
        (here,) = Fact.objects.on(main).fetch_all()
        assert (here.uid, here.vid, here.session_id, here.created_at) == (
            there.uid,
            there.vid,
            "s1",
            there.created_at,
        )

    def test_different_fields_are_combined(self, project, write, edit, fork, merge):
        fact = write("text", tags=["a"], confidence=0.5)
        fork()
        edit(fact, tags=["a", "b"], confidence=0.6)
        edit(fact, "task/x", tags=["c"], confidence=0.9, category="bug_fix")
        merge()
        (row,) = Fact.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        assert (row.tags, row.confidence, row.category) == (["b", "c"], 0.9, "bug_fix")

    def test_a_change_after_a_merge_is_merged_again(self, project, write, edit, fork, merge):
        fact = write("one")
        fork()
        edit(fact, "task/x", fact_text="two")
        merge()
        edit(fact, "task/x", fact_text="three")
        merge()
        assert texts(project) == ["three"]


class TestConflicts:
    @pytest.fixture
    def both(self, write, edit, fork):
        fact = write("base")
        fork()
        edit(fact, fact_text="ours")
        edit(fact, "task/x", fact_text="theirs")
        return fact

    def test_is_held(self, project, both, merge, plan):
        item = only(plan())
        assert (item.reason, item.fields["fact_text"]) == ("edited", ["base", "ours", "theirs", "ours"])
        result = merge()
        assert (result.commit, result.open_conflicts, texts(project)) == (None, 1, ["ours"])

    @pytest.mark.parametrize(
        ("choice", "text", "left"),
        [
            ("source", "", ["theirs"]),
            ("target", "", ["ours"]),
            ("both", "", ["ours", "theirs"]),
            ("edited", "neither", ["neither"]),
        ],
    )
    def test_is_settled_once_for_all(self, project, both, merge, plan, choice, text, left):
        decision = Decision(both.uid, choice, only(plan()).token, text)
        assert merge(decisions=[decision]).open_conflicts == 0
        assert texts(project) == left
        assert (plan().counts, merge().commit) == ({}, None)
        merge("main", "task/x")
        assert texts(project, "task/x") == left

    def test_skipped_comes_back(self, project, both, merge, plan):
        result = merge(decisions=[Decision(both.uid, "skip", only(plan()).token)])
        assert (result.commit, result.open_conflicts) == (None, 1)
        assert only(plan()).reason == "edited"

    def test_what_is_kept_beside_keeps_its_verdict(self, project, actor, both, merge):
        verify = ActionEngine().apply_action
        verify(action="verify", fact_ids=[both.uid], actor=actor, branch_name="task/x")
        merge(decisions=[Decision(both.uid, "both")])
        found = FACTS.list_facts(actor=actor).results
        assert {fact.fact_text: fact.verification_status for fact in found} == {
            "ours": "unverified",
            "theirs": "verified",
        }

    def test_a_decision_goes_before_the_strategy(self, project, both, merge):
        merge(strategy="ours", decisions=[Decision(both.uid, "source")])
        assert texts(project) == ["theirs"]

    @pytest.mark.parametrize(("strategy", "left"), [("ours", ["ours"]), ("theirs", ["theirs"])])
    def test_of_a_strategy(self, project, both, merge, strategy, left):
        assert merge(strategy=strategy).open_conflicts == 0
        assert texts(project) == left

    def test_changed_since_it_was_decided(self, both, merge, plan, edit):
        token = only(plan()).token
        edit(both, "task/x", fact_text="theirs again")
        with pytest.raises(Conflict) as refused:
            merge(decisions=[Decision(both.uid, "source", token)])
        present = only(plan())
        assert refused.value.data["ids"] == [str(both.uid)]
        assert [one["token"] for one in refused.value.data["conflicts"]] == [present.token]
        assert present.token != token

    @pytest.mark.parametrize("side", ["main", "task/x"])
    def test_an_edit_against_a_removal(self, project, write, edit, delete, fork, plan, merge, side):
        fact = write("base")
        fork()
        other = "task/x" if side == "main" else "main"
        delete(fact, side)
        edit(fact, other, fact_text="edited")
        item = only(plan())
        assert item.reason == "deleted"
        merge(decisions=[Decision(fact.uid, "source", item.token)])
        assert texts(project) == (["edited"] if side == "main" else [])
        assert merge().commit is None

    def test_the_same_change_on_both_sides(self, project, write, edit, fork, plan, merge):
        fact = write("base")
        fork()
        edit(fact, fact_text="same")
        edit(fact, "task/x", fact_text="same")
        assert plan().counts == {"fact": {"identical": 1}}
        assert merge().commit is not None
        assert merge().commit is None
        edit(fact, "task/x", fact_text="later")
        merge()
        assert texts(project) == ["later"]


class TestOneFieldInConflict:
    """A decision settles its conflict; what the plan shows as merged is merged."""

    @pytest.fixture
    def both(self, write, edit, fork):
        fact = write("base", category="pattern", metadata={"k": 0})
        fork()
        edit(fact, fact_text="ours", priority="P1", metadata={"k": 1, "ours": 1})
        edit(
            fact,
            "task/x",
            fact_text="theirs",
            category="decision",
            tags=["t"],
            metadata={"k": 2, "theirs": 1},
        )
        return fact

    def shown(self, project):
        rows = Fact.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        return {row.fact_text: (row.category, row.tags, row.priority, row.metadata) for row in rows}

    def test_is_named_beside_what_is_merged(self, both, plan):
        item = only(plan())
        assert item.conflicting == ("fact_text", "essence", "metadata.k")
        assert item.fields["category"] == ["pattern", "pattern", "decision", "decision"]
        assert item.fields["priority"][3] == "P1"
        assert item.fields["metadata"][3] == {"k": 1, "ours": 1, "theirs": 1}

    @pytest.mark.parametrize(
        ("options", "text", "key"),
        [
            ({"choice": "target"}, "ours", 1),
            ({"choice": "source"}, "theirs", 2),
            ({"choice": "edited", "text": "neither"}, "neither", 1),
            ({"choice": "both"}, "ours", 1),
            ({"strategy": "ours"}, "ours", 1),
            ({"strategy": "theirs"}, "theirs", 2),
            ({"choice": "target", "strategy": "cherry_pick"}, "ours", 1),
            ({"choice": "target", "strategy": "squash"}, "ours", 1),
        ],
    )
    def test_is_all_that_a_decision_settles(self, project, both, merge, plan, options, text, key):
        named = {"ids": [both.uid]} if options.get("strategy") == "cherry_pick" else {}
        choice = options.get("choice")
        decisions = (
            [Decision(both.uid, choice, only(plan()).token, options.get("text", ""))] if choice else []
        )
        merge(strategy=options.get("strategy", "auto"), decisions=decisions, **named)
        shown = self.shown(project)
        merged = {"k": key, "ours": 1, "theirs": 1}
        assert shown[text] == ("decision", ["t"], "P1", merged)
        assert len(shown) == (2 if choice == "both" else 1)
        assert merge().commit is None

    def test_waits_with_the_others(self, project, both, merge):
        assert merge().commit is None
        assert self.shown(project) == {"ours": ("pattern", [], "P1", {"k": 1, "ours": 1})}


class TestDeletions:
    def test_on_both_branches_are_no_conflict(self, project, actor, write, edit, delete, fork, merge, plan):
        """Whatever each had changed, judged or linked before."""
        fact, other = write("text"), write("other")
        fork()
        edit(fact, "task/x", category="decision")
        ActionEngine().apply_action(action="verify", fact_ids=[fact.uid], actor=actor)
        ends = {"from_id": other.uid, "to_id": fact.uid, "link_type": "DEPENDS_ON"}
        LinkEngine().write_link(**ends, actor=actor)
        delete(fact)
        delete(fact, "task/x")
        assert (merge().open_conflicts, merge("main", "task/x").open_conflicts) == (0, 0)
        assert texts(project) == texts(project, "task/x") == ["other"]
        assert (plan().counts, merge().commit) == ({}, None)

    def test_over_another_one_are_no_conflict(self, project, actor, write, delete, fork, merge, plan):
        """The branch took the target's deletion, brought the fact back, and deleted it once more."""
        fact = write("text", session_id="s1")
        fork()
        write("text", session_id="s2")
        delete(fact)
        merge("main", "task/x")
        taken = Commit.objects.filter(branch__name="task/x").latest("seq")
        RevertEngine().revert_commit(commit_id=taken.pk, actor=actor)
        merge("main", "task/x", strategy="ours")
        delete(fact, "task/x")
        assert (merge().open_conflicts, texts(project)) == (0, [])

    def test_go_on_where_both_had_agreed(self, project, write, edit, delete, fork, merge):
        """Each merged a fork of the other: neither knows the other's merge."""
        fact = write("text")
        fork()
        edit(fact, category="decision")
        edit(fact, "task/x", tags=["t"])
        fork("main2"), fork("x2", "task/x")
        merge("x2", "main"), merge("main2", "task/x")
        delete(fact, "task/x")
        assert (merge().counts, texts(project)) == ({"fact": {"applied": 1}}, [])


class TestEqualTexts:
    def test_become_one_fact(self, project, actor, write, fork, plan, merge):
        fork()
        here = write("The port is 8080.", session_id="s1", tags=["a"])
        there = write("The port is 8080.", "task/x", session_id="s2", tags=["b"])
        ActionEngine().apply_action(action="verify", fact_ids=[there.uid], actor=actor, branch_name="task/x")
        LinkEngine().write_link(
            from_id=there.uid,
            to_id=write("Other.", "task/x").uid,
            link_type="DEPENDS_ON",
            actor=actor,
            branch_name="task/x",
        )
        assert plan().counts["fact"] == {"identical": 1, "applied": 1}
        merge()
        fact = FACTS.get_fact(fact_id=here.uid, actor=actor)
        assert texts(project) == ["Other.", "The port is 8080."]
        assert (fact.tags, fact.confirmation_count, fact.verification_status) == (["a", "b"], 1, "verified")
        (link,) = LinkEngine().list_links(fact_id=here.uid, actor=actor).results
        assert link.from_id == here.uid
        assert merge().commit is None
        merge("main", "task/x")
        assert texts(project, "task/x") == ["Other.", "The port is 8080."]
        assert (merge().commit, merge("main", "task/x").commit) == (None, None)

    def test_what_the_target_judged_to_be_wrong_stays_wrong(self, project, actor, write, fork, plan, merge):
        """Of one text invalidated goes before verified: what arrives does not make it right again."""
        fork()
        here, there = write("The port is 8080."), write("The port is 8080.", "task/x", session_id="s2")
        for fact, branch, action in ((here, "main", "invalidate"), (there, "task/x", "verify")):
            ActionEngine().apply_action(
                action=action, fact_ids=[fact.uid], reason="Seen.", actor=actor, branch_name=branch
            )
        absorbed = only(plan(kind="fact"), "identical")
        assert (absorbed.uid, absorbed.other.uid) == (there.uid, here.uid)
        merge()
        fact = FACTS.get_fact(fact_id=here.uid, actor=actor)
        assert (texts(project), fact.verification_status) == (["The port is 8080."], "invalidated")
        assert merge().commit is None

    def test_stay_when_three_branches_merge_in_a_circle(self, project, write, fork, merge):
        circle = [fork(name).name for name in ("task/x", "task/y", "task/z")]
        for name in circle:
            write("The port is 8080.", name)
        merge_around(merge, circle)
        assert [texts(project, name) for name in circle] == [["The port is 8080."]] * 3

    def test_edges_stay_too(self, actor, write, fork, merge):
        ends = {"from_id": write("One.").uid, "to_id": write("Two.").uid}
        circle = [fork(name).name for name in ("task/x", "task/y", "task/z")]
        for name in circle:
            LinkEngine().write_link(**ends, link_type="DEPENDS_ON", actor=actor, branch_name=name)
        merge_around(merge, circle)
        for name in circle:
            found = LinkEngine().list_links(fact_id=ends["from_id"], actor=actor, branch_name=name)
            assert len(found.results) == 1

    def test_what_is_archived_is_no_copy(self, project, edit, write, fork, merge, plan):
        """Of what the source closed beside a fact that the target has archived, the target keeps its own."""
        fork("task/x")
        there = write("The port is 8080.", "task/x", session_id="s1")
        kept = write("The port is 8080.")
        fork("task/y")
        merge("task/x")
        edit(kept, "task/y", status="archived")
        merge("task/y", "task/x")
        assert only(plan("main", "task/x"), "identical").uid == there.uid
        merge("main", "task/x")
        rows = Fact.objects.on(Branch.objects.get(project=project, name="task/x")).fetch_all()
        assert {row.uid: row.status for row in rows} == {there.uid: "active", kept.uid: "archived"}
        assert merge("main", "task/x").commit is None

    def test_a_removal_of_what_stayed_still_counts(self, project, write, delete, fork, merge):
        fork()
        here, there = write("The port is 8080."), write("The port is 8080.", "task/x")
        merge()
        merge("main", "task/x")
        delete(here)
        merge("main", "task/x")
        assert (here.uid != there.uid, texts(project, "task/x")) == (True, [])


class TestReverts:
    def test_a_merge_is_taken_back_and_asked_about_once(self, project, actor, write, edit, fork, plan, merge):
        fact = write("base")
        fork()
        edit(fact, "task/x", fact_text="theirs")
        added = write("added", "task/x")
        done = merge()
        reverted = RevertEngine().revert_commit(commit_id=done.commit.pk, actor=actor)
        assert (texts(project), reverted.reverts) == (["base"], done.commit.pk)
        items = plan().page.results
        assert [(item.outcome, item.reason) for item in items] == [("conflict", "reverted")] * 2
        assert merge("main", "task/x").commit is None
        assert texts(project, "task/x") == ["added", "theirs"]
        merge(decisions=[Decision(fact.uid, "target"), Decision(added.uid, "source")])
        assert texts(project) == ["added", "base"]
        assert merge().commit is None

    def test_taken_back_again_it_is_asked_about_again(self, project, actor, write, edit, fork, plan, merge):
        fact = write("base")
        fork()
        edit(fact, "task/x", fact_text="theirs")
        write("added", "task/x")
        commit = merge().commit
        for shown in (["base"], ["added", "theirs"], ["base"]):
            commit = RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
            assert texts(project) == shown
        items = plan().page.results
        assert [(item.outcome, item.reason) for item in items] == [("conflict", "reverted")] * 2
        assert (merge().commit, merge("main", "task/x").commit) == (None, None)
        merge(strategy="theirs")
        assert texts(project) == ["added", "theirs"]
        assert merge().commit is None

    def test_brought_back_it_is_no_question(self, project, actor, write, edit, delete, fork, plan, merge):
        fact, removed = write("base"), write("removed")
        fork()
        edit(fact, "task/x", fact_text="theirs")
        delete(removed, "task/x")
        write("added", "task/x")
        commit = merge().commit
        for _ in range(2):
            commit = RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
            assert texts(project) == ["base", "removed"]
            assert {item.reason for item in plan().page.results} == {"reverted"}
            commit = RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
            assert texts(project) == ["added", "theirs"]
            assert (plan().counts, merge().commit) == ({}, None)
        edit(fact, "task/x", fact_text="later")
        assert plan().counts == {"fact": {"applied": 1}}
        merge()
        assert texts(project) == ["added", "later"]
        merge("main", "task/x")
        assert texts(project, "task/x") == ["added", "later"]

    def test_it_is_asked_about_until_somebody_decides(self, project, actor, write, edit, fork, plan, merge):
        """Over later edits on both sides, in both directions, on branches that got a part by others."""
        fact = write("text", category="pattern", confidence=0.5)
        fork()
        edit(fact, "task/x", category="decision")
        fork("task/y", "task/x")
        RevertEngine().revert_commit(commit_id=merge().commit.pk, actor=actor)
        fork("task/z")
        edit(fact, confidence=0.9)
        edit(fact, "task/x", tags=["t"])
        pairs = (("task/x", "main"), ("main", "task/x"), ("task/y", "main"), ("task/x", "task/z"))
        for source, target in (*pairs, ("task/z", "task/y")):
            item = only(plan(source, target))
            assert (item.reason, item.conflicting) == ("reverted", ("category",))
            assert merge(source, target).commit is None
        item = only(plan())
        assert (item.merged["confidence"], item.merged["tags"]) == (0.9, ["t"])
        merge(decisions=[Decision(fact.uid, "target", item.token)])
        (row,) = Fact.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        assert (row.category, row.confidence, row.tags) == ("pattern", 0.9, ["t"])
        for source, target in (*pairs, ("main", "task/z"), ("task/z", "task/y")):
            assert merge(source, target).open_conflicts == 0
        for branch in ("main", "task/x", "task/y", "task/z"):
            (row,) = Fact.objects.on(Branch.objects.get(project=project, name=branch)).fetch_all()
            assert row.category == "pattern", branch

    def test_what_both_kept_returns_after_a_revert(self, project, actor, write, edit, fork, plan, merge):
        fact = write("base")
        fork()
        edit(fact, fact_text="ours")
        edit(fact, "task/x", fact_text="theirs")
        for _ in range(2):
            done = merge(decisions=[Decision(fact.uid, "both")])
            assert texts(project) == ["ours", "theirs"]
            assert merge().commit is None
            RevertEngine().revert_commit(commit_id=done.commit.pk, actor=actor)
            assert texts(project) == ["ours"]

    @pytest.mark.parametrize(("choice", "count"), [("source", 1), ("target", 0)])
    def test_confirmations_alone_are_asked_about_once(
        self, project, actor, write, fork, plan, merge, choice, count
    ):
        fact = write("text", session_id="s1")
        fork()
        write("text", "task/x", session_id="s2")
        for _ in range(2):
            commit = merge(decisions=[Decision(fact.uid, choice)] if plan().page.results else ()).commit
            counted = FACTS.get_fact(fact_id=fact.uid, actor=actor).confirmation_count
            assert (merge().commit, plan().counts) == (None, {})
            RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)
            assert FACTS.get_fact(fact_id=fact.uid, actor=actor).confirmation_count == 0
            assert (only(plan()).reason, only(plan()).fields) == ("reverted", {})
            assert merge().commit is None
        assert counted == count

    def test_a_change_of_a_fact_waits_with_its_confirmations(
        self, project, actor, write, edit, fork, plan, merge
    ):
        fact = write("text", session_id="s1")
        fork()
        write("text", "task/x", session_id="s2")
        RevertEngine().revert_commit(commit_id=merge().commit.pk, actor=actor)
        edit(fact, "task/x", category="bug_fix")
        assert list(only(plan()).fields) == ["category"]
        merge(decisions=[Decision(fact.uid, "target")])
        shown = FACTS.get_fact(fact_id=fact.uid, actor=actor)
        assert (shown.confirmation_count, shown.category) == (0, "bug_fix")
        assert plan().counts == {}


class TestOtherKinds:
    def test_relations_of_one_triple_add_up(self, project, actor, fork, plan, merge):
        relate = RelationEngine().write_relation
        edge = {"source_entity": "A", "relation_type": "uses", "target_entity": "B", "actor": actor}
        fork()
        relate(**edge, properties={"x": 1})
        relate(**edge, properties={"y": 2}, branch_name="task/x")
        relate(**edge, branch_name="task/x")
        assert plan().counts == {"relation": {"applied": 1}}
        merge()
        (row,) = Relation.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        assert (row.strength, row.properties) == (3, {"x": 1, "y": 2})
        assert merge().commit is None

    def test_an_invalidation_prevails(self, project, actor, write, fork, merge):
        fact = write("text")
        fork()
        act = ActionEngine().apply_action
        act(action="verify", fact_ids=[fact.uid], actor=actor)
        act(action="invalidate", fact_ids=[fact.uid], actor=actor, branch_name="task/x", reason="Wrong.")
        merge()
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).verification_status == "invalidated"
        assert merge().commit is None

    def test_a_judged_fact_is_not_removed_unasked(self, project, actor, write, delete, fork, plan):
        fact = write("text")
        fork()
        ActionEngine().apply_action(action="verify", fact_ids=[fact.uid], actor=actor)
        delete(fact, "task/x")
        assert only(plan()).reason == "deleted"

    def test_a_link_to_what_the_target_removed_holds_up_nothing(
        self, project, actor, write, delete, fork, plan, merge
    ):
        gone, kept = write("gone"), write("kept")
        fork()
        LinkEngine().write_link(
            from_id=kept.uid, to_id=gone.uid, link_type="DEPENDS_ON", actor=actor, branch_name="task/x"
        )
        write("added", "task/x")
        delete(gone)
        removal = Commit.objects.filter(branch__name="main").latest("seq")
        done = merge()
        assert (done.counts, done.open_conflicts) == ({"fact": {"applied": 1}, "link": {"rejected": 1}}, 0)
        assert only(plan(), "rejected").reason == "owner_removed"
        (task,) = [one for one in BRANCHES.list_branches(actor=actor).results if one.name == "task/x"]
        assert (task.ahead, done.commit.source_seq) == (0, task.head)
        RevertEngine().revert_commit(commit_id=removal.pk, actor=actor)
        assert plan().counts == {"link": {"applied": 1}}
        merge()
        assert plan().counts == {}

    def test_a_decision_on_a_link_holds_where_its_fact_was_removed(
        self, project, actor, write, delete, fork, plan, merge
    ):
        gone, kept = write("gone"), write("kept")
        fork()
        on = {"actor": actor, "branch_name": "task/x"}
        link = LinkEngine().write_link(from_id=kept.uid, to_id=gone.uid, link_type="DEPENDS_ON", **on)
        RevertEngine().revert_commit(commit_id=merge().commit.pk, actor=actor)
        delete(gone, "task/x")
        assert only(plan("main", "task/x")).reason == "reverted"
        merge("main", "task/x", decisions=[Decision(link.uid, "target", kind="link")])
        assert plan("main", "task/x").counts == {}

    def test_a_confirmed_fact_is_not_removed_unasked(self, project, actor, write, delete, fork, plan, merge):
        fact = write("text", session_id="s1")
        fork()
        write("text", session_id="s2")
        delete(fact, "task/x")
        item = only(plan())
        assert item.reason == "deleted"
        merge(decisions=[Decision(fact.uid, "target", item.token)])
        assert (texts(project), merge().commit) == (["text"], None)


class TestStrategies:
    def test_a_pick_takes_what_belongs_to_it(self, project, actor, write, fork, plan, merge):
        fork()
        one, _two = write("one", "task/x"), write("two", "task/x")
        ActionEngine().apply_action(action="verify", fact_ids=[one.uid], actor=actor, branch_name="task/x")
        found = plan(strategy="cherry_pick", ids=[one.uid])
        assert found.counts == {"fact": {"applied": 1, "rejected": 1}, "verdict": {"applied": 1}}
        merge(strategy="cherry_pick", ids=[one.uid])
        assert texts(project) == ["one"]
        merge()
        assert texts(project) == ["one", "two"]

    def test_a_squash_lifts_nothing(self, project, actor, write, fork, merge):
        """What is private, invalidated, over or of a repository does not become a part of what is not."""
        fork()
        past, soon = timezone.now() - timedelta(days=1), timezone.now() + timedelta(days=9)
        for text in ("open 1", "open 2"):
            write(text, "task/x")
        for text in ("secret 1", "secret 2"):
            write(text, "task/x", visibility="private")
        for text in ("shop 1", "shop 2"):
            write(text, "task/x", repository="github.com/acme/shop")
        write("over", "task/x", valid_until=past)
        write("soon over", "task/x", valid_until=soon)
        wrong = write("wrong", "task/x")
        ActionEngine().apply_action(
            action="invalidate", fact_ids=[wrong.uid], reason="No.", actor=actor, branch_name="task/x"
        )
        merge(strategy="squash")
        rows = Fact.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        found = {row.fact_text: (row.visibility, row.repository) for row in rows if row.status == "active"}
        shared = found["over"][0]
        assert found == {
            "- open 1\n- open 2": (shared, ""),
            "- secret 1\n- secret 2": ("private", ""),
            "- shop 1\n- shop 2": (shared, "github.com/acme/shop"),
            "over": (shared, ""),
            "soon over": (shared, ""),
            "wrong": (shared, ""),
        }
        shown = FACTS.get_fact(fact_id=wrong.uid, actor=actor)
        assert shown.verification_status == "invalidated"

    def test_a_squash_is_one_fact_with_its_sources(self, project, actor, write, fork, merge):
        fork()
        write("one", "task/x", confidence=0.4)
        write("two", "task/x")
        merge(strategy="squash")
        rows = Fact.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        (fact,) = [row for row in rows if row.status == "active"]
        assert (fact.fact_text, fact.confidence) == ("- one\n- two", 0.4)
        links = FactLink.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        assert {link.to_id for link in links} == {row.uid for row in rows} - {fact.uid}
        assert merge().commit is None

    def test_a_fast_forward_needs_a_target_that_stood_still(self, project, write, fork, merge):
        fork()
        write("one", "task/x")
        merge(strategy="fast_forward")
        write("two", "task/x")
        merge(strategy="fast_forward")
        assert texts(project) == ["one", "two"]
        write("three")
        with pytest.raises(Conflict, match="main has 1 commits of its own"):
            merge(strategy="fast_forward")


class TestHalves:
    @pytest.fixture
    def halves(self, actor, write, fork):
        """Replace a fact on a branch; return the ids of the old one and of the new one."""
        old = write("The port is 8080.")
        fork()
        new = FACTS.supersede_fact(
            old_fact_id=old.uid, new_fact_text="The door is 443.", branch_name="task/x", actor=actor
        )
        return old.uid, new.uid

    def test_each_half_names_the_other(self, plan, halves):
        essences = {halves[0]: "The port is 8080.", halves[1]: "The door is 443."}
        for taken, left in (halves, halves[::-1]):
            items = {one.uid: one for one in plan(strategy="cherry_pick", ids=[taken]).page.results}
            assert items[taken].left_half == (left, essences[left])
            assert items[left].left_half is None

    def test_a_whole_one_has_none_left(self, plan, halves):
        for options in ({}, {"strategy": "cherry_pick", "ids": halves}):
            assert {one.left_half for one in plan(**options).page.results} == {None}


class TestRefusals:
    def test_of_branches(self, actor, fork, merge):
        fork()
        with pytest.raises(Conflict, match="into itself"):
            merge("main", "main")
        with pytest.raises(BranchNotFound):
            merge("nowhere")
        BRANCHES.archive_branch(name="task/x", actor=actor)
        with pytest.raises(BranchArchived):
            merge()
        with pytest.raises(BranchArchived):
            merge("main", "task/x")

    def test_of_strategies(self, fork, merge, write):
        fork()
        with pytest.raises(Invalid, match="Name the memories"):
            merge(strategy="cherry_pick")
        with pytest.raises(Invalid, match="strategy is one of"):
            merge(strategy="magic")
        with pytest.raises(Invalid, match="no change of"):
            merge(strategy="cherry_pick", ids=[write("here").uid])

    def test_of_rights(self, project, fork):
        from memory.actors import Actor

        fork()
        writer = Actor(project.pk, "key", "k", "k", frozenset({"write"}))
        with pytest.raises(ScopeMissing):
            MERGES.merge_branch(source="task/x", actor=writer)
        assert MERGES.preview_merge(source="task/x", actor=writer).plan.counts == {}


SAME_TEXTS = ("The cache is cleared every night.", "Every night the cache gets cleared.")
CONTRARY_TEXTS = ("The cache holds 30 minutes.", "The cache holds for 45 minutes.")


class TestSimilar:
    @pytest.fixture
    def pair(self, actor, settings, write, fork):
        """Return a function that writes two near texts, the first on main, and embeds both."""
        with FakeProvider() as provider:
            settings.DAY1 = provider.settings(batch=64)

            def pair(texts):
                provider.vectors[texts[1]] = beside(texts[0], 0.9)
                fork()
                both = write(texts[0]), write(texts[1], "task/x")
                EmbeddingEngine().embed_pending(actor.project_id)
                return both

            yield pair

    @pytest.mark.parametrize(
        ("texts_", "reason"), [(SAME_TEXTS, "near_duplicate"), (CONTRARY_TEXTS, "contested")]
    )
    def test_is_a_conflict(self, project, pair, plan, merge, texts_, reason):
        here, there = pair(texts_)
        item = only(plan())
        assert (item.uid, item.reason, item.other.uid, round(item.score, 1)) == (
            there.uid,
            reason,
            here.uid,
            0.9,
        )
        assert (merge().commit, texts(project)) == (None, [texts_[0]])

    def test_is_none_where_the_merge_brings_that_the_other_is_wrong(
        self, actor, pair, fork, write, plan, merge
    ):
        here, _there = pair(CONTRARY_TEXTS)
        fork("task/y")
        on = {"actor": actor, "branch_name": "task/y"}
        ActionEngine().apply_action(action="invalidate", fact_ids=[here.uid], **on)
        write(CONTRARY_TEXTS[1], "task/y")
        assert plan("task/y").counts == {"fact": {"applied": 1}, "verdict": {"applied": 1}}
        merge("task/y")
        assert merge("task/y").commit is None

    @pytest.mark.parametrize(
        ("choice", "active"),
        [
            ("source", CONTRARY_TEXTS[1:]),
            ("target", CONTRARY_TEXTS[:1]),
            ("both", CONTRARY_TEXTS),
            ("edited", ["New."]),
        ],
    )
    def test_is_settled_once_for_all(self, project, pair, plan, merge, choice, active):
        here, there = pair(CONTRARY_TEXTS)
        merge(
            decisions=[Decision(there.uid, choice, only(plan()).token, "New." if choice == "edited" else "")]
        )
        for branch in ("main", "task/x"):
            rows = Fact.objects.on(Branch.objects.get(project=project, name=branch)).fetch_all()
            assert sorted(row.fact_text for row in rows if row.status == "active") == sorted(active)
            merge("main", "task/x")
        assert (merge().commit, merge("main", "task/x").commit) == (None, None)
        links = FactLink.objects.on(Branch.objects.get(project=project, name="main")).fetch_all()
        expected = [("CONTESTED_BY", here.uid, there.uid)] if choice == "both" else []
        assert [(link.link_type, link.from_id, link.to_id) for link in links] == expected

    @pytest.mark.parametrize("choice", ["source", "edited"])
    def test_what_was_absorbed_beside_the_other_confirms_it_still(self, main, pair, write, merge, choice):
        """The merge that replaces or edits a fact has closed another one of its text beside it."""
        here, there = pair(CONTRARY_TEXTS)
        write(CONTRARY_TEXTS[0], "task/x", session_id="s1")
        done = merge(decisions=[Decision(there.uid, choice, text="New." if choice == "edited" else "")])
        assert done.counts["fact"] == {"identical": 1, "conflict": 1}
        write(CONTRARY_TEXTS[0], "task/x", session_id="s5")
        assert merge().counts == {"confirmation": {"applied": 1}}
        found = Confirmation.objects.filter(branch_id=main.pk, uid=here.uid)
        assert sorted(found.values_list("source", flat=True)) == ["session:s1", "session:s5"]
        assert merge().commit is None

    def test_what_has_no_vector_is_named(self, write, fork, plan):
        fork()
        write("new", "task/x")
        found = plan()
        assert (found.counts, found.unchecked, found.unchecked_reason) == (
            {"fact": {"applied": 1}},
            1,
            "embedder_off",
        )


class TestEdges:
    """What random histories found."""

    @pytest.fixture
    def relate(self, actor):
        def relate(branch="main", **properties):
            edge = {"source_entity": "A", "relation_type": "uses", "target_entity": "B"}
            options = {"properties": properties, "actor": actor, "branch_name": branch}
            return RelationEngine().write_relation(**edge, **options).relation

        return relate

    def edges(self, project, branch="main"):
        return Relation.objects.on(Branch.objects.get(project=project, name=branch)).fetch_all()

    def test_counts_of_both_sides_add_up(self, project, relate, fork, merge):
        relate(x=1)
        fork()
        relate()
        relate("task/x")
        merge()
        assert [row.strength for row in self.edges(project)] == [3]
        merge("main", "task/x")
        assert [row.strength for row in self.edges(project, "task/x")] == [3]
        assert (merge().commit, merge("main", "task/x").commit) == (None, None)

    def test_an_edge_waits_for_the_conflict_about_its_place(self, project, actor, relate, fork, merge, plan):
        fork()
        first = relate("task/x")
        merge()
        RelationEngine().close_relation(relation_id=first.uid, actor=actor, branch_name="task/x")
        relate("task/x")
        done = merge()
        RevertEngine().revert_commit(commit_id=done.commit.pk, actor=actor)
        second = next(item.uid for item in plan().page.results if item.uid != first.uid)
        waiting = merge(decisions=[Decision(second, "source", kind="relation")])
        assert (waiting.commit, waiting.counts) == (None, {"relation": {"conflict": 2}})
        assert waiting.open_conflicts == 2
        merge(decisions=[Decision(uid, "source", kind="relation") for uid in (second, first.uid)])
        assert len(self.edges(project)) == 2
        assert merge().commit is None

    def test_a_decision_that_cannot_be_carried_out_is_not_counted(
        self, project, actor, write, relate, fork, merge, plan
    ):
        """The gate asks for the conflict that comes first, and the branch is not merged as a whole."""
        fork()
        first = relate("task/x")
        merge()
        RelationEngine().close_relation(relation_id=first.uid, actor=actor, branch_name="task/x")
        second = relate("task/x")
        RevertEngine().revert_commit(commit_id=merge().commit.pk, actor=actor)
        write("Something else.", "task/x")
        PolicyEngine().set_policy(pattern="main", gates=["conflicts"], actor=actor)
        decisions = [
            Decision(first.uid, "skip", kind="relation"),
            Decision(second.uid, "source", kind="relation"),
        ]
        with pytest.raises(Conflict) as caught:
            merge(decisions=decisions)
        assert caught.value.data["ids"] == [str(second.uid)]
        (item,) = [one for one in plan(decisions=decisions).page.results if one.uid == second.uid]
        (bare,) = [one for one in plan().page.results if one.uid == second.uid]
        assert (item.decision, item.merged, item.removes) == (None, bare.merged, bare.removes)
        done = merge(decisions=decisions, force=True)
        assert (done.open_conflicts, done.commit.source_seq) == (2, None)

    def test_a_branch_of_which_an_edge_waits_is_not_merged_whole(self, actor, relate, fork, merge, plan):
        """Without an open conflict too: what has its place stays, as it was decided."""
        fork()
        first = relate("task/x")
        merge()
        RelationEngine().close_relation(relation_id=first.uid, actor=actor, branch_name="task/x")
        RevertEngine().revert_commit(commit_id=merge().commit.pk, actor=actor)
        second = relate("task/x")
        decisions = [Decision(first.uid, "target", kind="relation")]
        (item,) = [one for one in plan(decisions=decisions).page.results if one.uid == second.uid]
        assert (item.outcome, item.reason) == ("rejected", "conflict_first")
        assert (item.merged, item.removes, item.decision, item.other) == (None, False, None, None)
        done = merge(decisions=decisions)
        assert (done.open_conflicts, done.commit.source_seq) == (0, None)
        assert BranchTopologyEngine().auto_archive(actor=actor).results == []

    def test_a_pick_of_what_is_merged_already_changes_nothing(self, project, write, fork, merge):
        fork()
        fact = write("one", "task/x")
        merge(strategy="cherry_pick", ids=[fact.uid])
        assert merge(strategy="cherry_pick", ids=[fact.uid]).commit is None

    def test_a_revert_over_a_tombstone_keeps_its_past(self, project, actor, write, delete, fork, merge, plan):
        fact = write("one")
        fork()
        fork("task/y")
        delete(fact)
        delete(fact, "task/x")
        done = merge()
        RevertEngine().revert_commit(commit_id=done.commit.pk, actor=actor)
        assert plan("task/y").counts == {}
        assert texts(project) == []


def test_a_restore_to_before_a_merge_is_no_revert(project, actor, write, edit, delete, fork, merge):
    edited, removed = write("edited"), write("removed")
    fork()
    snapshot = SnapshotManager().create_snapshot(name="before", branch_name="main", actor=actor)
    write("brought", "task/x")
    edit(edited, "task/x", fact_text="theirs")
    delete(removed, "task/x")
    merge()
    SnapshotManager().restore_snapshot(snapshot_id=snapshot.pk, actor=actor)
    assert texts(project) == ["edited", "removed"]
    merge()
    assert texts(project) == ["theirs"]


def test_json_arrives_with_its_type_and_a_repository_conflicts(actor, write, edit, fork, merge, plan):
    fact, other = write("base", metadata={"on": 1}), write("other", repository="a")
    fork()
    edit(fact, "task/x", metadata={"on": True})
    edit(fact, priority="P1")
    edit(other, "task/x", repository="b")
    edit(other, repository="c")
    assert only(plan()).fields["repository"] == ["a", "c", "b", "c"]
    (item,) = FrozenItems.freeze([item for item in plan().page.results if item.uid == fact.uid]).load([0])
    assert item.merged["metadata"]["on"] is True
    merge(strategy="theirs")
    one, two = (FACTS.get_fact(fact_id=row.uid, actor=actor, branch_name="main") for row in (fact, other))
    assert (one.metadata["on"] is True, one.priority, two.repository) == (True, "P1", "b")
