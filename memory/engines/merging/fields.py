"""The fields that a merge compares by themselves, and what becomes of one that both sides changed."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from copy import copy
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple

from memory.db.fields import dumps
from memory.engines.facts.rules import is_same
from memory.models import BranchedModel

ABSENT: Any = object()  # the value of a key that a mapping does not have
GONE: Any = object()  # the value of any field of a deletion
CONFLICT: Any = object()  # the value of a field in which both sides differ, without a rule for it


class Field(NamedTuple):
    """A column, a tag of a set, a key of a mapping, or the columns that state one claim together."""

    name: str
    part: str | None = None


DELETED = Field("deleted")
CLAIM = Field("claim")
Values = Mapping[Field, Any]


class FieldRules:
    """Fields of a kind of memory: how they are read, merged and written."""

    def __init__(self, model: type[BranchedModel]) -> None:
        self.kind = model.KIND
        self.names = [name for name in model.content_fields() if name not in self.kind.derived]
        self._read_values = attrgetter(*self.names)
        self.claim = [name for name in self.names if name in self.kind.claim]
        self._read_claim = attrgetter(*(self.claim or self.names))  # never called where there is none
        self.uncounted = self.kind.origin | self.kind.marks  # fields that are no reason to ask somebody

    def list_differing(self, one: BranchedModel, other: BranchedModel) -> list[Field]:
        """Return the fields in which two versions differ."""
        values = zip(self.names, self._read_values(one), self._read_values(other), strict=True)
        names = [name for name, old, new in values if old != new or not is_same(old, new)]
        fields = dict.fromkeys(field for name in names for field in self._split(name, (one, other)))
        return [
            field
            for field in fields
            if not self.is_equal(field, self.read(one, field), self.read(other, field))
        ]

    def list_fields(self, rows: Iterable[BranchedModel]) -> list[Field]:
        """Return the fields of some versions, with every tag and key that any of them has."""
        found = list(rows)
        return list(dict.fromkeys(field for name in self.names for field in self._split(name, found)))

    def _split(self, name: str, rows: Iterable[BranchedModel]) -> Iterator[Field]:
        if name in self.kind.claim:
            yield CLAIM
        elif name in self.kind.sets | self.kind.mappings:
            yield from (Field(name, part) for row in rows for part in getattr(row, name))
        else:
            yield Field(name)

    def list_columns(
        self, fields: Iterable[Field], one: BranchedModel, other: BranchedModel
    ) -> tuple[str, ...]:
        """Return the columns of some fields in which two versions differ, as far as readers see them."""
        columns = {field.name for field in fields}
        columns |= set(self.claim) if CLAIM.name in columns else set()
        columns -= self.kind.unseen
        names = [name for name in self.names if name in columns]
        return tuple(name for name in names if not is_same(getattr(one, name), getattr(other, name)))

    def list_names(self, fields: Collection[Field], columns: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the fields of some columns, those of a key or a tag behind a point."""
        names: list[str] = []
        for column in columns:
            parts = sorted(field.part for field in fields if field.name == column and field.part is not None)
            names += [f"{column}.{part}" for part in parts] or [column]
        return tuple(names)

    def read(self, row: BranchedModel, field: Field) -> Any:
        """Return what a version says in a field."""
        if field is DELETED or row.deleted:
            return row.deleted if field is DELETED else GONE
        if field == CLAIM:
            return self._read_claim(row)
        value = getattr(row, field.name)
        if field.name in self.kind.sets:
            return field.part in value
        return value.get(field.part, ABSENT) if field.name in self.kind.mappings else value

    def is_equal(self, field: Field, one: Any, other: Any) -> bool:
        """Return whether two values of a field are the same; of a key as JSON, in which 1 is not true."""
        if one is other or not is_same(one, other):
            return one is other
        is_json = field.name in self.kind.mappings and not isinstance(one, str)
        return not is_json or dumps(one) == dumps(other)

    def is_nothing(self, field: Field, value: Any) -> bool:
        """Return whether a memory that was never there would say the same: it has no tags and no keys."""
        return value is ABSENT or (field.name in self.kind.sets and not value)

    def combine(self, field: Field, ours: Any, theirs: Any) -> Any:
        """Return the merged value of a field in which both sides differ; CONFLICT where no rule is."""
        name = field.name
        if name in self.kind.origin:
            return ours
        if name in self.kind.sets:
            return True
        if name in self.kind.ordered:
            return max(ours, theirs, key=self.kind.ordered[name].index)
        values = [value for value in (ours, theirs) if value is not None]
        if name in self.kind.maxima:
            return max(values)
        return min(values) if name in self.kind.minima else CONFLICT

    def write(self, row: BranchedModel, values: Values) -> dict[str, Any]:
        """Return the content of a version in which some fields have other values."""
        changed = {
            field: value
            for field, value in values.items()
            if not self.is_equal(field, self.read(row, field), value)
        }
        return complete_content(row, self.write_columns(row, changed)) if changed else row.content_values()

    def write_columns(self, row: BranchedModel, values: Values) -> dict[str, Any]:
        """Return the columns of some fields, in which a version has other values."""
        content: dict[str, Any] = {}
        for field, value in values.items():
            if field == CLAIM:
                content |= zip(self.claim, value, strict=True)
            elif field.part is None:
                content[field.name] = value
            else:
                before = content.get(field.name, getattr(row, field.name))
                content[field.name] = self._write_part(before, field, value)
        return content

    def _write_part(self, before: Any, field: Field, value: Any) -> Any:
        """Return a list with or without a tag, or a mapping with another value of a key."""
        if field.name in self.kind.sets:
            others = [part for part in before if part != field.part]
            return before if value == (field.part in before) else [*others, field.part] if value else others
        if value is not ABSENT:
            return {**before, field.part: value}
        return {key: kept for key, kept in before.items() if key != field.part}


@cache
def get_rules(model: type[BranchedModel]) -> FieldRules:
    return FieldRules(model)


def complete_content(row: BranchedModel, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a version with some fields changed, and its derived fields."""
    draft = copy(row)
    for name, value in content.items():
        setattr(draft, name, value)
    if compute := getattr(draft, "compute_hashes", None):
        compute()
    return draft.content_values()
