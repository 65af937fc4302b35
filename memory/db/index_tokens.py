"""Tokens stored with an indexed text: the branch that shows it, and the values for filtering.

Tokens are letters and digits that end in a digit or in o, q, h, j: no stemmer changes them.

A closed version has two tokens that encode its span, so that few words of a query select the versions that
were open at a seq. Each span belongs to a node of a binary tree over the seqs (doubled, so that the shortest
has a node too): of the nodes inside the span, the one that can be halved most often. The path from the root
to a seq passes all nodes of spans around it. The tokens encode how far a span reaches to the left and to the
right of its node, in binary digits, each written as a one: a longer reach has the shorter one as its prefix.
"""

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any
from unicodedata import category

from memory.db.indexes import FullTextIndex
from memory.word_forms import MARKS, OTHER_FORM, PICTURE, fold_text, split_forms

OPEN, PINNED = "oq", "hj"  # first letter: found by a plain search; second: only on request
LEFT, RIGHT = "lm", "rs"  # of a closed version; letters as above
_SIGNS = re.compile(f"{PICTURE}|[{MARKS}]")  # what an index takes for the end of a word
PRIVATE, PRIVATE_LETTERS = 0xE000, 0x1900  # characters of no meaning, which an index takes for letters


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


@lru_cache(maxsize=4096)
def value_code(field: int, value: str) -> int:
    """Return a 60-bit number for a value of the index's n-th token column; equal values, equal numbers."""
    digest = hashlib.blake2b(f"{field}={value}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 4


def value_token(field: int, value: str) -> str:
    return f"v{field}n{value_code(field, value)}"


def row_tokens(index: FullTextIndex, row: Any, state: str) -> str:
    """Return all tokens of a row as one text; ``state`` are those of its branch and state."""
    return join_tokens(state, *[getattr(row, name) for name in index.tokens])


@lru_cache(maxsize=4096)  # the rows of a commit share their values
def join_tokens(state: str, *values: str) -> str:
    tokens = (value_token(field, value) for field, value in enumerate(values) if value)
    return " ".join([state, *tokens])


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


# ---- segmentation ------------------------------------------------------------------------------------


def space_characters(text: str) -> str:
    """Return the text for the index: words of other than Latin letters in the form that a query looks for,
    with spaces around each unit of an unspaced script.
    """
    if text.isascii():
        return strip_unstorable(text)
    return OTHER_FORM.sub(lambda run: index_run(run[0]), strip_unstorable(text))


def index_run(run: str) -> str:
    folded = " ".join(form for word in split_forms(fold_text(run)) for form in word)
    return f" {spell_signs(folded)} "


def search_phrases(word: str) -> list[str]:
    """Return phrases that find a folded word: its form, or the overlapping pairs of an unspaced run."""
    if word.isascii():  # as most are: no run of such a script
        return [strip_unstorable(word)] if word else []
    found: list[str] = []
    for forms in split_forms(strip_unstorable(word)):
        found += [f"{a} {b}" for a, b in pairwise(forms)] or forms
    return found


def spell_signs(phrase: str) -> str:
    """Return a phrase in characters that an index takes for letters; marks and pictures are none."""
    return phrase if phrase.isascii() else _SIGNS.sub(lambda sign: spell_sign(sign[0]), phrase)


def spell_sign(sign: str) -> str:
    if "\u0300" <= sign < "\u0370":  # the accents of Latin letters, which the index takes off
        return sign
    if category(sign[0])[0] == "M":
        return chr(PRIVATE + ord(sign) % PRIVATE_LETTERS)
    return "u" + "".join(f"{ord(char):x}" for char in sign) + "q"


def strip_unstorable(text: str) -> str:
    """Replace NULs and remove lone surrogates, which no index can store."""
    text = text.replace("\x00", " ")
    return text if text.isascii() else text.encode("utf-8", "ignore").decode()
