"""How much a test that draws its cases draws: `make nightly` plays the profile ``thorough``."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from hypothesis import settings

USUAL_EXAMPLES = 100  # the suite's profile has fewer, the thorough one more


def is_thorough() -> bool:
    return settings().max_examples > USUAL_EXAMPLES


def take_share(cases: Sequence[Any], share: int) -> Sequence[Any]:
    """Return every so many of the cases, others each day; of a thorough run all."""
    return cases if is_thorough() else cases[date.today().toordinal() % share :: share]
