"""Memories made again after a revert: one open version on a branch, also with a derived uid."""

import pytest

from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.versions.commits import open_commit
from memory.exceptions import Conflict
from memory.models import OPEN, Commit, FactAssessment, Relation
from tests.memory.api.client import nothing_left

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, RELATIONS, SNAPSHOTS = FactEngine(), RelationEngine(), SnapshotManager()
EDGE = {"source_entity": "API", "relation_type": "uses", "target_entity": "Redis"}
JANUARY, MAY = "2026-01-01T00:00:00Z", "2026-05-01T00:00:00Z"


@pytest.fixture
def fact(actor, main):
    return FACTS.write_fact(fact_text="a", actor=actor).fact


def verify(actor, fact, **more):
    return FACTS.set_verification(fact_id=fact.uid, actor=actor, verdict="verified", **more)


def relate(actor, **more):
    return RELATIONS.write_relation(actor=actor, **EDGE, **more).relation


def shown(actor, **where):
    return {(row.uid, row.valid_until) for row in RELATIONS.list_relations(actor=actor, **where).results}


def last(branch):
    return Commit.objects.filter(branch=branch).latest("seq")


def undo(actor, commit):
    return RevertEngine().revert_commit(commit_id=commit.pk, actor=actor)


def restore(actor, snapshot):
    """Restore a snapshot, and check the result against its dry run."""
    plan = SNAPSHOTS.restore_snapshot(snapshot_id=snapshot.pk, actor=actor, dry_run=True)
    done = SNAPSHOTS.restore_snapshot(snapshot_id=snapshot.pk, actor=actor)
    assert [branch.counts for branch in done.branches] == [branch.counts for branch in plan.branches]
    return done.branches[0].counts


def versions(model, uid):
    """Return the spans of a memory in order: (from, to or None while open, whether it is a tombstone)."""
    rows = model._base_manager.filter(uid=uid).order_by("seq_from")
    return [(row.seq_from, row.seq_to if row.seq_to != OPEN else None, row.deleted) for row in rows]


class TestVerdict:
    def test_undone_and_given_again_then_restored(self, actor, main, fact):
        verify(actor, fact)
        snapshot = SNAPSHOTS.create_snapshot(name="s", actor=actor)
        undo(actor, last(main))
        again = verify(actor, fact, reason="Again.")
        assert (again.verification_status, again.verification_reason) == ("verified", "Again.")
        assert restore(actor, snapshot) == {"changed": {"factassessment": 1}}
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).verification_reason == ""
        spans = versions(FactAssessment, fact.uid)
        assert spans == [(2, 3, False), (3, 4, True), (4, 5, False), (5, None, False)]

    def test_it_follows_its_tombstone(self, actor, main, fact):
        verify(actor, fact)
        undo(actor, last(main))
        verify(actor, fact)
        rows = list(FactAssessment._base_manager.filter(uid=fact.uid).order_by("seq_from"))
        assert [row.version for row in rows] == [1, 2, 3]
        assert rows[2].prev_vid == rows[1].vid

    def test_on_a_child_it_follows_the_tombstone_of_its_parent(self, actor, main, fact):
        verify(actor, fact)
        undo(actor, last(main))
        BranchManager().create_branch(name="task/x", actor=actor)
        verify(actor, fact, branch_name="task/x")
        rows = list(FactAssessment._base_manager.filter(uid=fact.uid).order_by("rid"))
        assert (rows[-1].version, rows[-1].prev_vid) == (3, rows[-2].vid)
        assert FACTS.get_fact(fact_id=fact.uid, actor=actor).verification_status == "unverified"

    @pytest.mark.slow
    def test_a_thousand_at_once(self, actor, main):
        texts = [{"fact_text": f"fact {n}"} for n in range(1000)]
        facts = [one.fact for one in FACTS.write_facts(facts=texts, actor=actor).results]
        for _ in range(2):
            add_verdicts(actor, facts)
            undo(actor, last(main))
        opened = FactAssessment._base_manager.filter(seq_to=OPEN)
        assert (opened.count(), opened.filter(deleted=True).count()) == (1000, 1000)

    def test_one_that_is_there_is_not_added(self, actor, main, fact):
        verify(actor, fact)
        with nothing_left(), pytest.raises(RuntimeError, match="change it"):
            add_verdicts(actor, [fact])


def add_verdicts(actor, facts):
    with open_commit(actor, "main", "test") as commit:
        commit.add_rows([assessed(fact) for fact in facts])


def assessed(fact):
    return FactAssessment(
        uid=fact.uid,
        status="verified",
        method="human",
        by="test",
        at=fact.created_at,
        judged_hash=fact.judged_hash,
    )


class TestRelation:
    def test_undone_and_stated_again_then_restored(self, actor, main):
        relation = relate(actor, properties={"port": 1})
        snapshot = SNAPSHOTS.create_snapshot(name="s", actor=actor)
        undo(actor, last(main))
        again = relate(actor, properties={"port": 2})
        assert (again.uid, again.version, again.strength) == (relation.uid, 3, 1)
        assert restore(actor, snapshot) == {"changed": {"relation": 1}}
        row = RELATIONS.get_relation(relation_id=relation.uid, actor=actor)
        assert row.properties == {"port": 1}
        assert sum(to is None for _, to, _ in versions(Relation, relation.uid)) == 1

    def test_an_earlier_one_of_the_triple_that_was_undone_leaves_its_id_free(self, actor, main):
        first = relate(actor, valid_until=JANUARY)
        stated = last(main)
        second = relate(actor, valid_until=MAY)
        undo(actor, stated)
        third = relate(actor)
        assert third.uid == first.uid
        assert shown(actor) == {(second.uid, second.valid_until), (first.uid, None)}

    def test_a_closing_is_not_undone_when_the_edge_was_stated_anew(self, actor, main):
        first = relate(actor)
        RELATIONS.close_relation(relation_id=first.uid, actor=actor)
        closed = last(main)
        relate(actor)
        with nothing_left(), pytest.raises(Conflict) as refused:
            undo(actor, closed)
        assert refused.value.data["changed"] == [str(first.uid)]

    def test_a_closing_is_undone_when_the_edge_stated_since_is(self, actor, main):
        first = relate(actor)
        RELATIONS.close_relation(relation_id=first.uid, actor=actor)
        closed = last(main)
        relate(actor)
        undo(actor, last(main))
        undo(actor, closed)
        assert shown(actor) == {(first.uid, None)}


def test_what_was_built_on_and_undone_hinders_no_more(actor, main, fact):
    written = last(main)
    verify(actor, fact)
    with nothing_left(), pytest.raises(Conflict):
        undo(actor, written)
    undo(actor, last(main))
    undo(actor, written)
    assert FACTS.list_facts(actor=actor).results == []
