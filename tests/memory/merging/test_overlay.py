"""The overlay of a plan is searched as the target is after the merge, for random changes and decisions."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from django.test import override_settings
from hypothesis import given
from hypothesis import strategies as st

from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.evaluation.asking import Place, rank_hits
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.filters import FactFilter
from memory.engines.merging.conflict_decisions import load_plan
from memory.engines.merging.engine import MergeEngine, build_options
from memory.engines.merging.plan import Decision
from memory.engines.merging.recall_gate import build_overlay
from memory.engines.search.candidates import build_query
from memory.exceptions import Day1Error
from memory.models.nodes import uuid7
from memory.ranking import RECIPES
from tests.memory.merging.test_random_histories import START, histories
from tests.memory.merging.transports import Choice, EngineTransport, Merged
from tests.memory.merging.world import World
from tests.memory.test_branches import some_actor
from tests.memory.test_versions import random_histories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
facts = FactEngine()
WORDS = "tokens payout queue retry ledger mobile release partition cache schema login backup".split()
QUERIES = ("tokens ledger", "Which retry does the queue have?", "release of the mobile login", "chem")
FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"category": ("decision",)},
    {"repository": "github.com/acme/pay"},
    {"tags": ("hot",)},
)
# The index has statistics of all texts, which a merge changes a little: see docs/decisions/0026.
DRIFT = 0.01
K = 10
Ranked = list[tuple[str, float]]


# ---- comparing -----------------------------------------------------------------------------------------


def rank_texts(place: Place, query: str, filters: dict[str, Any], actor: Actor) -> Ranked:
    _page, hits = rank_hits(place, build_query(query, actor.project_id), FactFilter(**filters), actor, K)
    return [(hit.row.text, hit.score) for hit in hits]


def rank_all(actor: Actor, target: str, **place: Any) -> dict[tuple[str, int], Ranked]:
    return {
        (query, at): rank_texts(Place(target, RECIPES["default"], **place), query, filters, actor)
        for query in QUERIES
        for at, filters in enumerate(FILTERS)
    }


def check_same(overlay: Ranked, merged: Ranked) -> None:
    """Check that both have the same facts, in the same order but where scores nearly tie."""
    assert sorted(text for text, _ in overlay) == sorted(text for text, _ in merged)
    left = [*merged]
    for text, _ in overlay:
        place = next(at for at, (other, _) in enumerate(left) if other == text)
        assert left[0][1] - left[place][1] <= DRIFT, (overlay, merged)
        del left[place]


class RankedTransport(EngineTransport):
    """Calls of the engines that compare, for each merge, the overlay of its plan with its result."""

    compared = 0

    def merge(
        self, source: str, target: str, strategy: str, choices: Sequence[Choice] = (), ids: Sequence[str] = ()
    ) -> Merged:
        before = self.rank_overlay(source, target, strategy, choices, ids)
        merged = super().merge(source, target, strategy, choices, ids)
        if merged.commit and before is not None:
            self.compared += 1
            after = rank_all(self.actor, target)
            for key, found in before.items():
                check_same(found, after[key])
        return merged

    def rank_overlay(
        self, source: str, target: str, strategy: str, choices: Sequence[Choice], ids: Sequence[str]
    ) -> dict[tuple[str, int], Ranked] | None:
        decisions = [
            Decision(UUID(one.item.uid), one.choice, one.item.token, one.text, one.item.kind)
            for one in choices
        ]
        try:
            uids = [UUID(uid) for uid in ids]
            options = build_options(self.actor, source, target, strategy, uids, decisions)
            overlay = build_overlay(load_plan(options, options.points))
        except Day1Error:
            return None  # the merge is refused for the same reason
        if any(change.rid is None for change in overlay.changes):
            return None  # a text that nobody wrote yet has no exact score
        return rank_all(self.actor, target, seq=options.target.head, overlay=overlay)


@given(history=histories)
@random_histories(3)
def test_an_overlay_ranks_as_the_merge_in_any_history(history: list[tuple[str, int, int]]) -> None:
    world = World(RankedTransport(some_actor()))
    for step in [*START, *history]:
        world.play(step)


# ---- many facts, one merge -----------------------------------------------------------------------------

texts = st.lists(st.sampled_from(WORDS), min_size=3, max_size=6).map(" ".join)
places, numbers = st.integers(0, 39), st.integers(0, 5)
changes = st.lists(
    st.tuples(st.sampled_from("write edit delete archive judge tag".split()), places, numbers), max_size=12
)


class Rivals:
    """A branch beside main, both of which change what they have in common."""

    def __init__(self, actor: Actor, said: Sequence[str]) -> None:
        self.actor, self.name = actor, f"task/{uuid7().hex}"
        written = [
            {
                "fact_text": f"{text} {n}",
                "category": ("general", "decision")[n % 2],
                "repository": ("", "github.com/acme/pay")[n % 3 % 2],
                "tags": ["hot"] if n % 5 == 0 else [],
                "session_id": f"s{n % 4}",
            }
            for n, text in enumerate(said)
        ]
        done = facts.write_facts(facts=written, actor=actor, branch_name="main")
        self.uids = [row.fact.uid for row in done.results]
        BranchManager().create_branch(name=self.name, actor=actor)

    def change(self, branch: str, step: tuple[str, int, int], text: str) -> None:
        name, place, number = step
        where = {"branch_name": branch, "actor": self.actor}
        one = {"fact_id": self.uids[place % len(self.uids)], **where}
        work: dict[str, Callable[[], Any]] = {
            "write": lambda: facts.write_fact(
                fact_text=f"{text} {number}?", session_id=f"s{number}", **where
            ),
            "edit": lambda: facts.update_fact(updates={"fact_text": f"{text} {number}"}, **one),
            "delete": lambda: facts.delete_fact(**one),
            "archive": lambda: facts.archive_fact(**one),
            "judge": lambda: facts.set_verification(
                verdict=("verified", "invalidated", "verified")[number % 3], **one
            ),
            "tag": lambda: facts.update_fact(updates={"tags": ["hot"], "priority": "P1"}, **one),
        }
        with suppress(Day1Error):
            work[name]()


def check_merge(
    actor: Actor, said: Sequence[str], steps: Sequence[Any], others: Sequence[Any], number: int
) -> None:
    rivals = Rivals(actor, said)
    for at, step in enumerate(steps):
        rivals.change(
            rivals.name, step, said[at % len(said)][::-1] if number % 2 else f"{said[at % len(said)]} too"
        )
    for at, step in enumerate(others):
        rivals.change("main", step, f"{said[at % len(said)]} here")
    embed_all(actor)
    options = build_options(actor, rivals.name, "main", ("auto", "theirs", "ours")[number % 3], (), ())
    overlay = build_overlay(load_plan(options, options.points))
    found = rank_all(actor, "main", seq=options.target.head, overlay=overlay)
    plain = {"source": rivals.name, "actor": actor, "strategy": options.strategy, "force": True}
    MergeEngine().merge_branch(**plain)
    after = rank_all(actor, "main")
    for key, ranked in found.items():
        check_same(ranked, after[key])


def embed_all(actor: Actor) -> None:
    engine = EmbeddingEngine()
    while engine.embed_pending(actor.project_id, 500):
        pass


@pytest.fixture
def other_texts(other_project: Any) -> None:
    """Write so many texts of another project that one merge changes the index's statistics little.

    No word stands in half of them: there BM25 falls to nothing from one text to the next.
    """
    written = [{"fact_text": f"{WORDS[n % len(WORDS)]} number {n}"} for n in range(600)]
    actor = some_actor(other_project)
    facts.write_facts(facts=written, actor=actor, branch_name="main", deduplicate=False)


some_merge = given(
    said=st.lists(texts, min_size=15, max_size=30), steps=changes, others=changes, number=st.integers(0, 5)
)


@pytest.mark.usefixtures("other_texts")
@some_merge
@random_histories(5)
def test_an_overlay_of_many_facts_ranks_as_the_merge_does(
    said: Any, steps: Any, others: Any, number: int
) -> None:
    check_merge(some_actor(), said, steps, others, number)


@pytest.mark.usefixtures("other_texts")
@some_merge
@random_histories(2)
def test_with_vectors_too(said: Any, steps: Any, others: Any, number: int) -> None:
    with override_settings(DAY1={"embedder": "minilm"}):
        check_merge(some_actor(), said, steps, others, number)
