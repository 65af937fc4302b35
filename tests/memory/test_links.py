"""Links between facts: visible ends, one edge per kind, versions on branches."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.exceptions import BranchArchived, Exists, Invalid, NotFound, UnknownField
from memory.models import AuditEntry, Commit
from tests.memory.facts.helpers import everything, refused

pytestmark = pytest.mark.django_db

fact_engine, link_engine, branch_manager = FactEngine(), LinkEngine(), BranchManager()
TYPES = [
    "ASSOCIATED",
    "BRIDGE",
    "CONSOLIDATED_FROM",
    "CONTESTED_BY",
    "DEPENDS_ON",
    "DERIVED_FROM",
    "MESSAGE_OF",
]


@pytest.fixture
def facts(actor, main):
    return [
        fact_engine.write_fact(fact_text=text, actor=actor).fact.uid for text in ("Alpha.", "Beta.", "Gamma.")
    ]


@pytest.fixture
def link(actor, facts):
    def link(a=0, b=1, branch="main", **more):
        ends = {"from_id": facts[a], "to_id": facts[b], "link_type": "DEPENDS_ON"}
        return link_engine.write_link(actor=actor, branch_name=branch, **{**ends, **more})

    return link


@pytest.fixture
def listed(actor, facts):
    def listed(a=0, **more):
        return [row.uid for row in link_engine.list_links(fact_id=facts[a], actor=actor, **more).results]

    return listed


def test_what_is_not_given_has_a_default(link, facts, main):
    made = link()
    assert (made.from_id, made.to_id, made.to_type, made.link_type) == (
        facts[0],
        facts[1],
        "fact",
        "DEPENDS_ON",
    )
    assert (made.weight, made.valid_from, made.valid_until, made.version) == (1.0, None, None, 1)
    commit, entry = Commit.objects.get(seq=4), AuditEntry.objects.get(action="link.write")
    assert (commit.kind, commit.added, commit.changed, commit.removed) == ("link.write", 1, 0, 0)
    assert entry.target == str(facts[0])


def test_every_field_is_kept(link, listed, actor, facts):
    link(weight=0, to_id=str(facts[1]), to_type="fact", valid_from="2026-01-01", valid_until="2026-02-01")
    (row,) = link_engine.list_links(fact_id=facts[1], actor=actor).results
    assert (row.weight, row.valid_from, row.valid_until) == (
        0.0,
        datetime(2026, 1, 1, tzinfo=UTC),
        datetime(2026, 2, 1, tzinfo=UTC),
    )


def test_who_made_it_is_known(actor, facts):
    speaking = replace(actor, session_id="s", task_id="t", agent_id="g")
    made = link_engine.write_link(from_id=facts[0], to_id=facts[1], link_type="BRIDGE", actor=speaking)
    assert (made.session_id, made.task_id, made.agent_id) == ("s", "t", "g")


def test_one_of_each_kind_in_each_direction(link, listed):
    made = [link(link_type=kind).uid for kind in TYPES] + [link(1, 0).uid]
    assert set(listed()) == set(listed(1)) == set(made)
    with refused(Exists) as caught:
        link()
    assert str(caught.value) == "This link exists already."
    with refused(Exists):
        link(weight=0.5, valid_until="2020-01-01")


@pytest.mark.django_db(transaction=True)
def test_what_is_refused_leaves_nothing_behind(link, facts, actor, other_project):
    link()
    foreign = fact_engine.write_fact(fact_text="x", actor=local_actor(other_project.pk)).fact.uid
    gone = fact_engine.write_fact(fact_text="Gone.", actor=actor).fact.uid
    fact_engine.delete_fact(fact_id=gone, actor=actor)
    branch_manager.create_branch(name="old", actor=actor)
    branch_manager.archive_branch(name="old", actor=actor)
    before = everything()
    unseen = "Nothing with this id is visible here."
    for fields, error, message in [
        ({}, Exists, "This link exists already."),
        ({"to_id": facts[0]}, Invalid, "A fact cannot be linked to itself."),
        ({"to_id": str(facts[0])}, Invalid, "A fact cannot be linked to itself."),
        ({"to_id": uuid4()}, NotFound, unseen),
        ({"from_id": uuid4()}, NotFound, unseen),
        ({"to_id": foreign}, NotFound, unseen),
        ({"from_id": foreign}, NotFound, unseen),
        ({"to_id": gone}, NotFound, unseen),
        ({"from_id": gone}, NotFound, unseen),
        ({"to_type": "message", "to_id": uuid4()}, NotFound, "No message with this id is visible here."),
        (
            {"to_type": "observation", "to_id": uuid4()},
            NotFound,
            "No observation with this id is visible here.",
        ),
        ({"to_type": "bundle"}, Invalid, "to_type must be one of fact, message, observation."),
        ({"to_id": "nonsense"}, Invalid, "to_id must be a UUID."),
        ({"link_type": "LIKES"}, Invalid, f"link_type must be one of {', '.join(TYPES)}."),
        ({"weight": 1.01}, Invalid, "weight must be a number from 0 to 1."),
        ({"weight": float("nan")}, Invalid, "weight must be a number from 0 to 1."),
        ({"weight": True}, Invalid, "weight must be a number from 0 to 1."),
        ({"weight": None}, Invalid, "weight must be a number from 0 to 1."),
        (
            {"valid_from": "2026-01-02", "valid_until": "2026-01-01"},
            Invalid,
            "valid_until must be later than valid_from.",
        ),
        ({"session_id": "s"}, UnknownField, "There is no field named session_id."),
        (
            {"branch": "old"},
            BranchArchived,
            "The branch old is archived and takes no writes: restore it first.",
        ),
    ]:
        with pytest.raises(error) as caught:
            link(**fields)
        assert str(caught.value) == message
        assert everything() == before
    for missing in ("to_id", "link_type"):
        given = {"from_id": facts[0], "to_id": facts[1], "link_type": "BRIDGE"}
        del given[missing]
        with pytest.raises(Invalid) as caught:
            link_engine.write_link(actor=actor, **given)
        assert str(caught.value) == f"{missing} is needed."
        assert everything() == before


def test_deleted_and_made_again(link, listed, facts, actor):
    made = link()
    with refused(NotFound):
        link_engine.delete_link(from_id=facts[1], link_id=made.uid, actor=actor)
    with refused(NotFound):
        link_engine.delete_link(from_id=facts[0], link_id=uuid4(), actor=actor)
    assert link_engine.delete_link(from_id=facts[0], link_id=made.uid, actor=actor) is None
    assert listed() == []
    commit, entry = Commit.objects.order_by("seq").last(), AuditEntry.objects.get(action="link.delete")
    assert (commit.kind, commit.removed, entry.target) == ("link.delete", 1, str(facts[0]))
    with refused(NotFound):
        link_engine.delete_link(from_id=facts[0], link_id=made.uid, actor=actor)
    again = link()
    assert (listed(), again.uid == made.uid) == ([again.uid], False)
    assert listed(at=4) == [made.uid]


def test_branches_are_isolated_both_ways(link, listed, facts, actor):
    shared = link()
    branch_manager.create_branch(name="a", actor=actor)
    on_a, on_main = link(0, 2, branch="a"), link(0, 2)
    assert listed() == [on_main.uid, shared.uid]
    assert set(listed(branch_name="a")) == {shared.uid, on_a.uid}
    with refused(Exists):
        link(branch="a")
    link_engine.delete_link(from_id=facts[0], link_id=shared.uid, actor=actor, branch_name="a")
    assert listed(branch_name="a") == [on_a.uid]
    assert listed() == [on_main.uid, shared.uid]
    again = link(branch="a")
    assert set(listed(branch_name="a")) == {on_a.uid, again.uid}


def test_an_end_that_only_a_branch_has(link, facts, actor):
    branch_manager.create_branch(name="a", actor=actor)
    there = fact_engine.write_fact(fact_text="There.", actor=actor, branch_name="a").fact.uid
    with refused(NotFound):
        link(to_id=there)
    assert link(to_id=there, branch="a").to_id == there


def test_in_pages_with_a_constant_number_of_queries(facts, actor, listed):
    others = fact_engine.write_facts(facts=[{"fact_text": f"x{i}"} for i in range(12)], actor=actor).results
    made = [
        link_engine.write_link(from_id=facts[0], to_id=row.fact.uid, link_type="BRIDGE", actor=actor).uid
        for row in others
    ]
    pages, cursor = [], ""
    while cursor is not None:
        page = link_engine.list_links(fact_id=facts[0], actor=actor, limit=5, cursor=cursor)
        pages.append([row.uid for row in page.results])
        cursor = page.next
    assert pages == [made[:6:-1], made[6:1:-1], made[1::-1]]

    def queries(limit):
        with CaptureQueriesContext(connection) as caught:
            listed(limit=limit)
        return len(caught)

    assert queries(2) == queries(12)


def test_of_a_fact_that_is_not_here(facts, actor, other_project):
    foreign = fact_engine.write_fact(fact_text="x", actor=local_actor(other_project.pk)).fact.uid
    for uid in (uuid4(), foreign):
        with refused(NotFound):
            link_engine.list_links(fact_id=uid, actor=actor)


def test_a_link_goes_with_its_end(link, listed, facts, actor):
    link()
    fact_engine.delete_fact(fact_id=facts[1], actor=actor)
    assert listed() == []
