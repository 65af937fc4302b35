"""Related facts: by links, sources and connected entities; on a branch, in the past."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.graph.engine import RelationEngine
from memory.engines.graph.entities import mentions, possible_names, tokens_in
from memory.engines.search.related import RelatedEngine, Relatives
from memory.engines.sessions.observations import ObservationEngine
from memory.exceptions import BranchForbidden, Invalid, NotFound
from memory.models import Fact, Project
from tests.memory.api.client import UNKNOWN

FACTS, RELATIONS = FactEngine(), RelationEngine()


def write(actor: Actor, text: str, branch: str = "main", **fields: Any) -> Fact:
    return FACTS.write_fact(fact_text=text, actor=actor, branch_name=branch, **fields).fact


def state(actor: Actor, source: str, kind: str, target: str, **more: Any) -> Any:
    edge = {"source_entity": source, "relation_type": kind, "target_entity": target}
    return RELATIONS.write_relation(**edge, actor=actor, **more).relation


def related(actor: Actor, fact: Fact, **how: Any) -> Relatives:
    return RelatedEngine().find_related(fact_id=fact.uid, actor=actor, **how)


def ways(found: Relatives) -> dict[str, list[tuple[str, int, str]]]:
    return {
        one.fact.fact_text: [(way.by, way.distance, way.name) for way in one.why] for one in found.results
    }


def test_facts_about_one_thing_and_about_connected_things(actor: Actor) -> None:
    state(actor, "Billing API", "uses", "Redis")
    state(actor, "Redis", "runs_on", "db-1")
    start = write(actor, "The BILLING  api answers slowly.")
    write(actor, "Deploys of the billing API are frozen.")
    write(actor, "redis, too, must be upgraded.")
    write(actor, "The disk of db-1 is full.")
    write(actor, "Rediscovery is nice; billing is not an API.")
    assert ways(related(actor, start)) == {
        "Deploys of the billing API are frozen.": [("entity", 2, "Billing API")],
        "redis, too, must be upgraded.": [("entity", 3, "Redis")],
    }
    two = related(actor, start, depth=2)
    assert list(ways(two)) == [
        "Deploys of the billing API are frozen.",
        "redis, too, must be upgraded.",
        "The disk of db-1 is full.",
    ]
    assert [one.distance for one in two.results] == [2, 3, 4]
    assert [(node.entity, node.distance) for node in two.entities] == [
        ("Billing API", 0),
        ("Redis", 1),
        ("db-1", 2),
    ]
    assert list(ways(related(actor, start, depth=0))) == ["Deploys of the billing API are frozen."]
    assert two.truncated is False


def test_links_family_and_common_sources(actor: Actor) -> None:
    start, linked, back = (write(actor, text) for text in ("Start.", "Linked.", "Linking back."))
    seen = ObservationEngine().write_observation(summary="Seen.", observation_type="insight", actor=actor)
    sibling = write(actor, "From the same observation.")
    links = LinkEngine()
    links.write_link(from_id=start.uid, to_id=linked.uid, link_type="DEPENDS_ON", actor=actor)
    links.write_link(from_id=back.uid, to_id=start.uid, link_type="ASSOCIATED", actor=actor)
    for fact in (start, sibling):
        source = {"to_id": seen.uid, "to_type": "observation", "link_type": "DERIVED_FROM"}
        links.write_link(from_id=fact.uid, actor=actor, **source)
    found = related(actor, start)
    assert ways(found) == {
        "Linking back.": [("link", 1, "ASSOCIATED")],
        "Linked.": [("link", 1, "DEPENDS_ON")],
        "From the same observation.": [("source", 2, "observation")],
    }
    assert found.results[2].why[0].uid == seen.uid
    new = FACTS.supersede_fact(old_fact_id=start.uid, new_fact_text="Started anew.", actor=actor)
    assert ways(related(actor, start))["Started anew."] == [("parent", 1, "")]
    # The default exclusions of a search apply: the superseded fact.
    assert "Start." not in ways(related(actor, new))


def test_the_shortest_way_comes_first_and_every_way_is_told(actor: Actor) -> None:
    state(actor, "Redis", "part_of", "Cache")
    start, both = write(actor, "Redis is slow."), write(actor, "Cache and Redis are old.")
    write(actor, "Redis is loud.")
    LinkEngine().write_link(from_id=start.uid, to_id=both.uid, link_type="BRIDGE", actor=actor)
    assert ways(related(actor, start)) == {
        "Cache and Redis are old.": [("link", 1, "BRIDGE"), ("entity", 2, "Redis"), ("entity", 3, "Cache")],
        "Redis is loud.": [("entity", 2, "Redis")],
    }
    assert list(ways(related(actor, start, limit=1))) == ["Cache and Redis are old."]


def test_what_no_search_finds_is_not_related(actor: Actor) -> None:
    state(actor, "Tea", "is_in", "Kitchen")
    start = write(actor, "Tea is hot.")
    gone = write(actor, "Tea was archived.")
    FACTS.archive_fact(fact_id=gone.uid, actor=actor)
    wrong = write(actor, "Tea is cold.")
    FACTS.set_verification(fact_id=wrong.uid, verdict="invalidated", reason="No.", actor=actor)
    write(actor, "Tea was drunk.", valid_until=timezone.now() - timedelta(days=1))
    write(actor, "Tea is proposed.", propose=True)
    assert ways(related(actor, start)) == {}


def test_on_a_branch_and_in_the_past(actor: Actor) -> None:
    state(actor, "Tea", "is_in", "Kitchen")
    start = write(actor, "Tea is hot.")
    BranchManager().create_branch(name="task/tea", actor=actor)
    write(actor, "Tea on the branch.", "task/tea")
    state(actor, "Tea", "comes_from", "China", branch_name="task/tea")
    write(actor, "China is far.", "task/tea")
    seq = 2  # of main: the relation and the fact
    write(actor, "Tea on main.")
    assert list(ways(related(actor, start))) == ["Tea on main."]
    assert list(ways(related(actor, start, branch_name="task/tea"))) == [
        "Tea on the branch.",
        "China is far.",
    ]
    assert ways(related(actor, start, at=seq)) == {}


def test_a_relation_counts_while_it_is_true(actor: Actor) -> None:
    edge = state(actor, "Login", "uses", "Redis")
    start, _ = write(actor, "Login is slow."), write(actor, "Redis is slow.")
    before = timezone.now()
    assert list(ways(related(actor, start))) == ["Redis is slow."]
    RELATIONS.close_relation(relation_id=edge.uid, actor=actor)
    assert ways(related(actor, start)) == {}
    assert list(ways(related(actor, start, at=before))) == ["Redis is slow."]


def test_names_with_signs_and_in_scripts_without_spaces(actor: Actor) -> None:
    state(actor, "C++", "calls", ".env")
    state(actor, "支付服务", "依赖", "数据库")
    start = write(actor, "(C++) is built with clang.")
    write(actor, "We read .env, then C++ starts.")
    pay = write(actor, "我们的支付服务很慢。")
    write(actor, "数据库已满。")
    assert ways(related(actor, start)) == {
        "We read .env, then C++ starts.": [("entity", 2, "C++"), ("entity", 3, ".env")]
    }
    found = related(actor, pay)
    assert [(node.entity, node.distance) for node in found.entities] == [("支付服务", 0), ("数据库", 1)]


def test_a_name_is_a_whole_word() -> None:
    assert mentions("redis", ["Redis!", "redis-2", "rediscovery", "preredis", "RE DIS"]) == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert mentions("c++", ["(C++)", "c+", "xc++"]) == [True, False, False]
    assert "user service" in set(possible_names("the user service, again"))
    assert ".env" in set(possible_names("read .env now"))
    assert list(possible_names("")) == []
    assert len(list(possible_names("word " * 10_000))) < 6000


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the user-service, again", ["the", "user-service", ",", "again"]),
        ("(c++) «.env» “node.js”! f(x)", ["c++", ")", ".env", "»", "node.js", "”", "!", "f(x", ")"]),
        ("see `a.b()`\tat acme inc.\n", ["see", "a.b(", ")", "at", "acme", "inc", "."]),
        (") ... (( \"'", [")", ".", ".", "."]),
        ("", []),
        ("a" + ")" * 7998 + "b", ["a" + ")" * 7998 + "b"]),
        ("(" * 4000 + "☕" + "(" * 4000, ["☕" + "(" * 4000]),
    ],
)
def test_names_are_looked_for_without_the_signs_around_them(text: str, tokens: list[str]) -> None:
    assert [text[start:end] for start, end in tokens_in(text)] == tokens


def test_a_hub_and_a_huge_text_stay_within_limits(actor: Actor) -> None:
    for n in range(30):
        state(actor, "Hub", "has", f"Thing {n}")
    start = write(actor, "Hub. " + "many words " * 5000)
    found = related(actor, start)
    assert (len(found.entities), found.truncated) == (20, True)


def test_what_is_not_there_or_not_allowed(actor: Actor, other_project: Project) -> None:
    fact = write(actor, "Ours.")
    with pytest.raises(NotFound):
        related(Actor(other_project.pk, "local", scopes=frozenset({"admin"})), fact)
    bound = Actor(actor.project_id, "key", scopes=frozenset({"read"}), branch_patterns=("task/*",))
    with pytest.raises(BranchForbidden):
        related(bound, fact)
    for wrong in ({"depth": 7}, {"depth": -1}, {"depth": True}, {"limit": 0}, {"limit": 101}):
        with pytest.raises(Invalid):
            related(actor, fact, **wrong)
    FACTS.delete_fact(fact_id=fact.uid, actor=actor)
    with pytest.raises(NotFound):
        related(actor, fact)
    assert ways(related(actor, fact, at=1)) == {}


def test_on_an_archived_branch_none_comes_as_in_a_search(actor: Actor) -> None:
    start, other = write(actor, "One."), write(actor, "Two.")
    LinkEngine().write_link(from_id=start.uid, to_id=other.uid, link_type="BRIDGE", actor=actor)
    BranchManager().create_branch(name="task/a", actor=actor)
    assert list(ways(related(actor, start, branch_name="task/a"))) == ["Two."]
    BranchManager().archive_branch(name="task/a", actor=actor)
    assert related(actor, start, branch_name="task/a") == Relatives((), (), False)
    with pytest.raises(NotFound):
        RelatedEngine().find_related(fact_id=UNKNOWN, actor=actor, branch_name="task/a")
    assert list(ways(related(actor, start))) == ["Two."]


def test_facts_from_a_source_read_as_archived_on_an_archived_branch(actor: Actor) -> None:
    seen = ObservationEngine().write_observation(actor=actor, summary="Seen.")
    fact = write(actor, "One.")
    edge = {"to_id": seen.uid, "to_type": "observation", "link_type": "DERIVED_FROM"}
    LinkEngine().write_link(from_id=fact.uid, actor=actor, **edge)
    BranchManager().create_branch(name="task/a", actor=actor)
    BranchManager().archive_branch(name="task/a", actor=actor)
    for branch, status in (("task/a", "archived"), ("main", "active")):
        found = LinkEngine().facts_from(source_ids=[seen.uid], actor=actor, branch_name=branch)
        assert [(row.uid, row.status) for row in found[seen.uid]] == [(fact.uid, status)]


def test_nothing_of_another_project_is_related(actor: Actor, other_project: Project) -> None:
    theirs = Actor(other_project.pk, "local", scopes=frozenset({"admin"}))
    state(theirs, "Tea", "is_in", "Kitchen")
    write(theirs, "Tea is theirs.")
    start = write(actor, "Tea is hot.")
    assert (ways(related(actor, start)), related(actor, start).entities) == ({}, [])
