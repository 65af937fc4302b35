"""Whether two claims name what excludes each other: choices of one kind, versions, opposites."""

from memory.engines.statements.change_words import CHOSEN, OPPOSITES, WITH, WITHOUT
from memory.engines.statements.claims import Claim, compare, list_roots
from memory.patterns import lazy_pattern

CHOICES = [frozenset(root for name in names.split() for root in list_roots(name)) for names in CHOSEN]
CHOSEN_ROOTS = frozenset().union(*CHOICES)
DIGITS = lazy_pattern(r"\d+")
COUNTED = lazy_pattern(r"\d+ ([^\W\d_]{3,}s)\b")


def are_choices(new: Claim, old: Claim) -> bool:
    """Return whether they differ in what a thing has mostly one of, and one of both says no more."""
    _, only_new, only_old = compare(new, old)
    is_said = new.is_change or new.is_correction
    return any(only_new <= names or (is_said and only_old <= names) for names in find_choices(new, old))


def find_choices(new: Claim, old: Claim) -> list[frozenset[str]]:
    """Return the choices of which each has one that the other has not; v1 and v2 are such."""
    _, only_new, only_old = compare(new, old)
    versions = [frozenset((a, b)) for a in only_new for b in only_old if are_versions(a, b)]
    return [one for one in (*CHOICES, *versions) if one & only_new and one & only_old]


def are_versions(one: str, other: str) -> bool:
    return one[:1].isalpha() and DIGITS.sub("", one) == DIGITS.sub("", other) and bool(DIGITS.search(one))


def turns_round(new: Claim, old: Claim) -> bool:
    """Return whether one is with what the other is without: "without VAT", "with VAT"."""
    with_, without = ([set(one.findall(claim.text)) for claim in (new, old)] for one in (WITH, WITHOUT))
    return bool(with_[0] & without[1] or without[0] & with_[1])


def are_opposites(new: Claim, old: Claim) -> bool:
    words = [set(claim.text.replace(",", " ").replace(".", " ").split()) for claim in (new, old)]
    return any(
        (a in words[0] and b in words[1]) or (b in words[0] and a in words[1])
        for a, b in (pair.split() for pair in OPPOSITES.split("|"))
    )


def count_same(new: Claim, old: Claim) -> bool:
    """Return whether two claims count the same: "the queue has 3 workers", "5 workers for the queue"."""
    return not {*COUNTED.findall(new.text)}.isdisjoint(COUNTED.findall(old.text))
