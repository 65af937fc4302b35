"""Rows written by statements that are made once, without the ORM's work for each."""

from collections.abc import Callable, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

from django.db import connections, models
from django.db.models.constants import OnConflict

# Values of these are what the driver takes; all others go through their field.
PLAIN = (models.CharField, models.TextField, models.IntegerField, models.FloatField, models.BooleanField)


def insert_all(
    rows: Sequence[models.Model], *, ignore_conflicts: bool = False, using: str = "default"
) -> int:
    """Inserts rows whose fields are all set; returns how many. Defaults that the database makes are not
    read back.

    ``ignore_conflicts`` skips rows whose unique values are there already.
    """
    if not rows:
        return 0
    connection = connections[using]
    sql, values_of, prepared = _insert(type(rows[0]), ignore_conflicts, using)
    params = [values_of(row) for row in rows]
    if prepared:
        params = [_converted(values, prepared) for values in params]
    with connection.cursor() as cursor:
        cursor.executemany(sql, params)
        return int(cursor.rowcount)


def insert_one(row: models.Model, *, using: str = "default") -> None:
    """Inserts a row whose fields are all set but its key, which the database makes."""
    connection = connections[using]
    sql, values_of, prepared = _insert(type(row), False, using, keyed=False)
    with connection.cursor() as cursor:
        cursor.execute(sql, _converted(values_of(row), prepared))
        table, key = row._meta.db_table, row._meta.pk.column  # type: ignore[union-attr]
        row.pk = connection.ops.last_insert_id(cursor, table, str(key))
    row._state.adding, row._state.db = False, using


def update_one(row: models.Model, *names: str, using: str = "default") -> None:
    """Stores these fields of a row that is there."""
    sql, values_of, prepared = _update(type(row), names, using)
    with connections[using].cursor() as cursor:
        cursor.execute(sql, _converted(values_of(row), prepared))


def _converted(values: tuple, prepared: Sequence[tuple[int, Callable]]) -> list:
    row = list(values)
    for place, convert in prepared:
        if row[place] is not None:
            row[place] = convert(row[place])
    return row


Statement = tuple[str, Callable, list[tuple[int, Callable]]]


@cache
def _insert(model: type[models.Model], ignore: bool, using: str, keyed: bool = True) -> Statement:
    connection = connections[using]
    on_conflict = OnConflict.IGNORE if ignore else None
    fields = [field for field in model._meta.local_concrete_fields if keyed or not field.primary_key]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    insert = connection.ops.insert_statement(on_conflict=on_conflict)
    suffix = connection.ops.on_conflict_suffix_sql(fields, on_conflict, [], [])
    sql = f"{insert} {quote(model._meta.db_table)} ({columns}) VALUES ({marks}) {suffix}"
    return sql, *_values(fields, connection)


@cache
def _update(model: type[models.Model], names: tuple[str, ...], using: str) -> Statement:
    connection = connections[using]
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    quote, pk = connection.ops.quote_name, model._meta.pk
    sets = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    sql = f"UPDATE {quote(model._meta.db_table)} SET {sets} WHERE {quote(pk.column)} = %s"  # type: ignore[union-attr, arg-type]
    return sql, *_values([*fields, pk], connection)


def _values(fields: Sequence[Any], connection: Any) -> tuple[Callable, list[tuple[int, Callable]]]:
    """How to take the values of some fields from a row, and those of them that must be converted."""
    prepared = [(at, _converter(field, connection)) for at, field in enumerate(fields) if not _plain(field)]
    return attrgetter(*(field.attname for field in fields)), prepared


def _plain(field: Any) -> bool:
    target = field.target_field if field.is_relation else field
    return isinstance(target, PLAIN) and type(target).get_prep_value in _PLAIN_METHODS


def _converter(field: Any, connection: Any) -> Callable:
    return lambda value: field.get_db_prep_save(value, connection)


_PLAIN_METHODS = {kind.get_prep_value for kind in PLAIN}
