"""Tokens stored with an indexed text: the branch that shows it, and the values for filtering.

Tokens are letters and digits that end in a digit or in o, q, h, j: no stemmer changes them.

A closed version has two tokens that encode its span, so that few words of a query select the versions that
were open at a seq. Each span belongs to a node of a binary tree over the seqs (doubled, so that the shortest
has a node too): of the nodes inside the span, the one that can be halved most often. The path from the root
to a seq passes all nodes of spans around it. The tokens encode how far a span reaches to the left and to the
right of its node, in binary digits, each written as a one: a longer reach has the shorter one as its prefix.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from memory.db.indexes import FullTextIndex

OPEN, PINNED = "oq", "hj"  # first letter: found by a plain search; second: only on request
LEFT, RIGHT = "lm", "rs"  # of a closed version; letters as above


def state_token(branch: int, letters: str, searchable: bool) -> str:
    return f"b{branch}{letters[0 if searchable else 1]}"


def span_tokens(branch: int, seq_from: int, seq_to: int, searchable: bool) -> str:
    """Return tokens for the span of a closed version on its branch: from ``seq_from``, before ``seq_to``."""
    first, last = 2 * seq_from, 2 * seq_to - 1
    level = (first ^ last).bit_length() - 1
    node = last >> level << level
    left, right = reach_token(node, node - first), reach_token(node, last - node)
    return f"{state_token(branch, LEFT, searchable)}{left} {state_token(branch, RIGHT, searchable)}{right}"


def point_tokens(branch: int, seq: int, head: int, searchable: bool) -> list[str]:
    """Return token prefixes that match all closed versions of a branch open at a seq, and some others."""
    point, found = 2 * seq, []
    for level in range((2 * head + 1).bit_length()):
        node = (point >> level | 1) << level
        side = LEFT if point < node else RIGHT
        reach = node - point if point < node else point + 1 - node
        found.append(f"{state_token(branch, side, searchable)}{reach_token(node, reach)}")
    return found


def reach_token(node: int, distance: int) -> str:
    return f"{node}n1{'1' * distance.bit_length()}"


def value_code(field: int, value: str) -> int:
    """Return a 60-bit number for a value of the index's n-th token column; equal values, equal numbers."""
    digest = hashlib.blake2b(f"{field}={value}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 4


def value_token(field: int, value: str) -> str:
    return f"v{field}n{value_code(field, value)}"


def row_tokens(index: FullTextIndex, row: Any, state: str) -> str:
    """Return all tokens of a row as one text; ``state`` are those of its branch and state."""
    found = [state]
    for field, name in enumerate(index.tokens):
        if value := getattr(row, name):
            found.append(value_token(field, value))
    return " ".join(found)


def vector_slot(project_id: object, model: str, content_hash: str) -> str:
    """Return the primary key of the vector that ``model`` made of a text of a project."""
    return vector_slots(project_id, model)(content_hash)


def vector_slots(project_id: object, model: str) -> Callable[[str], str]:
    """Return a function that maps content hashes to such keys."""
    begun = hashlib.sha256(f"{project_id}|{model}|".encode())

    def make_slot(content_hash: str) -> str:
        digest = begun.copy()
        digest.update(content_hash.encode())
        return digest.hexdigest()[:32]

    return make_slot
