"""The arithmetic of scores, on plain values."""

from datetime import UTC, datetime, timedelta
from math import isnan, nan
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import ranking
from memory.engines.facts.assessment import Assessment
from memory.engines.facts.derived_trust import Verdict
from memory.engines.search.fact_rows import Row, list_inputs
from memory.ranking import RECIPES, RankingInputs

NOW = datetime(2026, 5, 1, tzinfo=UTC)
PLAIN = {"age": 0.0, "verified": False, "priority": "P3", "confidence": 1.0, "confirmations": 0}


def make_inputs(*facts):
    """Return the columns of facts, each with what is other than in a plain one."""
    ages, verified, priorities, confidence, confirmations = zip(
        *({**PLAIN, **fact}.values() for fact in facts), strict=True
    )
    numbers = map(np.array, (ages, verified, confidence, confirmations))
    ages, verified, confidence, confirmations = numbers
    return RankingInputs(ages, verified, priorities, confidence, confirmations)


def test_recipes():
    told = {
        r.name: (r.keyword, r.vector, r.words, r.replies, r.half_life_days, r.pool) for r in RECIPES.values()
    }
    assert told == {
        "seed": (0.3, 0.7, 0.0, False, 30.0, 100),
        "hybrid": (0.4, 0.6, 0.0, False, 30.0, 100),
        "words": (0.2, 0.3, 0.5, False, 30.0, 100),
        "answers": (0.2, 0.3, 0.5, True, 30.0, 100),
        "default": (0.2, 0.3, 0.5, True, 30.0, 100),
        "timeless": (0.2, 0.3, 0.5, True, 0, 100),
    }
    for name in ("default", "timeless"):
        recipe = RECIPES[name]
        assert (recipe.mix, recipe.reply_by_other, recipe.reply_share) == (True, True, 0.95)
        assert recipe.length_allowance == 0.06
    for recipe in RECIPES.values():
        assert (recipe.verified, recipe.p1, recipe.p2) == (1.05, 1.05, 1.02)
        assert (recipe.confidence, recipe.confirmation) == (0.1, 0.02)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([4.0, 2.0, 0.0], [1.0, 0.5, 0.0]),
        ([0.5, -0.5], [1.0, 0.0]),
        ([-1.0, -2.0], [0.0, 0.0]),
        ([0.0], [0.0]),
        ([nan, 4.0, 1.0], [nan, 1.0, 0.25]),
        ([nan, nan], [nan, nan]),
        ([nan, -1.0], [nan, 0.0]),
    ],
)
def test_shares_of_the_best(scores, expected):
    assert ranking.normalise_scores(np.array(scores)) == pytest.approx(expected, nan_ok=True)


@given(st.lists(st.floats(-1e6, 1e6) | st.just(nan), max_size=20))
def test_shares_lie_between_0_and_1(scores):
    found = ranking.normalise_scores(np.array(scores))
    assert np.isnan(found).tolist() == np.isnan(scores).tolist()
    assert all(0 <= value <= 1 for value in found if not isnan(value))


@pytest.mark.parametrize(
    ("arms", "expected"),
    [
        ({"keyword": True, "vector": True}, {"keyword": 0.4, "vector": 0.6}),
        ({"keyword": True, "vector": True, "words": True}, {"keyword": 0.2, "vector": 0.3, "words": 0.5}),
        ({"keyword": True, "vector": False, "words": False}, {"keyword": 1.0, "vector": 0.0, "words": 0.0}),
        ({"keyword": False, "vector": True}, {"keyword": 0.0, "vector": 1.0}),
        (
            {"keyword": False, "vector": True, "words": True},
            {"keyword": 0.0, "vector": 0.375, "words": 0.625},
        ),
        ({"keyword": False, "vector": False}, {"keyword": 0.0, "vector": 0.0}),
    ],
)
def test_weights_move_to_what_was_found(arms, expected):
    assert ranking.arm_weights(RECIPES["default"], arms) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("age", "half_life", "expected"),
    [
        (0, 30, 1.0),
        (30, 30, 0.75),
        (60, 30, 0.625),
        (-5, 30, 1.0),
        (1e9, 30, 0.5),
        (99, 0, 1.0),
        (99, -1, 1.0),
    ],
)
def test_recency(age, half_life, expected):
    assert ranking.recency_factors(np.array([age]), half_life) == pytest.approx([expected])


@pytest.mark.parametrize(
    ("change", "name", "factor"),
    [
        ({}, "verification", 1.0),
        ({"verified": True}, "verification", 1.05),
        ({"priority": "P1"}, "priority", 1.05),
        ({"priority": "P2"}, "priority", 1.02),
        ({"priority": "P4"}, "priority", 1.0),
        ({"confidence": 0.0}, "confidence", 0.9),
        ({"confidence": 0.7}, "confidence", 0.97),
        ({"confirmations": 1}, "confirmations", 1.02),
        ({"confirmations": 5}, "confirmations", 1.1),
        ({"confirmations": 500}, "confirmations", 1.1),
    ],
)
def test_boosts(change, name, factor):
    assert ranking.boost_factors(RECIPES["seed"], make_inputs(change))[name] == pytest.approx([factor])


def test_a_score_is_the_product_of_its_parts():
    fact = {"age": 30.0, "verified": True, "priority": "P1", "confidence": 0.5, "confirmations": 2}
    parts = {"keyword": np.array([1.0, 0.0]), "vector": np.array([0.5, 0.0])}
    relevance = ranking.weigh_parts({"keyword": 0.3, "vector": 0.7}, parts)
    scores, factors = ranking.score_hits(RECIPES["seed"], relevance, make_inputs(fact, {}))
    assert scores == pytest.approx([0.65 * 0.75 * 1.05 * 1.05 * 0.95 * 1.04, 0.0])
    assert {name: values[0] for name, values in factors.items()} == pytest.approx(
        {"recency": 0.75, "verification": 1.05, "priority": 1.05, "confidence": 0.95, "confirmations": 1.04}
    )


def test_without_arms_all_scores_are_0():
    relevance = ranking.weigh_parts({}, {"keyword": np.zeros(2)})
    scores, _ = ranking.score_hits(RECIPES["seed"], relevance, make_inputs({}, {}))
    assert scores.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("cycle", "age"), [(None, 900.0), (34, 30.0)])
def test_cycles_take_the_place_of_days(cycle, age):
    row = Row(1, UUID(int=1), "", "", NOW - timedelta(days=900), updated_cycle=4)
    assert list_inputs([row], {}, NOW, cycle).ages == pytest.approx([age])


def test_only_a_verdict_on_the_present_text_counts():
    verdicts = [Verdict(UUID(int=1), text, "verified", "human", "", "", NOW, NOW) for text in "ab"]
    rows = [Row(rid, UUID(int=rid), "", "", NOW, judged_hash="a") for rid in (1, 2, 3)]
    beliefs = {1: Assessment(verdicts[0], 2), 2: Assessment(verdicts[1], 1)}
    found = list_inputs(rows, beliefs, NOW, None)
    assert (found.verified.tolist(), found.confirmations.tolist()) == ([True, False, False], [2, 1, 0])


def test_length_counts_less_than_the_index_has_it():
    def weigh(scores, lengths):
        return ranking.length_normalise(np.array(scores), np.array(lengths, dtype=float)).tolist()

    assert weigh([], []) == []
    assert weigh([2.0, 1.0], [7, 7]) == pytest.approx([2.0 * 2.2 / 2.2, 1.0])
    short, long = weigh([1.0, 1.0], [5, 15])
    assert short < 1 < long
    assert weigh([1.0], [0]) == pytest.approx([1.9 / 1.54 / (2.2 / 1.3)])
    assert weigh([1.0, nan], [7, 700]) == pytest.approx([1.0, nan], nan_ok=True)  # the mean is of hits


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("東京", 2), ("abc東京", 3), ("é" * 8, 2), ("😀😀", 2)],
)
def test_tokens(text, expected):
    assert ranking.count_tokens(text) == expected


@pytest.mark.parametrize(
    ("marked", "limit", "expected"),
    [
        ([], 10, []),
        ([False] * 3, 2, [0, 1]),
        ([True] * 10, 10, [0, 1, 2]),
        ([True, False], 1, [1]),
        ([True, True, True, True, False, False], 10, [0, 1, 2, 4, 5]),
        ([True] * 100, 100, list(range(30))),
    ],
)
def test_marked_ones_take_a_part(marked, limit, expected):
    assert ranking.cap_share(marked, limit, 0.3) == expected


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 100))
def test_never_more_than_the_part_and_in_order(marked, limit):
    chosen = ranking.cap_share(marked, limit, 0.3)
    assert chosen == sorted(set(chosen))
    assert len(chosen) <= limit
    assert sum(marked[i] for i in chosen) * 10 <= limit * 3
