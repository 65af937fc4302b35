"""One fact, one line of JSON: what an export writes and an import reads."""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from day1site.cli.declared_fields import field_choices, field_names, list_fields
from memory.texts import MAX_DEPTH, is_deep

NEW, KNOWN, BROKEN = "new", "known", "broken"
BATCH_SIZE = 1000
MAX_LINE_DEPTH = MAX_DEPTH - 2  # a request holds lines in a list

WRITTEN = field_names("fact", "create") | field_names("fact", "state")
DERIVED_FIELDS = field_names("fact", "ignored")
# The fields of a new fact, and what a line may hold besides.
FIELDS = WRITTEN - DERIVED_FIELDS
LINE_FIELDS = (field_names("fact", "import") - WRITTEN) | {"links"}
STATUSES = field_choices("fact", "status")
# Not exported: it says something about this store, not about the fact.
OMITTED_FIELDS = field_names("fact", "answer") - field_names("fact", "export")
LINK_FIELDS = [field["name"] for field in list_fields("link", "create", "export")]


@dataclass(frozen=True)
class Outcome:
    """The result of one line."""

    number: int
    state: str
    fact_id: Any = None
    reason: str = ""


def format_line(fact: Mapping[str, Any], links: Sequence[Mapping[str, Any]]) -> str:
    """Return a fact and the links that lead from it as one line; empty values are left out."""
    fields = {n: v for n, v in fact.items() if n not in OMITTED_FIELDS and v not in (None, "", [], {})}
    if links:
        fields["links"] = [{n: link[n] for n in LINK_FIELDS if link.get(n) is not None} for link in links]
    return json.dumps(fields, ensure_ascii=False)


def read_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, Any, str]]:
    """Yield the number, the content and the fault of each line that is not blank."""
    for number, line in enumerate(lines, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if not line.strip():
            continue
        try:
            value = json.loads(line.decode())
            yield number, value, find_wrong_form(value)
        except UnicodeDecodeError:
            yield number, None, "invalid: The line is not UTF-8."
        except (ValueError, RecursionError):
            yield number, None, "invalid: The line is not JSON."


def find_wrong_form(value: Any) -> str:
    """Return why a value is no line; "" for one that is."""
    if not isinstance(value, dict):
        return "invalid: A line must hold one JSON object."
    return (
        f"invalid: The line is nested more than {MAX_LINE_DEPTH} deep."
        if is_deep(value, MAX_LINE_DEPTH)
        else ""
    )


def find_fault(line: Mapping[str, Any]) -> str:
    """Return what is wrong with a line, as far as it shows without a store; "" when nothing is."""
    fields = {name: value for name, value in line.items() if value is not None}
    links = fields.get("links", [])
    if unknown := fields.keys() - FIELDS - LINE_FIELDS - DERIVED_FIELDS:
        return f"unknown_field: There is no field named {min(unknown)}."
    if not isinstance(fields.get("fact_text"), str):
        return "invalid: fact_text is needed."
    if "id" in fields and not as_uuid(fields["id"]):
        return "invalid: id must be a UUID."
    if fields.get("status", "active") not in STATUSES:
        return f"invalid: status must be one of {', '.join(sorted(STATUSES))}."
    if fields.get("status") == "done" and fields.get("kind") != "TASK":
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
    """Return the form under which two texts are the same; as memory.models.hashes has it."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
