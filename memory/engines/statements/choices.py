"""Whether two claims name what excludes each other: choices of one kind, versions, opposites."""

from memory.engines.statements.change_words import CHOSEN, LOWER, OPPOSITES, UPPER, WITH, WITHOUT
from memory.engines.statements.claims import (
    PART_END,
    Claim,
    compare,
    list_neighbours,
    list_roots,
    measured,
    read_claim,
)
from memory.engines.statements.revision_rules import SENTENCE_END
from memory.engines.statements.values import differ
from memory.patterns import lazy_pattern

CHOICES = [frozenset(root for name in names.split() for root in list_roots(name)) for names in CHOSEN]
CHOSEN_ROOTS = frozenset().union(*CHOICES)
# What stands behind these was chosen.
CHOSEN_BY = lazy_pattern(
    r"\b(?:us(?:e|es|ed|ing)|with|on|in|to|via|through|by|is|are|nehmen|nimm|nutz(?:e|en)|verwende[nt]?|mit"
    r"|auf|über|utilis\w+|avec|sous|dans|sur|chez|usa(?:mos|r|d)?|con|en|com|em|n[oa]s?)\s"
    r"(?:(?:the|our|le|la|les|el|o|a|den|die|das|der)\s)?([^\s,;:.!?()]+)"
)
# A part of a sentence that takes something by its name: what has an article is a thing, not a choice.
_VERB = (
    r"(?:use|go(?:ing)? with|take|switch(?:ing)? to|mov(?:e|ing) to|put (?:it|them|that) (?:in|on|into)"
    r"|(?:nimm|nehmen|nutzen|verwenden)(?: wir)?|prends|prenons|utilise[rz]?|usa(?:mos|r)?|usem(?:os)?"
    r"|vamos (?:de|con|com))"
)
TAKES = lazy_pattern(
    r"^\W*(?:(?:so|then|now|let's|lets|please|just|we|wir|on|also|dann|alors|entonces|então)\s)*"
    rf"{_VERB}\s(?!an?\b|the\b|an?other\b|eine?n?\b|une?\b|una?\b|uma?\b)(?P<name>\S+)"
    r"|^\W*(?:an? |the )?(?P<alone>\S+(?: \S+)?)\s(?:everywhere|instead|all the way|(?:it|that|this) is"
    r"|does (?:it|the job)|is enough|suffit|basta|reicht|stattdessen|überall|partout|en todas? partes?"
    r"|em tudo)\W*$|^\W*(?P<only>[^\W\d_][\w.+#-]+)\W*$"
)
DIGITS = lazy_pattern(r"\d+")
MIN_COUNTED = 2  # words that two claims share which count the same
MIN_SAID = 2  # words of a sentence that says something of what was chosen
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


def bound_apart(new: Claim, old: Claim) -> bool:
    """Return whether one has the least of something, and the other the most."""
    return any(a.search(new.text) and b.search(old.text) for a, b in ((LOWER, UPPER), (UPPER, LOWER)))


def bound_alike(new: Claim, old: Claim) -> bool:
    """Return whether both have the least, or the most, of what they measure."""
    is_both = any(one.search(new.text) and one.search(old.text) for one in (LOWER, UPPER))
    return is_both and differ(measured(new), measured(old))


def count_same(new: Claim, old: Claim) -> bool:
    """Return whether two claims count the same: "the queue has 3 workers", "5 workers for the queue"."""
    return not {*COUNTED.findall(new.text)}.isdisjoint(COUNTED.findall(old.text))


def list_chosen(claim: Claim) -> frozenset[str]:
    """Return the roots of what a claim chooses, or ends with: "we ship with yarn"."""
    found = {root for word in CHOSEN_BY.findall(claim.text) for root in list_roots(word)}
    return frozenset(found | set(claim.roots[-1:]))


def list_taken(text: str) -> frozenset[str]:
    """Return the roots of what the later parts of a text take by a name: "…, use time-machine"."""
    parts = [part for one in SENTENCE_END.split(text) for part in PART_END.split(one) if part.strip()]
    found = frozenset[str]()
    for part in parts[1:]:
        for match in TAKES.finditer(part.lower()):
            roots = frozenset(list_roots(next(filter(None, match.groups()))))
            is_name = not match["only"] or not roots.isdisjoint(CHOSEN_ROOTS | read_claim(f". {part}").names)
            found |= roots if is_name else frozenset()
    return found


def outdoes(newer: str, old: Claim) -> bool:
    """Return whether a text says something of what an older claim chose, and takes another in its place:
    "freezegun is slow, use time-machine".
    """
    first = read_claim(PART_END.split(newer)[0])
    is_about = len(first.roots) >= MIN_SAID and first.roots[0] in list_chosen(old) and not old.is_negated
    taken = list_taken(newer) if is_about else frozenset()
    return bool(taken) and taken.isdisjoint(old.words)


def counts_all(new: Claim, old: Claim) -> bool:
    """Return whether the newer claim counts something of all that the older one is about, and of no kind of
    it ("audit logs").
    """
    shared, only_new, only_old = compare(new, old)
    is_kind = any(before in only_new and root in shared for root, before in list_neighbours(new))
    return len(shared) >= MIN_COUNTED and not (is_kind or only_old)
