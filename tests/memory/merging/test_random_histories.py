"""Random histories of branches and merges, judged by a causal model: nothing is lost without a decision."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.amounts import is_thorough
from tests.memory.fake_provider import FakeProvider
from tests.memory.merging.near_texts import teach
from tests.memory.merging.transports import EngineTransport
from tests.memory.merging.world import World
from tests.memory.test_branches import some_actor
from tests.memory.test_versions import random_histories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

WRITES = "add add place edit edit retell adjust adjust put_back put_back tag confirm".split()
ENDS = "expire archive unarchive delete delete_twice replace judge judge".split()
OTHERS = "link unlink relate relate close observe talk say say hang_up".split()
TWINS = "absorb absorb link_twin link_twin judge_twin confirm_twin".split()
NEAR = "approach approach approach reword".split()
BACK = "undo regret regret restore".split()
ASIDE = "whisper whisper quarantine".split()

branches, numbers = st.integers(0, 3), st.integers(0, 29)
writes = st.tuples(st.sampled_from([*WRITES, *ENDS, *OTHERS]), branches, numbers)
near = st.tuples(st.sampled_from(NEAR), branches, numbers)
twins = st.tuples(st.sampled_from(TWINS), branches, numbers)
merges = st.tuples(st.sampled_from(["merge", "merge", "sync", "cross"]), branches, numbers)
steps = st.one_of(
    writes,
    writes,
    near,
    twins,
    merges,
    merges,
    st.tuples(st.sampled_from([*BACK, *ASIDE, "erase", "fork"]), branches, numbers),
)
# Both sides begin with something in common.
START = [("add", 0, 0), ("add", 0, 1), ("relate", 0, 0), ("talk", 0, 0), ("say", 0, 0), ("fork", 0, 1)]
# A fact is linked and judged after a merge has absorbed it.
ABSORBED = [("add", 0, 5), ("add", 1, 5), ("merge", 0, 0), ("link_twin", 1, 0), ("judge_twin", 1, 1)]
# Facts that nearly say the same are decided in each way, edited and asked about anew.
ASKED = [("approach", 0, 0), ("approach", 1, 1), ("approach", 1, 2)]
# Both sides have agreed to several versions, of which one side takes values back.
CROSSED = [
    ("adjust", 0, 1),
    ("adjust", 1, 5),
    ("cross", 0, 0),
    ("put_back", 0, 1),
    ("merge", 1, 0),
    ("sync", 0, 0),
]
# A merge is taken back, and others edit beside what it brought.
TAKEN = [
    ("adjust", 1, 5),
    ("merge", 0, 0),
    ("regret", 0, 0),
    ("adjust", 0, 3),
    ("merge", 0, 0),
    ("sync", 1, 0),
]
# What was erased stays so after a restore, a revert and a merge in both directions.
GONE = [("edit", 1, 0), ("erase", 1, 0), ("merge", 0, 0), ("merge", 1, 0), ("undo", 0, 0), ("restore", 1, 1)]
# What a quarantine hides is merged like anything else, and stays hidden.
HIDDEN = [("whisper", 1, 1), ("quarantine", 0, 0), ("merge", 0, 0), ("whisper", 0, 2), ("sync", 1, 0)]
# The profile "thorough" plays 160 histories of 60 steps.
MAX_STEPS = 60 if is_thorough() else 28
histories = st.lists(steps, min_size=15, max_size=MAX_STEPS)


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as provider:
        teach(provider)
        yield provider


@pytest.fixture(autouse=True)
def embedder(provider: FakeProvider, request: Any) -> None:
    settings = request.getfixturevalue("settings")
    settings.DAY1 = {**settings.DAY1, **provider.settings(batch=64)}


@example(history=[*ABSORBED, ("merge", 0, 0)])
@example(history=[*ASKED, ("merge", 0, 9), ("sync", 0, 0), ("regret", 0, 0), ("merge", 0, 10)])
@example(history=[*ASKED, ("merge", 0, 10), ("edit", 1, 0), ("merge", 0, 11), ("merge", 1, 9)])
@example(history=[*ASKED, ("merge", 0, 11), ("sync", 0, 0), ("merge", 0, 12), ("sync", 1, 0)])
@example(history=[*ASKED, ("merge", 0, 12), ("sync", 0, 0), ("merge", 0, 15), ("merge", 0, 18)])
@example(history=[*GONE, ("merge", 0, 0), ("sync", 0, 0)])
@example(history=[*CROSSED, *TAKEN, ("delete_twice", 0, 1), ("cross", 1, 2), ("sync", 0, 0)])
@example(history=[*HIDDEN, ("regret", 0, 0), ("merge", 0, 9), ("quarantine", 0, 0), ("sync", 0, 0)])
@example(history=[*ASKED, *GONE, ("erase", 0, 2), ("merge", 0, 9), ("regret", 0, 0), ("merge", 0, 10)])
@given(history=histories)
@random_histories(20)
def test_nothing_is_lost_silently(history: list[tuple[str, int, int]]) -> None:
    world = World(EngineTransport(some_actor()))
    for step in [*START, *history]:
        world.play(step)
    world.check_past()


def test_histories_have_repositories_and_ends() -> None:
    """What the steps are for is really there: the engine takes both."""
    world = World(EngineTransport(some_actor()))
    for step in (("place", 0, 1), ("add", 0, 0), ("expire", 0, 1)):
        world.play(step)
    facts = [row.fields for (kind, _), row in world.lines["main"].shown[-1].items() if kind == "fact"]
    assert sorted(fact["repository"] for fact in facts) == ["", "github.com/acme/r1"]
    assert sorted(fact["expires_at"] is not None for fact in facts) == [False, True]
