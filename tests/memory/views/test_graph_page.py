"""The page of the graph: search, drawing, the note where there is more, the past, the table."""

import re

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.graph.engine import RelationEngine
from memory.models import Branch, Relation
from tests.curation.test_queue_pages import text

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/p/test/graph"


def relate(actor: Actor, source: str, target: str, kind: str = "uses") -> Relation:
    ends = {"source_entity": source, "relation_type": kind, "target_entity": target}
    return RelationEngine().write_relation(**ends, actor=actor).relation


def drawn(html: str) -> list[str]:
    return re.findall(r'class="node(?: start)?"[^>]*>\s*<title>([^<]*)</title>', html)


def test_search_comes_first(viewer: Client, actor: Actor, main: Branch) -> None:
    assert "This branch holds no relations yet" in text(viewer.get(PATH))
    relate(actor, "billing", "Redis")
    relate(actor, "billing", "Postgres")
    page = viewer.get(PATH).content.decode()
    assert "<svg viewBox" not in page.partition("Where to begin")[2]
    assert page.index("q=billing") < page.index("q=Redis")


def test_an_entity_with_two_steps_its_facts_and_a_table(viewer: Client, actor: Actor, main: Branch) -> None:
    relate(actor, "Billing", "Redis <b>")
    relate(actor, "Redis <b>", "disk")
    relate(actor, "disk", "too far")
    fact = FactEngine().write_fact(fact_text="Billing is closed on Sundays.", actor=actor).fact
    FactEngine().write_fact(fact_text="The disk is full.", actor=actor)
    page = viewer.get(f"{PATH}?q=billing")
    html = page.content.decode()
    assert drawn(html) == ["Billing", "Redis &lt;b&gt;", "disk"]
    assert html.count('class="edge"') == 2
    assert f"/facts/{fact.uid}" in html
    assert "The disk is full." not in html
    assert "Redis <b>" not in html
    assert html.count("<tbody>") == 1


def test_ended_relations_are_dashed_and_only_asked_for(viewer: Client, actor: Actor, main: Branch) -> None:
    gone = relate(actor, "billing", "Redis")
    relate(actor, "billing", "Postgres")
    main.refresh_from_db()
    point = main.head
    RelationEngine().close_relation(relation_id=gone.uid, actor=actor)
    assert drawn(viewer.get(f"{PATH}?q=billing").content.decode()) == ["billing", "Postgres"]
    ended = viewer.get(f"{PATH}?q=billing&ended=1").content.decode()
    assert set(drawn(ended)) == {"billing", "Postgres", "Redis"}
    assert ended.count('class="edge ended"') == 1
    past = viewer.get(f"{PATH}?q=billing&at={point}").content.decode()
    assert set(drawn(past)) == {"billing", "Postgres", "Redis"}


def test_a_large_graph_is_a_readable_part_with_a_note(viewer: Client, actor: Actor, main: Branch) -> None:
    for n in range(70):
        relate(actor, "hub", f"entity {n:02}")
    page = viewer.get(f"{PATH}?q=hub")
    assert len(drawn(page.content.decode())) == 60
    assert "The nearest 60 entities are drawn; 11 more are left out." in text(page)
    assert "These are the first 50." in text(page)


def side(html: str) -> str:
    return html.partition('id="entity-name"')[2].partition("</section>")[0]


def test_the_side_has_relations_facts_and_who_stated_them(viewer: Client, actor: Actor, main: Branch) -> None:
    relate(actor.with_origin(agent_id="ledger", session_id="s-1"), "billing", "Redis")
    relate(actor, "Redis", "disk", "writes to")
    fact = FactEngine().write_fact(fact_text="Redis is full.", actor=actor).fact
    first = side(viewer.get(f"{PATH}?q=billing").content.decode())
    assert "key=ledger" in first
    assert "key=s-1" in first
    assert "writes to" not in first
    html = viewer.get(f"{PATH}?q=billing&node=REDIS").content.decode()
    assert drawn(html) == ["billing", "Redis", "disk"]
    assert html.count('aria-current="true"><title>Redis') == 1
    assert "writes to" in side(html)
    assert f"/facts/{fact.uid}" in side(html)
    assert "q=Redis" in side(html)
    unknown = side(viewer.get(f"{PATH}?q=billing&node=moon").content.decode())
    assert unknown.partition("</h2>")[0].endswith(">billing")


def test_a_part_of_a_name_offers_names(viewer: Client, actor: Actor, main: Branch) -> None:
    relate(actor, "billing service", "Postgres")
    relate(actor, "the Billing", "Redis")
    begun = viewer.get(f"{PATH}?q=BILL").content.decode()
    assert "q=billing+service" in begun
    assert "q=the+Billing" not in begun
    held = viewer.get(f"{PATH}?q=gres").content.decode()
    assert "q=Postgres" in held
    names = ["billing service", "Postgres", "Redis", "the Billing"]
    assert RelationEngine().list_entities(part="e", actor=actor) == names
    assert RelationEngine().list_entities(part="e", actor=actor, limit=2) == names[:2]
