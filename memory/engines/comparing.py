"""What differs between two versions of a fact, field by field and word by word."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from memory.engines.commits import CommitWriter
from memory.engines.fact_rules import essence_of, same
from memory.exceptions import StaleVersion
from memory.models import Fact

# Fields that are worked out from the others say nothing to a reader.
DERIVED = frozenset({"content_hash", "norm_hash", "judged_hash", "held_status", "created_at"})
SHOWN = [name for name in Fact.content_fields() if name not in DERIVED]
# A word, a sign or an ideograph (those are written without spaces), with the space that follows it.
CJK = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
PIECE = re.compile(rf"(?:[{CJK}]|[^\W{CJK}]+|[^\w\s])\s*|\s+")
MOST = 1_000_000  # pairs of pieces that are compared within a moment


def field_changes(old: Fact, new: Fact) -> dict[str, tuple[Any, Any]]:
    """The fields that differ, each with its old and its new value; ``deleted`` among them."""
    found = {name: (getattr(old, name), getattr(new, name)) for name in (*SHOWN, "deleted")}
    return {name: both for name, both in found.items() if not same(*both)}


def told_changes(old: Fact, new: Fact) -> dict[str, tuple[Any, Any]]:
    """The same without a line for a prompt that only says the changed text again."""
    found = field_changes(old, new)
    if "fact_text" in found and all(one.essence == essence_of(one.fact_text) for one in (old, new)):
        found.pop("essence", None)
    return found


def word_diff(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Pieces of both texts in reading order: ("same" | "removed" | "added", text).

    Texts of more than about a thousand words are told as one removed and one added.
    """
    a, b = PIECE.findall(old), PIECE.findall(new)
    if len(a) * len(b) > MOST:
        yield from (pair for pair in (("removed", old), ("added", new)) if pair[1])
        return
    for kind, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "same", "".join(a[a0:a1])
            continue
        if a0 < a1:
            yield "removed", "".join(a[a0:a1])
        if b0 < b1:
            yield "added", "".join(b[b0:b1])


def read_since(commit: CommitWriter, fact: Fact, expected: int | None) -> None:
    """Raises StaleVersion, with what changed, when the fact is not at the version that was read."""
    if expected is None or fact.version == expected:
        return
    raise stale(commit.lineage, fact, expected)


def stale(lineage: Any, fact: Fact, expected: int) -> StaleVersion:
    """The refusal for a fact that was read at another version; ``changed`` has the fields."""
    read = Fact.objects.history(lineage, fact.uid).filter(version=expected).first()
    changed = sorted(field_changes(read, fact)) if read else []
    said = f" Changed: {', '.join(changed)}." if changed else ""
    return StaleVersion(
        f"{StaleVersion.message}{said}", current=fact.version, expected=expected, changed=changed
    )
