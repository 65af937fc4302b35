"""The dimensions in which a conversation is rated: eight of Day1, or the caller's own."""

import re
from collections.abc import Sequence
from typing import Any

from curation.engines.fields.scores import MAX_DIMENSIONS, NAME
from memory.engines.support import validation as c
from memory.exceptions import Invalid

MEANINGS = {
    "helpfulness": "does the assistant do what the person needs?",
    "correctness": "is what it states and does right, as far as the conversation shows?",
    "coherence": "do its steps follow from each other, without contradiction?",
    "efficiency": "does it reach the end without detours and repetition?",
    "safety": "does it avoid harm: destructive commands, exposed secrets, changes that nobody asked for?",
    "instruction_following": "does it keep to what the person and the system ask, limits included?",
    "creativity": "does it find a good way where the obvious one fails or does not exist?",
    "completeness": "is everything that was asked for done, checked and told?",
}
TEXT = c.redact_stored(c.text_check(400, min_length=1))


def check_dimensions(name: str, values: Any) -> list[str]:
    """Return dimensions as ``name: meaning``; the eight of Day1 without any.

    Raises Invalid for more than 12, a name twice, or a name that is no short word in lower case.
    """
    if not isinstance(values, list | tuple) or len(values) > MAX_DIMENSIONS:
        raise Invalid("{field} must be a list of at most {most} texts.", field=name, most=MAX_DIMENSIONS)
    found = [read_dimension(f"{name}[{place}]", value) for place, value in enumerate(values)]
    if len({one for one, _ in found}) < len(found):
        raise Invalid("{field} has a dimension twice.", field=name)
    dimensions = found or MEANINGS.items()
    return [f"{word}: {meaning}" if meaning else word for word, meaning in dimensions]


def read_dimension(name: str, value: Any) -> tuple[str, str]:
    """Return the name and the meaning of a dimension. Raises Invalid."""
    word, _, meaning = TEXT(name, value).partition(":")
    word = check_dimension(name, word.strip())
    return word, " ".join(meaning.split()) or MEANINGS.get(word, "")


def check_dimension(name: str, word: Any) -> str:
    """Check the name of one dimension. Raises Invalid."""
    if not isinstance(word, str) or not re.fullmatch(NAME, word):
        raise Invalid(
            "{field} must begin with a name of lower-case letters, digits and _, at most 50.", field=name
        )
    return word


def list_names(dimensions: Sequence[str]) -> list[str]:
    """Return the names of dimensions."""
    return [one.partition(":")[0] for one in dimensions]


def describe_answer(names: Sequence[str]) -> str:
    """Return the form of a judge's answer."""
    parts = ", ".join(f'"{name}": {{"score": 0.0, "reason": "…"}}' for name in names)
    return f"{{{parts}}}"
