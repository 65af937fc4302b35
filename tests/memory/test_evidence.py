"""Evidence of a fact: verdicts, confirmations, links, successors, recalls."""

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.evidence import Evidence, EvidenceEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.facts.recall_log import TYPING_SURFACE
from memory.engines.search.engine import SearchEngine
from memory.engines.support.write_buffer import buffer
from memory.exceptions import BranchForbidden
from memory.models import Fact, Project, RecallLog

pytestmark = pytest.mark.django_db(transaction=True)
FACTS, LINKS = FactEngine(), LinkEngine()


def write(actor: Actor, text: str, **fields: Any) -> Fact:
    return FACTS.write_fact(fact_text=text, actor=actor, **fields).fact


def evidence(fact: Fact, actor: Actor, **where: Any) -> Evidence:
    return EvidenceEngine().load_evidence(fact=fact, actor=actor, **where)


def test_verdicts_say_whether_they_count(actor: Actor) -> None:
    fact = write(actor, "Tokens live an hour.")
    on = {"fact_id": fact.uid, "actor": actor}
    FACTS.set_verification(verdict="invalidated", reason="too long", **on)
    FACTS.set_verification(verdict="verified", reason="read it", **on)
    verdicts = evidence(fact, actor).verdicts
    assert [(v.status, v.reason, v.by, v.counts) for v in verdicts] == [
        ("verified", "read it", "local", True),
        ("invalidated", "too long", "local", False),
    ]
    assert [v.commit.seq for v in verdicts if v.commit] == [3, 2]
    changed = FACTS.update_fact(updates={"fact_text": "Tokens live a day."}, **on)
    assert [v.counts for v in evidence(changed, actor).verdicts] == [False, False]


def test_each_source_confirms_once(actor: Actor) -> None:
    fact = write(actor, "Tokens live an hour.", session_id="s1", agent_id="a1")
    for agent in ("a2", "a3", "a2"):
        write(actor, "Tokens live an hour.", agent_id=agent)
    found = evidence(fact, actor).confirmations
    assert [row.source for row in found] == ["agent:a3", "agent:a2"]


def test_what_it_replaced_and_what_replaced_it(actor: Actor) -> None:
    first = write(actor, "one")
    second = FACTS.supersede_fact(old_fact_id=first.uid, new_fact_text="two", actor=actor)
    third = FACTS.supersede_fact(old_fact_id=second.uid, new_fact_text="three", actor=actor)
    found = evidence(FACTS.get_fact(fact_id=second.uid, actor=actor), actor)
    assert found.parent
    assert (found.parent.fact_text, found.parent.status) == ("one", "superseded")
    assert [(f.uid, f.fact_text) for f in found.successors] == [(third.uid, "three")]
    assert found.made
    assert found.made.kind == "fact.supersede"


def test_links_both_ways_with_their_other_ends(actor: Actor) -> None:
    one, two, three = (write(actor, text) for text in ("one", "two", "three"))
    LINKS.write_link(from_id=one.uid, to_id=two.uid, link_type="DEPENDS_ON", actor=actor)
    LINKS.write_link(from_id=three.uid, to_id=one.uid, link_type="CONTESTED_BY", actor=actor)
    edges = evidence(one, actor).edges
    assert [(e.link.link_type, e.outward, e.other.fact_text) for e in edges] == [
        ("DEPENDS_ON", True, "two"),
        ("CONTESTED_BY", False, "three"),
    ]
    FACTS.delete_fact(fact_id=two.uid, actor=actor)
    assert [e.other.fact_text for e in evidence(one, actor).edges] == ["three"]


def test_a_branch_and_a_past_point_have_their_own(actor: Actor) -> None:
    fact = write(actor, "one")
    BranchManager().create_branch(name="task/a", actor=actor)
    on = {"fact_id": fact.uid, "actor": actor, "branch_name": "task/a"}
    FACTS.set_verification(verdict="verified", **on)
    assert [v.status for v in evidence(fact, actor, branch_name="task/a").verdicts] == ["verified"]
    assert evidence(fact, actor).verdicts == evidence(fact, actor, branch_name="task/a", at=0).verdicts == []


def test_who_recalled_it(actor: Actor, other_project: Project) -> None:
    fact = write(actor, "Tokens live an hour.")
    asking = replace(actor, agent_id="bot", session_id="s1", surface="rest")
    SearchEngine().search(query="tokens", actor=asking)
    SearchEngine().search(query="tok", actor=replace(actor, surface=TYPING_SURFACE))
    buffer.flush()
    (log,) = evidence(fact, actor).recalls
    assert (log.query, log.agent_id, log.session_id, log.surface) == ("tokens", "bot", "s1", "rest")
    RecallLog.objects.update(project=other_project)
    assert evidence(fact, actor).recalls == []


def test_recalls_on_branches_out_of_reach_stay_unseen(actor: Actor) -> None:
    BranchManager().create_branch(name="task/a", actor=actor)
    fact = write(actor, "Tokens live an hour.")
    SearchEngine().search(query="secret plan tokens", actor=actor)
    buffer.flush()
    bound = replace(actor, branch_patterns=("task/*",))
    assert evidence(fact, bound, branch_name="task/a").recalls == []
    with pytest.raises(BranchForbidden):
        evidence(fact, bound)


def test_the_number_of_queries_does_not_grow(actor: Actor) -> None:
    fact, asked = write(actor, "one"), []
    for more in (2, 20):
        for number in range(more):
            other = write(actor, f"other {more} {number}")
            LINKS.write_link(from_id=fact.uid, to_id=other.uid, link_type="ASSOCIATED", actor=actor)
            verdict = ("verified", "unverified")[number % 2]
            FACTS.set_verification(fact_id=fact.uid, verdict=verdict, actor=actor)
        with CaptureQueriesContext(connection) as queries:
            evidence(fact, actor)
        asked.append(len(queries))
    assert asked[0] == asked[1]
