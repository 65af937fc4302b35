"""Texts that the server makes of facts: an erasure of a fact takes them along, whenever they are made."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from conversations.engines.consolidation.engine import ConsolidationEngine
from memory.actors import Actor
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Branch, Erasure, Fact
from tests.conversations.test_consolidation_levels import ONCE_MORE
from tests.conversations.test_consolidation_runs import ARGON, NEARLY
from tests.curation.test_dreaming import dream, vectors, write_topic
from tests.memory.erasure.helpers import tables_with

__all__ = ["vectors"]
pytestmark = pytest.mark.django_db(transaction=True)
WORD = "zebra"
TEXTS = (
    "The zebra deploys use two colours.",
    "Lunch is at noon in Rome.",
    "Kafka keeps seven days of logs.",
    "The parser rejects tabs always.",
)


class ActAt:
    """Acts once before the nth statement outside a transaction that has all of some words."""

    def __init__(self, action: Callable[[], Any], number: int, *words: str) -> None:
        self.action, self.left, self.words = action, number, words

    def __call__(self, execute: Any, sql: str, *args: Any) -> Any:
        text = sql.replace("`", '"')
        if not connection.in_atomic_block and all(word in text for word in self.words):
            self.left -= 1
            if self.left == 0:
                self.action()
        return execute(sql, *args)


def learn(actor: Actor, texts: tuple[str, ...] = TEXTS, **fields: Any) -> list[Fact]:
    ada = actor.with_origin(agent_id="ada", session_id="s1")
    return [FactEngine().write_fact(fact_text=text, actor=ada, **fields).fact for text in texts]


def sum_up(actor: Actor) -> Any:
    return ConsolidationEngine().consolidate_agent(agent_id="ada", actor=actor).run


def erase(actor: Actor, fact: Fact) -> Erasure:
    return ErasureEngine().erase(scope="fact", target=str(fact.uid), confirm="test", actor=actor)


def summaries(actor: Actor) -> list[str]:
    main = Branch.objects.get(project=actor.project_id, name="main")
    rows = Fact.objects.on(main).filter(source_id__startswith="summary:", status="active").fetch_all()
    return [fact.fact_text for fact in rows]


def test_the_summary_of_an_agent_goes_with_a_fact_that_it_names(actor: Actor) -> None:
    first, *_ = learn(actor)
    sum_up(actor)
    assert WORD in summaries(actor)[0]
    erasure = erase(actor, first)
    assert (erasure.state, erasure.counts) == ("done", {"fact": 2})
    assert (summaries(actor), tables_with(WORD)) == ([], set())
    sum_up(actor)
    assert summaries(actor)[0].startswith("ada knows 3 facts.")


def test_an_older_text_of_a_summary_counts(actor: Actor) -> None:
    first, *_ = learn(actor)
    sum_up(actor)
    FactEngine().archive_fact(fact_id=first.uid, actor=actor)
    sum_up(actor)
    assert WORD not in summaries(actor)[0]
    erase(actor, first)
    assert (summaries(actor), tables_with(WORD)) == ([], set())


def test_what_took_the_place_of_a_fact_stays(actor: Actor) -> None:
    """It has words of its own, from another source."""
    kept, *others = learn(actor, (ARGON, NEARLY, ONCE_MORE), source_type="consolidation")
    assert sum_up(actor).deduplicated == 2
    assert erase(actor, others[0]).counts == {"fact": 1}
    assert FactEngine().get_fact(fact_id=kept.uid, actor=actor).fact_text == ARGON


def test_a_summary_names_nothing_that_is_erased_as_it_is_written(actor: Actor) -> None:
    first, *_ = learn(actor)
    late = ActAt(lambda: erase(actor, first), 2, 'SELECT "memory_branch"."id", "memory_branch"."head"')
    with connection.execute_wrapper(late):
        run = sum_up(actor)
    assert (late.left <= 0, run.state, run.created) == (True, "done", 1)
    assert summaries(actor)[0].startswith("ada knows 3 facts.")
    assert tables_with(WORD) == set()


def test_a_reflection_has_nothing_of_what_is_being_erased(actor: Actor) -> None:
    members, runs = write_topic(actor), list[Any]()
    late = ActAt(lambda: runs.append(dream(actor).run), 2, '"memory_erasedmemory"."kind"', '"uid"')
    with connection.execute_wrapper(late):
        assert erase(actor, members[0]).state == "done"
    (run,) = runs
    assert (late.left <= 0, run.state, run.created, run.merge_request) == (True, "done", 0, None)
    assert tables_with("fails without a cache") == set()
