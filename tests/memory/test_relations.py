"""The knowledge graph: one open edge per triple, spellings, closing, bounded traversals."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager, create_main
from memory.engines.graph.engine import MAX_EDGES, RelationEngine
from memory.exceptions import IllegalTransition, Invalid, NotFound, ScopeMissing, TooLarge, UnknownField
from memory.models import Project, Relation
from memory.models.relations import name_key
from tests.memory.api.client import nothing_left

relation_engine = RelationEngine()


@pytest.fixture
def relate(actor):
    def write(source, relation_type, target, **fields):
        return relation_engine.write_relation(
            source_entity=source,
            relation_type=relation_type,
            target_entity=target,
            **{"actor": actor, **fields},
        )

    return write


def walk(actor, entity, **how):
    return relation_engine.graph_query(entity=entity, actor=actor, **how)


def edges(graph):
    return sorted(str(edge) for edge in graph.edges)


class TestStating:
    def test_the_same_open_edge_is_strengthened_not_doubled(self, relate):
        first = relate("API", "uses", "Redis", confidence=0.6, properties={"port": 6379})
        again = relate("api", "USES", "ＲＥＤＩＳ", confidence=0.9, properties={"tls": True})
        weaker = relate("API", "uses", "Redis", confidence=0.2)
        assert (first.created, again.created, weaker.created) == (True, False, False)
        assert again.relation.uid == first.relation.uid
        assert (weaker.relation.strength, weaker.relation.confidence) == (3, 0.9)
        assert weaker.relation.properties == {"port": 6379, "tls": True}

    def test_the_spelling_first_seen_is_kept_at_both_ends(self, relate):
        relate("Billing  Service", "uses", "PostgreSQL")
        row = relate("postgresql", "runs on", "billing service").relation
        assert (row.source_entity, row.target_entity) == ("PostgreSQL", "Billing Service")

    @pytest.mark.django_db(transaction=True)
    def test_properties_have_their_limit_together(self, actor, main, relate):
        half = "x" * 33_000
        relate("a", "r", "b", properties={"one": half})
        with nothing_left(), pytest.raises(TooLarge, match="properties is over the limit") as refused:
            relate("a", "r", "b", properties={"two": half})
        assert refused.value.data["field"] == "properties"
        again = relate("a", "r", "b", properties={"one": "y" * 65_000}).relation
        assert (again.strength, list(again.properties)) == (2, ["one"])

    def test_the_earliest_start_stays(self, relate):
        early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)
        relate("a", "r", "b", valid_from=late)
        assert relate("a", "r", "b", valid_from=early).relation.valid_from == early

    def test_a_closed_one_stays_and_a_new_one_begins(self, relate, actor):
        old = relate("a", "r", "b").relation
        relation_engine.close_relation(relation_id=old.uid, actor=actor)
        new = relate("a", "r", "b")
        assert new.created
        assert new.relation.uid != old.uid
        assert {r.uid for r in relation_engine.list_relations(actor=actor).results} == {
            old.uid,
            new.relation.uid,
        }
        current = relation_engine.list_relations(actor=actor, open_only=True).results
        assert [r.uid for r in current] == [new.relation.uid]

    def test_two_branches_that_state_the_same_make_the_same_edge(self, relate, actor):
        BranchManager().create_branch(name="side", actor=actor)
        here, there = relate("a", "r", "b"), relate("A", "R", "B", branch_name="side")
        assert here.relation.uid == there.relation.uid
        assert there.created
        assert Relation._base_manager.count() == 2

    @pytest.mark.django_db(transaction=True)
    def test_refusals_leave_nothing(self, relate, actor):
        refused = [
            ({"source": " "}, Invalid),
            ({"source": "x" * 201}, Invalid),
            ({"source": "ﷺ" * 100}, Invalid),
            ({"source": "a\x00"}, Invalid),
            ({"confidence": 1.2}, Invalid),
            ({"colour": 1}, UnknownField),
            ({"properties": {"x": "y" * 70_000}}, TooLarge),
            ({"valid_from": "2026-02-01", "valid_until": "2026-01-01"}, Invalid),
            ({"actor": replace(actor, scopes=frozenset({"read"}))}, ScopeMissing),
        ]
        for fields, error in refused:
            with pytest.raises(error):
                relate(**{"source": "a", "relation_type": "r", "target": "b", **fields})
        assert not Relation._base_manager.exists()


class TestClosing:
    def test_once_and_with_a_time(self, relate, actor):
        row = relate("a", "r", "b", valid_from="2026-01-01").relation
        until = datetime(2026, 3, 1, tzinfo=UTC)
        closed = relation_engine.close_relation(relation_id=row.uid, actor=actor, valid_until=until)
        assert (closed.valid_until, closed.version) == (until, 2)

    @pytest.mark.django_db(transaction=True)
    def test_refusals(self, relate, actor, other_project):
        row = relate("a", "r", "b", valid_from="2026-01-01").relation
        with pytest.raises(Invalid):
            relation_engine.close_relation(relation_id=row.uid, actor=actor, valid_until="2025-01-01")
        with pytest.raises(NotFound):
            relation_engine.close_relation(relation_id=uuid4(), actor=actor)
        with pytest.raises(NotFound):
            relation_engine.close_relation(relation_id=row.uid, actor=local_actor(other_project.pk))
        relation_engine.close_relation(relation_id=row.uid, actor=actor)
        with pytest.raises(IllegalTransition):
            relation_engine.close_relation(relation_id=row.uid, actor=actor)


class TestWalking:
    def test_both_directions_with_distances(self, relate, actor):
        for source, target in (("a", "b"), ("c", "b"), ("c", "d"), ("x", "y")):
            relate(source, "r", target)
        graph = walk(actor, "A", depth=2)
        assert {(n.entity, n.distance) for n in graph.nodes} == {("a", 0), ("b", 1), ("c", 2)}
        assert edges(graph) == ["a r b", "c r b"]
        assert edges(walk(actor, "a", depth=3)) == ["a r b", "c r b", "c r d"]
        assert not graph.truncated

    def test_circles_and_loops_end(self, relate, actor):
        for source, target in (("a", "b"), ("b", "c"), ("c", "a"), ("a", "a")):
            relate(source, "r", target)
        graph = walk(actor, "a", depth=6)
        assert len(graph.edges) == 4
        assert sorted(n.distance for n in graph.nodes) == [0, 1, 1]

    def test_an_unknown_entity_stands_alone(self, actor):
        graph = walk(actor, "nobody")
        assert [(n.entity, n.distance) for n in graph.nodes] == [("nobody", 0)]
        assert graph.edges == []

    def test_by_type_and_by_time(self, relate, actor):
        relate("a", "uses", "b")
        old = relate("a", "used", "c", valid_from="2026-01-01", valid_until="2026-02-01").relation
        assert edges(walk(actor, "a")) == ["a uses b"]
        assert edges(walk(actor, "a", relation_type="USES")) == ["a uses b"]
        before = datetime.now(UTC) - timedelta(days=1)
        assert edges(walk(actor, "a", at=before)) == []  # nothing was recorded then
        assert old.valid_until

    def test_branches_and_projects_are_apart(self, relate, actor, other_project):
        BranchManager().create_branch(name="side", actor=actor)
        relate("a", "r", "b", branch_name="side")
        assert edges(walk(actor, "a", branch_name="side")) == ["a r b"]
        assert edges(walk(actor, "a")) == []
        assert edges(walk(local_actor(other_project.pk), "a")) == []

    def test_a_hub_is_cut_at_so_many_edges_and_says_so(self, relate, actor, monkeypatch):
        assert MAX_EDGES == 1000
        monkeypatch.setattr("memory.engines.graph.engine.MAX_EDGES", 20)
        for i in range(25):
            relate("hub", "r", f"n{i}")
        graph = walk(actor, "hub", depth=6)
        assert (len(graph.edges), graph.truncated) == (20, True)

    @pytest.mark.parametrize("depth", [0, 7, 50, -1, True, "2", 1.5])
    def test_depths_that_are_refused(self, actor, depth):
        with pytest.raises(Invalid, match="from 1 to 6"):
            walk(actor, "a", depth=depth)


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=30)


class TestAgainstAModel(TestCase):
    """Random statements compared with a plain set of edges."""

    @pytest.mark.slow
    @settings(deadline=None, max_examples=settings().max_examples // 2)
    @given(st.lists(st.tuples(NAMES, NAMES), max_size=12))
    def test_a_walk_finds_what_plain_python_finds(self, pairs):
        project = Project.objects.create(name="p", slug="p")
        create_main(project)
        actor = local_actor(project.pk)
        pairs = [(a, b) for a, b in pairs if a.strip() and b.strip()]
        for source, target in pairs:
            relation_engine.write_relation(
                source_entity=source, relation_type="r", target_entity=target, actor=actor
            )
        wanted = {(name_key(a), name_key(b)) for a, b in pairs}
        start = pairs[0][0] if pairs else "a"
        reached, grown = {name_key(start)}, True
        for _ in range(6):
            grown = {n for edge in wanted if reached & set(edge) for n in edge}
            reached |= grown
        graph = walk(actor, start, depth=6)
        found = {(edge.source_key, edge.target_key) for edge in graph.edges}
        near = {edge for edge in wanted if reached & set(edge)}
        assert found <= near
        assert {name_key(n.entity) for n in graph.nodes} == reached
