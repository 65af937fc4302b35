"""Lines of a file of facts: what one states, and by which ids and text it is known."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.utils import timezone

from memory.db.lineage import EndUser
from memory.engines.facts import rules
from memory.engines.facts.batch import CURRENT
from memory.engines.facts.item_paths import check_path, check_value, find_places
from memory.engines.facts.known_texts import TextKey
from memory.engines.fields.base import Use
from memory.engines.fields.facts import FACT
from memory.engines.fields.links import LINK
from memory.engines.support import validation as c
from memory.engines.versions.erased import as_uuid
from memory.exceptions import Invalid
from memory.models import Fact, FactAssessment, FactLink
from memory.models.end_users import get_owner
from memory.redaction import redact_text

Status = Fact.Status
# Fields of a line in addition to those of every new fact.
LINE_FIELDS = FACT.field_checks(Use.IMPORT, Use.CREATE | Use.STATE)
# Derived fields: an export writes them, and an import ignores them.
DERIVED = frozenset(FACT.field_names(Use.IGNORED))
LINK_CHECKS = LINK.field_checks(Use.IMPORT | Use.CREATE)
LINK_DERIVED = frozenset(LINK.field_names(Use.IGNORED))


@dataclass
class Line:
    """Parsed line: the fact it becomes, and the ids that identify it."""

    number: int
    row: Fact
    names: tuple[UUID, ...] = ()
    parent: UUID | None = None
    links: list[Mapping[str, Any]] = field(default_factory=list)
    uid: UUID | None = None  # of the stored fact
    verdict: dict[str, str] | None = None  # of a fact that was invalidated

    @property
    def current(self) -> bool:
        expires = self.row.expires_at
        if self.verdict:
            return False
        return self.row.status in CURRENT and (expires is None or expires > timezone.now())


@dataclass(frozen=True)
class Link:
    number: int
    from_uid: UUID
    fields: dict[str, Any]


def sort_ids(lines: Sequence[Line]) -> None:
    """Sort the new ids into the order of the lines: ids of the same millisecond have none of their own."""
    lines = [line for line in lines if not line.row.path]  # that of an item follows from its path
    for line, uid in zip(lines, sorted(line.row.uid for line in lines), strict=True):
        line.row.uid = uid


def set_metadata(row: Fact, own: Mapping[str, Any]) -> None:
    """Set the fields that only an import may set: status and creation time. Raises Invalid."""
    row.source_id = str(own["id"]) if "id" in own else row.source_id
    row.status = own.get("status", Status.ACTIVE)
    row.held_status = own.get("held_status", "") if row.status == Status.ARCHIVED else ""
    if Status.DONE in (row.status, row.held_status) and row.kind != Fact.Kind.TASK:
        raise Invalid("Only a fact of kind TASK can be done.", field="status")
    if row.held_status == Status.ARCHIVED:
        raise Invalid("held_status is the status before archived.", field="held_status")
    if since := own.get("created_at"):
        if since > timezone.now():
            raise Invalid("created_at is in the future.", field="created_at")
        row.created_at = since


def set_path(row: Fact, own: Mapping[str, Any]) -> None:
    """Make an item of a line that has a key. Raises Invalid."""
    row.embed = False if own.get("embed") is False else None
    if own.get("value") is not None:
        row.value = check_value(own.get("key") or "value", own["value"])
    if own.get("key") is not None:
        row.path = check_path(own.get("namespace"), own["key"])
        row.compute_hashes()


def place_items(rows: Any, project_id: UUID, lines: Sequence[Line]) -> set[UUID]:
    """Name the lines of items by the ids of their paths; return those that are taken."""
    items: dict[EndUser, list[Line]] = defaultdict(list)
    for line in lines:
        if line.row.path:
            items[get_owner(line.row)].append(line)
    taken = set[UUID]()
    for owner, own in items.items():
        places = find_places(rows, project_id, [str(line.row.path) for line in own], owner)
        taken |= {row.uid for row in places.taken.values()}
        for line in own:
            path = str(line.row.path)
            line.row.uid = places.taken[path].uid if path in places.taken else places.free[path]
            line.names = (line.row.uid, *line.names)
    return taken


def list_ids(own: UUID | None, fields: Mapping[str, Any]) -> tuple[UUID, ...]:
    """Return the ids of a line: its own, and the one it was itself imported from."""
    from_import = fields.get("source_type") in Fact.IMPORTED
    before = as_uuid(fields.get("source_id")) if from_import else None
    return tuple(name for name in (own, before) if name)


def list_link_ends(line: Line) -> Iterable[UUID]:
    return [*([line.parent] if line.parent else []), *(link["to_id"] for link in line.links)]


def parse_links(fields: Any) -> list[Mapping[str, Any]]:
    if not isinstance(fields, list) or not all(isinstance(link, Mapping) for link in fields):
        raise Invalid("links must be a list of objects.", field="links")
    return [parse_link(link) for link in fields]


def parse_link(fields: Mapping[str, Any]) -> dict[str, Any]:
    content = {n: v for n, v in fields.items() if n not in LINK_DERIVED and v is not None}
    found = c.validate(content, LINK_CHECKS)
    if "to_id" not in found or "link_type" not in found:
        raise Invalid("A link needs to_id and link_type.", field="links")
    if found.setdefault("to_type", FactLink.Target.FACT) != FactLink.Target.FACT:
        raise Invalid("A link in a file leads to a fact.", field="links")
    rules.check_interval(found.get("valid_from"), found.get("valid_until"))
    return found


def was_proposed(fact: Fact, active: set[tuple]) -> bool:
    """Return whether a line states as active, by id and text, a fact that is only a proposal."""
    return fact.status == Status.CREATED and (fact.uid, fact.norm_hash) in active


def edge_key(link: FactLink) -> tuple:
    return link.from_id, link.to_id, link.to_type, link.link_type


def get_text_key(line: Line) -> TextKey | None:
    """Return the text key of a line; None for a line that has an id and is not current."""
    if line.current:
        return line.row.norm_hash, "current"
    return None if line.names else (line.row.norm_hash, str(line.row.status))


def read_verdict(fields: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the verdict of a line whose fact was invalidated: a search must not find it here either.

    All other verdicts count where they were given, and the heuristic's nowhere. A line that does not say by
    which method may be corrected by a judge or a person of here. Raises Invalid.
    """
    if fields.get("verification_status") != FactAssessment.Status.INVALIDATED:
        return None
    method = str(fields.get("verification_method"))
    if method == FactAssessment.Method.HEURISTIC:
        return None
    known = method in FactAssessment.Method.values
    reason = c.text_check(2000)("verification_reason", fields.get("verification_reason", ""))
    return {
        "status": FactAssessment.Status.INVALIDATED.value,
        "method": method if known else FactAssessment.Method.JUDGE.value,
        "reason": redact_text(reason),
    }
