"""Records that say nearly what others say, or the opposite: compared with the branch and with one another."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from conversations.engines.consolidation.matching import Texts, choose_rare, split_tokens
from curation.engines.fields.imports import CONTRADICTORY, DUPLICATE
from memory.engines.facts.import_lines import Line
from memory.engines.statements.change_words import FUNCTION_WORDS
from memory.engines.statements.claims import split_claims
from memory.engines.statements.standing import Standing, judge_standing
from memory.engines.statements.values import NUMBER, UNIT_FACTORS
from memory.engines.support.similarity import extract_numbers
from memory.models import Fact
from memory.models.hashes import normalise_text

MAX_STORED = 5  # facts of the branch that a text is compared with
MAX_FRESH = 5  # records of the same request, the newest that share a rare word
MAX_LENGTH = 1000  # characters: longer texts are documents, and say many things
WORD_BEFORE = re.compile(r"([^\W\d_]{3,}|[^\W\d_]+(?=-\Z))[\"'#: .-]{1,3}\Z")
ASKS = re.compile(r"[?？]\W*\Z")


@dataclass(frozen=True)
class Statement:
    """A text to compare, with whose it is, when it was said, and its id."""

    text: str
    owner: tuple[str, str]
    at: datetime | None
    uid: str


def find_pairs(rows: Any, lines: Sequence[Line]) -> dict[int, tuple[str, str]]:
    """Return what is found of lines, by number, with the id of the other one; ``rows`` are the branch's."""
    fresh: dict[str, list[Statement]] = defaultdict(list)
    words = {line.number: rare for line in lines if (rare := list_rare(line.row.fact_text))}
    stored = load_alike(rows, words)
    found: dict[int, tuple[str, str]] = {}
    for line in lines:
        if line.number not in words:
            continue
        own, rare = read_line(line), words[line.number]
        others = {one.uid: one for word in rare for one in fresh[word][-MAX_FRESH:]}
        others |= {one.uid: one for one in stored[line.number]}
        if pair := next(list_findings(own, list(others.values())), None):
            found[line.number] = pair
        for word in rare:
            fresh[word].append(own)
    return found


def list_rare(text: str) -> list[str]:
    return choose_rare(split_tokens(text)) if len(text) <= MAX_LENGTH else []


def read_line(line: Line) -> Statement:
    row = line.row
    return Statement(row.fact_text, (row.user_id, row.app_id), row.created_at, str(line.uid or row.uid))


def load_alike(rows: Any, words: Mapping[int, Sequence[str]]) -> Mapping[int, list[Statement]]:
    """Return the facts of the branch that share the rare words of each line, by its number."""
    hits = {
        number: [rid for rid, _ in rows.match_words(rare, MAX_STORED)[0]] for number, rare in words.items()
    }
    rids = {rid for found in hits.values() for rid in found}
    facts = {fact.rid: fact for fact in rows.fetch_by_key("rid", sorted(rids))}
    return {number: read_facts(facts[rid] for rid in rids if rid in facts) for number, rids in hits.items()}


def read_facts(facts: Iterable[Fact]) -> list[Statement]:
    return [
        Statement(one.fact_text, (one.user_id, one.app_id), one.created_at, str(one.uid)) for one in facts
    ]


def list_findings(own: Statement, others: Sequence[Statement]) -> Iterator[tuple[str, str]]:
    """Yield what one says beside the others of the same owner, and beside which."""
    plain, alone = normalise_text(own.text), Texts({own.text: split_tokens(own.text)})
    for other in others:
        if other.owner != own.owner or normalise_text(other.text) == plain:
            continue
        if alone.add_words([other.text]).measure(own.text, other.text):
            yield DUPLICATE, other.uid
        elif contradicts(own, other):
            yield CONTRADICTORY, other.uid


def contradicts(own: Statement, other: Statement) -> bool:
    """Return whether the later one of two replaces the earlier one, and neither asks: two numbers that differ
    are mostly of two things.
    """
    if any(ASKS.search(one.text) for one in (own, other)):
        return False
    numbers = [Counter(extract_numbers(one.text)) for one in (own, other)]
    if (numbers[0] - numbers[1]).total() > 1:
        return False
    is_later = own.at is None or other.at is None or own.at >= other.at
    newer, older = (own, other) if is_later else (other, own)
    if are_numbered_apart(newer.text, older.text):
        return False
    return judge_standing(newer.text, older.text) == Standing.REPLACED


def are_numbered_apart(newer: str, older: str) -> bool:
    """Return whether two texts tell of things with other numbers, "house 1" and "house 2"; a newer one that
    alone says that something changes may tell of the same thing.
    """
    is_new = says_change(newer) and not says_change(older)
    return not is_new and list_numbered(newer) != list_numbered(older)


def says_change(text: str) -> bool:
    return any(claim.is_change and not claim.is_negated for claim in split_claims(text))


def list_numbered(text: str) -> set[tuple[str, str]]:
    """Return the numbers of a text that count nothing, each with the word that it stands behind."""
    plain = text.lower()
    bare = (match for match in NUMBER.finditer(plain) if match.group(2) not in UNIT_FACTORS)
    found = ((WORD_BEFORE.search(plain[: match.start()]), match.group(1)) for match in bare)
    return {(word[1], number) for word, number in found if word and word[1] not in FUNCTION_WORDS}
