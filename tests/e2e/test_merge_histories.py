"""Random histories over REST of a running server, judged by the causal model of tests/memory/merging."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.amounts import is_thorough
from tests.memory.fake_provider import FakeProvider
from tests.memory.merging.near_texts import teach
from tests.memory.merging.rest_transport import RestTransport
from tests.memory.merging.test_random_histories import BACK, ENDS, NEAR, OTHERS, START, TWINS, WRITES
from tests.memory.merging.world import World
from tests.up_process import Up, provisioned

STEPS = 30
SEEDS = 12 if is_thorough() else 1  # the engines play the same steps, without a server
MERGES = ["merge", "merge", "sync"]


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    folder: Path = tmp_path_factory.mktemp("histories") / "data"
    with FakeProvider() as provider:
        teach(provider)
        with Up(provisioned(folder), "--no-worker", **describe_provider(provider)) as up:
            yield up


def describe_provider(provider: FakeProvider) -> dict[str, str]:
    """Return the environment that lets a server take its vectors from a provider."""
    options = provider.settings(batch=64)
    names = {
        "DAY1_EMBEDDER": "embedder",
        "DAY1_EMBEDDING_MODEL": "embedding_model",
        "OPENAI_BASE_URL": "embedding_base_url",
        "OPENAI_API_KEY": "embedding_api_key",
    }
    return {variable: str(options[name]) for variable, name in names.items()}


def draw_history(seed: int) -> list[tuple[str, int, int]]:
    random = Random(seed)
    groups = random.choices(
        [[*WRITES, *ENDS, *OTHERS, *TWINS], NEAR, MERGES, [*BACK, "erase", "fork"]], [4, 2, 3, 1], k=STEPS
    )
    return [(random.choice(group), random.randrange(4), random.randrange(30)) for group in groups]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(SEEDS))
def test_nothing_is_lost_silently_over_rest(up: Up, seed: int) -> None:
    world = World(RestTransport(up, f"history-{seed}"))
    for step in [*START, *draw_history(seed)]:
        world.play(step)
    world.check_past()
