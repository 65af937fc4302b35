"""Whether a text says over again what a person laid down, and nothing else. Pure functions, no model.

An agent confirms what it was told in words of its own ("Agreed: tabs rather than spaces"). That is no
statement of its own, whatever words of choosing it has.
"""

from collections import defaultdict
from collections.abc import Iterable

from memory.engines.statements.change_words import ALONE
from memory.engines.statements.claims import cut, list_named, split_claims, split_clauses
from memory.engines.support.similarity import extract_numbers
from memory.patterns import lazy_pattern

MIN_SAID_SHARE = 0.5  # of what the person said, which the other text has to say again
AND_NOT = lazy_pattern(r"(?i)\s(?:and not|und nicht|et pas|y no|e não)\s")
# By which an agent says that it has understood, and that it goes on so.
AGREEING = frozenset(
    cut(word)
    for word in """decision decided agreed agree settled noted understood confirmed remember went going go
    chose chosen picked stick switched adopt keep kept use using used prefer preferred preference rather
    instead always never rule rules convention from now on per request project repository repo code
    codebase forward future everywhere throughout all every any user wants asked entscheidung
    entschieden verstanden notiert verwenden verwende nutzen nutze nehmen benutzen anstelle künftig
    immer décidé compris noté utiliser utilisons utilise toujours plutôt décision désormais
    entendido decidido anotado usar usamos usaremos siempre sempre anotei combinado 後""".split()
) - {""}


class Sayings:
    """What persons said, by its roots, so that a text is compared with the few that have all of its own."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._by_root = defaultdict[str, list[str]](list)
        for text in texts:
            for root in read_roots(text):
                self._by_root[root].append(text)

    def says(self, text: str) -> bool:
        """Return whether a text rewords one of them."""
        own = read_roots(text)
        rarest = min(own, key=lambda root: len(self._by_root.get(root, ())), default="")
        return any(rewords(text, statement) for statement in self._by_root.get(rarest, ()))


def rewords(text: str, statement: str) -> bool:
    """Return whether a text has no subject, value or name beside those of a statement, and neither denies nor
    chooses otherwise.
    """
    own, other = read_roots(text), read_roots(statement)
    shared = own & other
    if not shared or own - other or len(shared) < MIN_SAID_SHARE * len(other):
        return False
    if set(extract_numbers(text)) - set(extract_numbers(statement)):
        return False
    limits = {bool(ALONE.search(one.lower())) for one in (text, statement)}
    return len(limits) == 1 and not contradicts(text, statement)


def read_roots(text: str) -> frozenset[str]:
    return frozenset(list_named(text)) - AGREEING


def contradicts(one: str, other: str) -> bool:
    """Return whether one of two texts has what the other turns down, and does not turn it down itself."""
    (has, lacks), (other_has, other_lacks) = map(read_sides, (one, other))
    return bool((has - lacks) & (other_lacks - other_has) or (lacks - has) & (other_has - other_lacks))


def read_sides(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the roots of what a text says to hold, and of what it turns down."""
    has, lacks = set[str](), set[str]()
    for claim in split_claims(AND_NOT.sub(", not ", text)):
        for part in split_clauses(claim) or [claim]:
            rejected = frozenset[str]().union(*part.given_up, *part.turned_down) & part.words
            rejected = part.words if part.is_negated and not rejected else rejected
            lacks |= rejected
            has |= part.words - rejected
    return frozenset(has - AGREEING), frozenset(lacks - AGREEING)
