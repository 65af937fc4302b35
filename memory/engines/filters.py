"""The filters of facts, the same for lists, search, explanation and every surface."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, ClassVar, Self
from uuid import UUID

from django.db.models import Q, Value

from memory.db.expressions import Holds
from memory.db.fields import dumps
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.engines import cleaning as c
from memory.engines.belief import with_verification
from memory.exceptions import Invalid
from memory.models import Fact, FactAssessment

NARROWING = ("category", "kind", "status", "session_id", "agent_id")  # the index knows these as tokens


def several(check: c.Check) -> c.Check:
    """One value or a list of up to 50, as a tuple; texts may be separated by commas."""

    def checked(name: str, value: Any) -> tuple:
        values = value.split(",") if isinstance(value, str) else value
        if not isinstance(values, list | tuple) or not 0 < len(values) <= 50:
            raise Invalid("{field} must be a value or a list of 1 to 50.", field=name)
        return tuple(check(name, item) for item in values)

    return checked


def _flag(name: str, value: Any) -> bool:
    return c.boolean(
        name, {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
    )


def _fraction(name: str, value: Any) -> float:
    try:
        return c.number(0, 1)(name, float(value) if isinstance(value, str) else value)
    except ValueError:
        raise Invalid("{field} must be a number from 0 to 1.", field=name) from None


CHECKS: dict[str, c.Check] = {
    "category": several(c.text(100, least=1)),
    "kind": several(c.one_of(Fact.Kind.values)),
    "status": several(c.one_of(Fact.Status.values)),
    "session_id": several(c.text(200, least=1)),
    "agent_id": several(c.text(200, least=1)),
    "task_id": several(c.text(200, least=1)),
    "priority": several(c.one_of(Fact.Priority.values)),
    "visibility": several(c.one_of(Fact.Visibility.values)),
    "source_type": several(c.one_of(Fact.SourceType.values)),
    "origin": several(c.one_of(Fact.Origin.values)),
    "tags": several(c.text(100, least=1)),
    "verification_status": c.one_of(FactAssessment.Status.values),
    "min_confidence": _fraction,
    "max_confidence": _fraction,
    "created_after": c.moment,
    "created_before": c.moment,
    "valid_at": c.moment,
    "valid_after": c.moment,
    "valid_before": c.moment,
    "pinned": _flag,
    "parent_id": c.identifier,
}


class Filter:
    """What all filters share. A subclass is a frozen dataclass; ``CHECKS`` has the check of each field."""

    CHECKS: ClassVar[Mapping[str, c.Check]]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """From what a caller gave; empty values are left out. Raises UnknownField, Invalid."""
        given = {name: value for name, value in values.items() if value not in (None, "", [], ())}
        return cls(**c.clean(given, cls.CHECKS))

    def said(self) -> dict[str, Any]:
        """The filters that are set, by name."""
        names = [f.name for f in fields(self)]  # type: ignore[arg-type]
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "", ())}


@dataclass(frozen=True)
class FactFilter(Filter):
    """Facts that have all of these; a tuple means one of its values, but ``tags`` means all of them."""

    CHECKS = CHECKS

    category: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    session_id: tuple[str, ...] = ()
    agent_id: tuple[str, ...] = ()
    task_id: tuple[str, ...] = ()
    priority: tuple[str, ...] = ()
    visibility: tuple[str, ...] = ()
    source_type: tuple[str, ...] = ()
    origin: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    verification_status: str = ""
    min_confidence: float | None = None
    max_confidence: float | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    valid_at: datetime | None = None
    valid_after: datetime | None = None
    valid_before: datetime | None = None
    pinned: bool | None = None
    parent_id: UUID | None = None

    def apply(self, rows: VersionedQuerySet, lineage: Lineage, archived: bool = False) -> VersionedQuerySet:
        """The rows with all of these. On an ``archived`` branch every fact reads as archived."""
        for name, value in self.said().items():
            if name == "status" and archived:
                rows = rows if Fact.Status.ARCHIVED in value else rows.none()
            elif name in NARROWING:
                rows = rows.narrowed(**{name: value})
            else:
                rows = rows.filter(*_conditions(name, value, lineage))
        return rows

    def each(self) -> dict[str, Self]:
        """Every filter by itself, to find the one that leaves something out."""
        return {name: replace(type(self)(), **{name: value}) for name, value in self.said().items()}


def _conditions(name: str, value: Any, lineage: Lineage) -> list[Any]:
    if name == "tags":
        return [_tagged(dumps(tag)) for tag in value]
    if name == "verification_status":
        return [with_verification(value, lineage)]
    if isinstance(value, tuple):
        return [Q(**{f"{name}__in": value})]
    return [_RANGES[name](value) if name in _RANGES else Q(**{name: value})]


def _tagged(tag: str) -> Q:
    """A search in the JSON text: the production database cannot look into lists.

    With what stands before it in a list; a quoted word inside another tag has a backslash there.
    """
    first, later = (Holds("tags", Value(before + tag)) for before in ("[", ","))
    return Q(first) | Q(later)


_RANGES: dict[str, Any] = {
    "min_confidence": lambda v: Q(confidence__gte=v),
    "max_confidence": lambda v: Q(confidence__lte=v),
    "created_after": lambda v: Q(created_at__gte=v),
    "created_before": lambda v: Q(created_at__lt=v),
    "valid_at": lambda v: _from_before(v, "lte") & _until_after(v),
    "valid_after": lambda v: _until_after(v),
    "valid_before": lambda v: _from_before(v, "lt"),
}


def _from_before(when: datetime, lookup: str) -> Q:
    return Q(valid_from=None) | Q(**{f"valid_from__{lookup}": when})


def _until_after(when: datetime) -> Q:
    return Q(valid_until=None) | Q(valid_until__gt=when)
