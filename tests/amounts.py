"""How much a test that draws its cases draws: `make nightly` plays the profile ``thorough``."""

import os
from collections.abc import Sequence
from datetime import date
from typing import Any

from hypothesis import settings

# Of the process that starts the others: all must collect the same tests, past midnight too.
TODAY = int(os.environ.setdefault("DAY_OF_TESTS", str(date.today().toordinal())))
USUAL_EXAMPLES = 100  # the suite's profile has fewer, the thorough one more


def is_thorough() -> bool:
    return settings().max_examples > USUAL_EXAMPLES


def take_share(cases: Sequence[Any], share: int) -> Sequence[Any]:
    """Return every so many of the cases, others each day; of a thorough run all."""
    return cases if is_thorough() else cases[TODAY % share :: share]
