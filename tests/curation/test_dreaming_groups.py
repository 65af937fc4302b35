"""Groups of dreaming with the embedder of a new server and the settings of a new project."""

from collections.abc import Sequence
from typing import Any

import pytest

from curation.engines.dreaming.engine import DreamEngine
from memory.actors import Actor
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.facts.engine import FactEngine
from memory.models import Branch

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CLOCK = [
    "The login fails when the server's clock is wrong.",
    "Login breaks if the clock of the server is off.",
    "Users cannot log in while the server clock runs ahead.",
]
FRIDAYS = [
    "Deploys on Friday are forbidden.",
    "Nobody may deploy on a Friday.",
    "We never ship to production on Fridays.",
]
PAYMENTS = [
    "The payment test is flaky on CI.",
    "On CI the payment tests fail now and then.",
    "The test of payments fails randomly in the pipeline.",
]
OTHERS = [
    "The login page has a captcha.",
    "Sessions expire after one hour.",
    "Friday is the day of the team lunch.",
    "The release branch is called stable.",
    "Payments go through Stripe.",
    "Refunds take five days.",
    "Tests run with pytest.",
    "The build server has 64 cores.",
    "Dates are shown in the user's format.",
    "The office is in Lisbon.",
    "Log files are kept for 30 days.",
    "The search API returns JSON.",
]


@pytest.fixture(autouse=True)
def local_model(settings: Any, main: Branch) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}


def find_groups(actor: Actor, texts: Sequence[str]) -> list[set[str]]:
    """Return the texts of each group that a run on these observations would propose."""
    FactEngine().write_facts(facts=[{"fact_text": text} for text in texts], actor=actor)
    while EmbeddingEngine().embed_pending(actor.project_id):
        pass
    found = DreamEngine().consolidate(actor=actor, dry_run=True).changes
    return [{text for text in texts if text in one.fact.fact_text} for one in found]


@pytest.mark.parametrize("others", [[], OTHERS])
def test_both_of_two_obvious_groups_become_reflections(actor: Actor, others: list[str]) -> None:
    groups = find_groups(actor, [*CLOCK, *FRIDAYS, *others])
    assert sorted(groups, key=len) == [set(CLOCK), set(FRIDAYS)]


def test_groups_of_one_field_stay_apart(actor: Actor) -> None:
    groups = find_groups(actor, [*PAYMENTS, *CLOCK, *FRIDAYS])
    assert sorted(map(sorted, groups)) == sorted(map(sorted, (PAYMENTS, CLOCK, FRIDAYS)))


def test_what_has_nothing_in_common_is_no_group(actor: Actor) -> None:
    assert find_groups(actor, [*OTHERS, CLOCK[0], FRIDAYS[0], PAYMENTS[0]]) == []
