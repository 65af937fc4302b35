"""Many new rows of one model with one statement, without the ORM's work for each value."""

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


def _converted(values: tuple, prepared: Sequence[tuple[int, Callable]]) -> list:
    row = list(values)
    for place, convert in prepared:
        if row[place] is not None:
            row[place] = convert(row[place])
    return row


@cache
def _insert(
    model: type[models.Model], ignore: bool, using: str
) -> tuple[str, Callable, list[tuple[int, Callable]]]:
    connection = connections[using]
    on_conflict = OnConflict.IGNORE if ignore else None
    fields = model._meta.local_concrete_fields
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    insert = connection.ops.insert_statement(on_conflict=on_conflict)
    suffix = connection.ops.on_conflict_suffix_sql(fields, on_conflict, [], [])
    sql = f"{insert} {quote(model._meta.db_table)} ({columns}) VALUES ({marks}) {suffix}"
    prepared = [(at, _converter(field, connection)) for at, field in enumerate(fields) if not _plain(field)]
    return sql, attrgetter(*(field.attname for field in fields)), prepared


def _plain(field: Any) -> bool:
    target = field.target_field if field.is_relation else field
    return isinstance(target, PLAIN) and type(target).get_prep_value in _PLAIN_METHODS


def _converter(field: Any, connection: Any) -> Callable:
    return lambda value: field.get_db_prep_save(value, connection)


_PLAIN_METHODS = {kind.get_prep_value for kind in PLAIN}
