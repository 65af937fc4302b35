"""Columns of few rows by a key: for such a statement the ORM works longer than the database."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connections, models

from memory.db.expressions import Condition, OneOf, Written, marks

Row = TypeVar("Row", bound=models.Model)
MOST = 30_000  # values of a statement
ROW = "t"  # how the table is called in these statements


class Reading:
    """Some columns of a model, as the ORM would give them."""

    def __init__(self, connection: Any, model: type[models.Model], columns: Sequence[str]) -> None:
        quote = connection.ops.quote_name
        fields: list[Any] = [model._meta.get_field(name) for name in columns]
        names = ", ".join(f"{ROW}.{quote(field.column)}" for field in fields)
        self.connection = connection
        self.sql = f"SELECT {names} FROM {quote(model._meta.db_table)} {ROW} WHERE "
        self.converters = [converters(connection, field) for field in fields]

    def where(self, *conditions: tuple[str, Sequence[Any]], lock: bool = False) -> list[tuple]:
        """The rows that meet all conditions, each an SQL text with its values; ``lock`` holds them until
        the transaction ends, where the database does not hold everything anyway.
        """
        sql, values = _all(conditions)
        if lock and self.connection.features.has_select_for_update:
            sql = f"{sql} {self.connection.ops.for_update_sql()}"
        with self.connection.cursor() as cursor:
            cursor.execute(self.sql + sql, values)
            rows = cursor.fetchall()
        return converted(self.connection, self.converters, rows)


def converted(connection: Any, of: Sequence[tuple[Any, list[Any]]], rows: Sequence[tuple]) -> list[tuple]:
    """The rows with their values as the ORM gives them; ``of`` are the converters of their columns."""
    columns = list(zip(*rows, strict=True))
    for place, (expression, steps) in enumerate(of if rows else ()):
        for step in steps:
            columns[place] = tuple(step(value, expression, connection) for value in columns[place])
    return list(zip(*columns, strict=True))


def converters(connection: Any, field: Any) -> tuple[Any, list[Any]]:
    """How a column's values become those of the ORM."""
    column = field.get_col(field.model._meta.db_table)
    return column, [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]


def reading(using: str, model: type[models.Model], columns: Sequence[str]) -> Reading:
    """The Reading of these columns, made once for a connection."""
    known: dict[Any, Reading] = connections[using].readings  # type: ignore[attr-defined]
    key = (model, *columns)
    if key not in known:
        known[key] = Reading(connections[using], model, columns)
    return known[key]


def written(conditions: Iterable[Condition], using: str) -> list[tuple[str, Sequence[Any]]]:
    """The conditions on the row that a Reading reads."""
    return [condition.at(ROW).written(connections[using]) for condition in conditions]


def _all(conditions: Sequence[tuple[str, Sequence[Any]]]) -> tuple[str, list[Any]]:
    text = " AND ".join(text for text, _ in conditions)
    return text, [value for _, values in conditions for value in values]


def exists(
    using: str, model: type[models.Model], conditions: Iterable[Condition], key: str
) -> tuple[str, Sequence[Any]]:
    """That the row with this key, given as SQL, meets the conditions."""
    quote: Any = connections[using].ops.quote_name
    pk: Any = model._meta.pk
    shown, values = _all(written(conditions, using))
    one = f"SELECT 1 FROM {quote(model._meta.db_table)} {ROW} WHERE {ROW}.{quote(pk.column)} = {key}"
    return f"EXISTS ({one} AND {shown})", values


def by_key(
    using: str,
    model: type[models.Model],
    columns: Sequence[str],
    key: tuple[str, Iterable[Any]],
    conditions: Iterable[Condition],
) -> list[tuple]:
    """These columns of the rows that meet the conditions and whose column, named first, has one of some
    values; of primary keys beside conditions in portions that the database looks up.
    """
    by, values = key[0], list(dict.fromkeys(key[1]))
    features: Any = connections[using].features
    field: Any = model._meta.get_field(by)
    read, shown = reading(using, model, columns), written(conditions, using)
    size = features.keys_at_once if field.primary_key and shown else MOST
    portions = (values[start : start + size] for start in range(0, len(values), size))
    named = (written([OneOf(model, by, some)], using) for some in portions)
    return [row for some in named for row in read.where(*some, *shown)]


def picked(rows: models.QuerySet, columns: Sequence[str], by: str, values: Iterable[Any]) -> list[tuple]:
    """These columns of those rows of a queryset of one table, without joins or order, whose ``by`` is one
    of some values.
    """
    values = list(values)
    if not values:
        return []
    try:
        said = Written.of(rows)
        return by_key(rows.db, rows.model, columns, (by, values), [said] if said.sql else [])
    except EmptyResultSet:
        return []


def whole(rows: models.QuerySet[Row], by: str, values: Iterable[Any]) -> list[Row]:
    """The same rows as instances of their model."""
    model: Any = rows.model
    fields = model._meta.concrete_fields
    names = [field.attname for field in fields]
    found = picked(rows, [field.name for field in fields], by, values)
    return [model.from_db(rows.db, names, values) for values in found]


def one(model: type[Row], *, lock: bool = False, **columns: Any) -> Row | None:
    """The row that alone has these values in these columns; None where there is none."""
    using = model._base_manager.db
    fields: Any = model._meta.concrete_fields
    equal = [OneOf(model, name, [value]) for name, value in columns.items()]
    read = reading(using, model, [field.name for field in fields])
    found = read.where(*written(equal, using), lock=lock)
    return model.from_db(using, [field.attname for field in fields], found[0]) if found else None


def followed(
    using: str, model: type[models.Model], conditions: Iterable[Condition], pks: Sequence[int], same: str
) -> list[tuple[int, int]]:
    """Each of some rows, and of those that meet the conditions the next by uid with the same ``same``."""
    connection = connections[using]
    fields: Any = (model._meta.pk, model._meta.get_field(same))
    key, equal = (connection.ops.quote_name(field.column) for field in fields)
    table = connection.ops.quote_name(model._meta.db_table)
    shown, values = _all(written(conditions, using))
    after = f"{ROW}.{equal} = q.{equal} AND {ROW}.uid > q.uid ORDER BY {ROW}.uid LIMIT 1"
    following = f"SELECT {ROW}.{key} FROM {table} {ROW} WHERE {shown} AND {after}"
    sql = f"SELECT q.{key}, ({following}) FROM {table} q WHERE q.{key} IN ({marks(pks)})"
    with connection.cursor() as cursor:
        cursor.execute(sql, [*values, *pks])
        return [pair for pair in cursor.fetchall() if pair[1] is not None]
