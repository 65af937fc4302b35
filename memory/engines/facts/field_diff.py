"""Differences between two versions of a fact, field by field."""

from typing import Any

from memory.engines.facts.rules import compute_essence, is_same
from memory.engines.versions.commits import CommitWriter
from memory.exceptions import StaleVersion
from memory.models import Fact

# Derived fields mean nothing to a reader.
DERIVED = frozenset({"content_hash", "norm_hash", "judged_hash", "held_status", "created_at"})
SHOWN = [name for name in Fact.content_fields() if name not in DERIVED]


def field_changes(old: Fact, new: Fact) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ, each with its old and new value; ``deleted`` included."""
    found = {name: (getattr(old, name), getattr(new, name)) for name in (*SHOWN, "deleted")}
    return {name: both for name, both in found.items() if not is_same(*both)}


def display_changes(old: Fact, new: Fact) -> dict[str, tuple[Any, Any]]:
    """Return the changed fields to display, without an essence that only repeats a changed text."""
    found = field_changes(old, new)
    if "fact_text" in found and all(one.essence == compute_essence(one.fact_text) for one in (old, new)):
        found.pop("essence", None)
    return found


def check_version(commit: CommitWriter, fact: Fact, expected: int | None) -> None:
    """Raise StaleVersion, with the changed fields, unless the fact is at the expected version."""
    if expected is None or fact.version == expected:
        return
    raise build_stale_error(commit.lineage, fact, expected)


def build_stale_error(lineage: Any, fact: Fact, expected: int) -> StaleVersion:
    """Return the refusal for a fact that has changed since it was read; ``changed`` lists the fields."""
    read = Fact.objects.history(lineage, fact.uid).filter(version=expected).first()
    changed = sorted(field_changes(read, fact)) if read else []
    suffix = f" Changed: {', '.join(changed)}." if changed else ""
    return StaleVersion(
        f"{StaleVersion.message}{suffix}", current=fact.version, expected=expected, changed=changed
    )
