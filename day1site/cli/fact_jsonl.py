"""One fact, one line of JSON: what an export writes and an import reads."""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

NEW, KNOWN, BROKEN = "new", "known", "broken"
BATCH = 1000

# What a line says beside the fields of a new fact; as memory.engines.transfer has it.
OWN = frozenset(("id", "status", "held_status", "created_at", "links"))
TOLD = frozenset(
    (
        "verification_status", "verified_at", "verified_by", "verification_method", "verification_reason",
        "confirmation_count", "access_count", "last_accessed_at", "embedding_state", "embedding_model",
        "content_hash", "updated_at", "version", "branch", "source_type",
    )
)  # fmt: skip
# The fields of a new fact; as memory.engines.fact_rules has them.
FIELDS = frozenset(
    (
        "fact_text", "essence", "category", "kind", "priority", "confidence", "parent_id", "source_id",
        "source", "origin", "visibility", "created_cycle", "updated_cycle", "valid_from", "valid_until",
        "expires_at", "pinned", "tags", "metadata", "session_id", "task_id", "agent_id",
    )
)  # fmt: skip
STATUSES = ("created", "active", "done", "superseded", "archived")
# Not exported: it says something about this store, not about the fact.
LEFT_OUT = frozenset(
    ("access_count", "last_accessed_at", "embedding_state", "embedding_model", "content_hash", "branch")
)
OF_LINK = ("to_id", "link_type", "weight", "valid_from", "valid_until")


@dataclass(frozen=True)
class Outcome:
    """What became of one line."""

    number: int
    state: str
    fact_id: Any = None
    reason: str = ""


def line_of(fact: Mapping[str, Any], links: Sequence[Mapping[str, Any]]) -> str:
    """A fact and the links that lead from it, as one line; empty values are left out."""
    found = {n: v for n, v in fact.items() if n not in LEFT_OUT and v not in (None, "", [], {})}
    if links:
        found["links"] = [{n: link[n] for n in OF_LINK if link.get(n) is not None} for link in links]
    return json.dumps(found, ensure_ascii=False)


def read(lines: Iterable[bytes]) -> Iterator[tuple[int, Any, str]]:
    """(number, what it holds, why it is broken) of each line that is not blank."""
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode())
            reason = "" if isinstance(value, dict) else "invalid: A line must hold one JSON object."
            yield number, value, reason
        except UnicodeDecodeError:
            yield number, None, "invalid: The line is not UTF-8."
        except (ValueError, RecursionError):
            yield number, None, "invalid: The line is not JSON."


def fault(line: Mapping[str, Any]) -> str:
    """What is wrong with a line, as far as it shows without a store; "" when nothing is."""
    given = {name: value for name, value in line.items() if value is not None}
    links = given.get("links", [])
    if unknown := given.keys() - FIELDS - OWN - TOLD:
        return f"unknown_field: There is no field named {min(unknown)}."
    if not isinstance(given.get("fact_text"), str):
        return "invalid: fact_text is needed."
    if "id" in given and not as_uuid(given["id"]):
        return "invalid: id must be a UUID."
    if given.get("status", "active") not in STATUSES:
        return f"invalid: status must be one of {', '.join(sorted(STATUSES))}."
    if given.get("status") == "done" and given.get("kind") != "TASK":
        return "invalid: Only a fact of kind TASK can be done."
    if not isinstance(links, list) or not all(isinstance(link, dict) and link.get("to_id") for link in links):
        return "invalid: links must be a list of objects with to_id and link_type."
    return ""


def as_uuid(text: Any) -> str:
    try:
        return str(UUID(text))
    except (TypeError, ValueError, AttributeError):
        return ""


def normalise(text: str) -> str:
    """The form under which two texts are the same; as memory.models.hashes has it."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
