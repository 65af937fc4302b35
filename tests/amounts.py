"""How much a test that draws its cases draws: `make nightly` plays the profile ``thorough``."""

from hypothesis import settings

USUAL_EXAMPLES = 100  # the suite's profile has fewer, the thorough one more


def is_thorough() -> bool:
    return settings().max_examples > USUAL_EXAMPLES
