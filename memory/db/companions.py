"""Rows that are read together: a row by its key, and those of other models that belong to it.

What a request asks for one by one is noted with its first row, for ``fetch_one`` to find. Where a database
notes nothing, each is read when it is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import connections, models

from memory.db.backend import get_backend, get_features
from memory.db.expressions import ColumnIn
from memory.db.raw_select import (
    ROW,
    Converters,
    Reading,
    all_fields,
    build_instances,
    convert_rows,
    fetch_one,
    note_rows,
    prepare_reading,
    render_conditions,
)

Row = TypeVar("Row", bound=models.Model)
Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Companion:
    """The row of another model whose columns equal SQL of the first row, and how ``fetch_one`` names it."""

    model: type[models.Model]
    equal: Mapping[str, str]  # {column: SQL, in which {t} is the first row}
    get_key: Callable[[Any], Columns]  # of the first row


@dataclass(frozen=True)
class Absence(Companion):
    """Rows of another model of which there mostly are none: only that is noted, for ``fetch_all``."""


@dataclass(frozen=True)
class JoinedReading:
    """A SELECT of a row and its companions."""

    sql: str
    converters: Sequence[Converters]
    widths: Sequence[int]


def fetch_with(model: type[Row], companions: Sequence[Companion], **columns: Any) -> Row | None:
    """Return a row as ``fetch_one`` does, and note its companions in the same statement."""
    using = model._base_manager.db
    notes = get_backend(using).notes
    if not get_features(using).keeps_notes or (model, *columns.items()) in notes:
        return fetch_one(model, **columns)
    read = _prepare(using, model, companions)
    equal = [ColumnIn(model, name, [value]) for name, value in columns.items()]
    text, values = zip(*render_conditions(equal, using), strict=True)
    rows = _fetch(using, read, " AND ".join(text), [value for each in values for value in each])
    own = [row[0] for row in rows[:1] if row[0]]
    note_rows(notes, model, columns, own)
    found = next(iter(build_instances(model, using, own)), None)
    for companion, row in zip(companions, rows[0][1:] if found else (), strict=False):
        if not (row and isinstance(companion, Absence)):
            note_rows(notes, companion.model, companion.get_key(found), [row] if row else [])
    return found


def fetch_all(model: type[Row], **columns: Any) -> list[Row]:
    """Return the few rows with these values in these columns; noted as ``fetch_one`` does."""
    using = model._base_manager.db
    notes, key = get_backend(using).notes, (model, *columns.items())
    if key not in notes:
        equal = [ColumnIn(model, name, [value]) for name, value in columns.items()]
        notes[key] = _prepare_row(using, model).where(*render_conditions(equal, using))
    return build_instances(model, using, notes[key])


def _fetch(using: str, read: JoinedReading, where: str, values: Sequence[Any]) -> list[list[tuple | None]]:
    """Return the rows of each model, None for a companion that is missing."""
    with connections[using].cursor() as cursor:
        cursor.execute(read.sql + where, values)
        whole = convert_rows(connections[using], read.converters, cursor.fetchall())
    return [_split(row, read.widths) for row in whole]


def _split(row: tuple, widths: Sequence[int]) -> list[tuple | None]:
    parts: list[tuple | None] = []
    start = 0
    for width in widths:  # of a companion the first column is its key, which a row has
        part, start = row[start : start + width], start + width
        parts.append(part if part[0] is not None else None)
    return parts


def _prepare(using: str, model: type[models.Model], companions: Sequence[Companion]) -> JoinedReading:
    """Return the statement and its converters, made once for a connection."""
    known = get_backend(using).readings
    key = (JoinedReading, model, *(companion.model for companion in companions))
    if key not in known:
        known[key] = _build(using, model, companions)
    return known[key]


def _build(using: str, model: type[models.Model], companions: Sequence[Companion]) -> JoinedReading:
    quote: Any = connections[using].ops.quote_name
    columns, joins = _name_columns(using, ROW, model), []
    converters, widths = [*_prepare_row(using, model).converters], [len(columns)]
    for number, companion in enumerate(companions):
        alias, table = f"c{number}", quote(companion.model._meta.db_table)
        meta: Any = companion.model._meta
        named = ((meta.get_field(name).column, sql) for name, sql in companion.equal.items())
        on = " AND ".join(f"{alias}.{quote(column)} = {sql.format(t=ROW)}" for column, sql in named)
        if isinstance(companion, Absence):
            own = [f"(SELECT 1 FROM {table} {alias} WHERE {on} LIMIT 1)"]
            converters.append((None, [], None))
        else:
            own = _name_columns(using, alias, companion.model)
            joins.append(f"LEFT JOIN {table} {alias} ON {on}")
            converters += _prepare_row(using, companion.model).converters
        columns += own
        widths.append(len(own))
    table = f"{quote(model._meta.db_table)} {ROW} {' '.join(joins)}"
    return JoinedReading(f"SELECT {', '.join(columns)} FROM {table} WHERE ", converters, widths)


def _name_columns(using: str, alias: str, model: type[models.Model]) -> list[str]:
    return [f"{alias}.{connections[using].ops.quote_name(field.column)}" for field in all_fields(model)]


def _prepare_row(using: str, model: type[models.Model]) -> Reading:
    return prepare_reading(using, model, [field.name for field in all_fields(model)])
