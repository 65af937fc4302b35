"""Plain facts of a person's life: where they live, whom they have, what they do, eat and plan.

The words stand in ``personal_facts.toml``. Pure functions, no database.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

PERSONAL = frozenset("family home work health diet plan interest personal".split())
MAX_LENGTH = 300  # characters of a sentence: a longer one tells of more
MIN_REST = 1  # characters that say something of a relative
OLDER = r"(?: (?:older|younger|little|big|eldest|oldest|youngest|best|ex|late|new|two|three|kleine|große))*"
NAME = r"(?-i:[A-ZÄÖÜÉ])[\w'’-]*+"  # in Chinese and Japanese there is only the relation
CALLED = r"(?:is )?(?:called|named|name is|heißt|s'appelle|se llama|se chama)"
RELATIVE = (
    r"\A(?:\W*\w+)?(?:\W*\w+)?\W*\b(?:{my})" + OLDER + r" (?P<kin>{kin})(?:'s \w+|’s \w+)?\b"
    rf"(?:,? {CALLED} (?P<called>{NAME})|(?:,? (?P<name>{NAME}))?,? ?(?:{{does}})\b)"
    r"|\A\W*(?:我|咱|我们|我家)的?(?P<zh>{zh})(?![说问和])|\A\W*(?:私の|うちの)?(?P<ja>{ja})(?:の\w+)?[はがも]"
)
WHO = ("called", "name", "kin", "zh", "ja")
NAMED = r"\A(?!(?:he|she|it|they|we|this|that|who|what)\b)(?P<name>(?-i:[A-Z][a-zà-ÿ]+)) (?:{named})\b"


@dataclass(frozen=True)
class PersonalFact:
    """What a sentence tells of a person; ``slot`` names what there is one of, ``person`` who it is about: ""
    for the speaker.
    """

    category: str
    slot: str = ""
    person: str = ""


@dataclass(frozen=True)
class Words:
    """The compiled words of the file."""

    excluded: re.Pattern[str]
    relative: re.Pattern[str]
    having: re.Pattern[str]
    named: re.Pattern[str]
    broad: re.Pattern[str]
    passing: re.Pattern[str]
    rules: tuple[tuple[str, str, re.Pattern[str]], ...]


@lru_cache(maxsize=1024)
def read_personal(sentence: str, is_chat: bool = False) -> PersonalFact | None:
    """Return what a sentence tells of a person's life, None for any other.

    In a chat, which belongs to no repository, whatever somebody says of themselves and theirs is such a fact.
    """
    words = load_words()
    if len(sentence) > MAX_LENGTH or words.excluded.search(sentence):
        return None
    found = next(_iterate_read(words, sentence), None)
    if found or not is_chat or not words.broad.search(sentence) or words.passing.search(sentence):
        return found
    return PersonalFact("personal")


def replaces_personally(newer: str, older: str) -> bool:
    """Return whether a newer sentence tells otherwise what the same person has one of."""
    new = read_personal(newer)
    return new is not None and bool(new.slot) and new == read_personal(older)


@cache
def load_words() -> Words:
    text = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    parts = tomllib.loads(text)
    rules = parts.pop("rules")
    joined = {name: "|".join(alternatives) for name, alternatives in parts.items()}
    return Words(
        compile_words(f"{joined['technical']}|{joined['idle']}"),
        compile_words(RELATIVE.format(**joined)),
        compile_words(joined["having"]),
        compile_words(NAMED.format(**joined)),
        compile_words(joined["broad"]),
        compile_words(joined["passing"]),
        tuple((one["category"], one["slot"], compile_words("|".join(one["words"]))) for one in rules),
    )


def compile_words(pattern: str) -> re.Pattern[Any]:
    return re.compile(pattern, re.IGNORECASE)


def _iterate_read(words: Words, sentence: str) -> Iterator[PersonalFact]:
    found = words.relative.search(sentence)
    if found and len(sentence) > found.end() + MIN_REST:
        yield PersonalFact("family", "", next(filter(None, map(found.group, WHO))))
    if words.having.search(sentence):
        yield PersonalFact("family")
    for category, slot, pattern in words.rules:
        if found := pattern.search(sentence):
            yield PersonalFact(category, slot.format((found.groupdict().get("what") or "").lower()))
    if found := words.named.search(sentence):
        yield PersonalFact("family", "", found["name"])


def describe_person(category: str, text: str) -> dict[str, dict[str, str]]:
    """Return the metadata of a plain fact of a person's life: a name, a relation, or user for who speaks."""
    if category not in PERSONAL:
        return {}
    found = read_personal(text)
    return {"metadata": {"person": (found and found.person) or "user"}}
