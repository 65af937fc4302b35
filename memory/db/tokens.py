"""The tokens that stand beside an indexed text: which branch shows it, and what it can be narrowed by.

Tokens are letters and digits that end in a digit or in o, q, h, j: no stemmer changes them.
"""

import hashlib
from collections.abc import Callable
from typing import Any

from memory.db.indexes import FullTextIndex

OPEN, HELD = "oq", "hj"  # first letter: found by a plain search; second: only when asked for


def state_token(branch: int, letters: str, searchable: bool) -> str:
    return f"b{branch}{letters[0 if searchable else 1]}"


def code(field: int, value: str) -> int:
    """A 60-bit number for a value of the index's n-th token column; equal values, equal numbers."""
    digest = hashlib.blake2b(f"{field}={value}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 4


def value_token(field: int, value: str) -> str:
    return f"v{field}n{code(field, value)}"


def tokens(index: FullTextIndex, row: Any, letters: str) -> str:
    """All tokens of a row, as one text."""
    found = [state_token(row.branch_id, letters, row.searchable)]
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
