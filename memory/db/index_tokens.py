"""The tokens that stand beside an indexed text: which branch shows it, and what it can be narrowed by.

Tokens are letters and digits that end in a digit or in o, q, h, j: no stemmer changes them.

A closed version has two tokens that tell its span, so that few words of a query name those that were open
at a seq. Spans hang on the nodes of a binary tree over the seqs (doubled, so that the shortest has a node
too): of those inside the span, on the one that can be halved most often. On the way from the root to a seq
lie all nodes of spans around it. The tokens say how far a span reaches to the left and to the right of its
node, in binary digits, each written as a one: whatever reaches farther begins with the same ones.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from memory.db.indexes import FullTextIndex

OPEN, HELD = "oq", "hj"  # first letter: found by a plain search; second: only when asked for
LEFT, RIGHT = "lm", "rs"  # of a closed version; letters as above


def state_token(branch: int, letters: str, searchable: bool) -> str:
    return f"b{branch}{letters[0 if searchable else 1]}"


def span_tokens(branch: int, seq_from: int, seq_to: int, searchable: bool) -> str:
    """When a closed version was open on its branch: at all seqs from the first, before the second."""
    first, last = 2 * seq_from, 2 * seq_to - 1
    level = (first ^ last).bit_length() - 1
    node = last >> level << level
    left, right = _reach(node, node - first), _reach(node, last - node)
    return f"{state_token(branch, LEFT, searchable)}{left} {state_token(branch, RIGHT, searchable)}{right}"


def point_tokens(branch: int, seq: int, head: int, searchable: bool) -> list[str]:
    """How the tokens begin of the closed versions of a branch that were open at a seq; some of others too."""
    place, found = 2 * seq, []
    for level in range((2 * head + 1).bit_length()):
        node = (place >> level | 1) << level
        side = LEFT if place < node else RIGHT
        reach = node - place if place < node else place + 1 - node
        found.append(f"{state_token(branch, side, searchable)}{_reach(node, reach)}")
    return found


def _reach(node: int, distance: int) -> str:
    return f"{node}n1{'1' * distance.bit_length()}"


def code(field: int, value: str) -> int:
    """A 60-bit number for a value of the index's n-th token column; equal values, equal numbers."""
    digest = hashlib.blake2b(f"{field}={value}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 4


def value_token(field: int, value: str) -> str:
    return f"v{field}n{code(field, value)}"


def tokens(index: FullTextIndex, row: Any, state: str) -> str:
    """All tokens of a row, as one text; ``state`` are those of its branch and state."""
    found = [state]
    for field, name in enumerate(index.tokens):
        if value := getattr(row, name):
            found.append(value_token(field, value))
    return " ".join(found)


def vector_slot(project_id: object, model: str, content_hash: str) -> str:
    """The primary key of the vector that ``model`` made of a text of a project."""
    return vector_slots(project_id, model)(content_hash)


def vector_slots(project_id: object, model: str) -> Callable[[str], str]:
    """The same for many texts: gives the key by content hash."""
    begun = hashlib.sha256(f"{project_id}|{model}|".encode())

    def slot(content_hash: str) -> str:
        digest = begun.copy()
        digest.update(content_hash.encode())
        return digest.hexdigest()[:32]

    return slot
