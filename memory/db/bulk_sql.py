"""Inserts and updates with prepared SQL, without the ORM's work for each row."""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, TypeVar
from uuid import UUID

from django.db import connections, models
from django.db.models.base import ModelState
from django.db.models.constants import OnConflict

from memory.db.backend import get_backend
from memory.db.columns import Column, join_columns, once_each, read_columns
from memory.db.fields import JSONTextField, dumps

RowT = TypeVar("RowT", bound=models.Model)
# The driver takes the values of these fields as they are; all others are converted by the field.
PLAIN = (models.CharField, models.TextField, models.IntegerField, models.FloatField, models.BooleanField)


def insert_all(
    rows: Sequence[models.Model], *, ignore_conflicts: bool = False, using: str = "default"
) -> int:
    """Insert rows whose fields are all set; return their number.

    Defaults that the database makes are not read back. ``ignore_conflicts`` skips rows whose unique values
    exist already.
    """
    if not rows:
        return 0
    connection = connections[using]
    sql, get_values, prepared = insert_statement(type(rows[0]), ignore_conflicts, using)
    params: Sequence[Sequence[Any]]
    if len(rows) == 1:
        params = [convert_row(get_values(rows[0]), prepared)]
        if not ignore_conflicts and get_backend(using).keep_write(sql, params[0]):
            return 1
    else:
        params = convert_rows(read_columns(get_values, rows), prepared, len(rows))
    with connection.cursor() as cursor:
        cursor.executemany(sql, params)
        return int(cursor.rowcount)


def insert_selected(
    model: type[models.Model], columns: Sequence[str], rows: models.QuerySet, *, using: str = "default"
) -> int:
    """Insert a row for each row of a queryset of values, within the database; return their number.

    ``columns`` are the names of the fields that take the values, in their order; the key is generated.
    """
    quote = connections[using].ops.quote_name
    fields: list[Any] = [model._meta.get_field(name) for name in columns]
    names = ", ".join(quote(field.column) for field in fields)
    sql, params = rows.query.get_compiler(using).as_sql()
    with connections[using].cursor() as cursor:
        cursor.execute(f"INSERT INTO {quote(model._meta.db_table)} ({names}) {sql}", params)
        return max(int(cursor.rowcount), 0)


def insert_stored(
    table: str, columns: Sequence[str], rows: Sequence[tuple], *, using: str = "default"
) -> int:
    """Insert rows whose values have the form in which the database keeps them; return how many.

    Rows that contradict others are left out.
    """
    connection = connections[using]
    quote = connection.ops.quote_name
    insert = connection.ops.insert_statement(OnConflict.IGNORE)
    names, marks = ", ".join(map(quote, columns)), ", ".join(["%s"] * len(columns))
    with connection.cursor() as cursor:
        cursor.executemany(f"{insert} {quote(table)} ({names}) VALUES ({marks})", rows)
        return max(int(cursor.rowcount), 0)


def delete_stored(table: str, column: str, keys: Sequence[str], *, using: str = "default") -> None:
    """Delete rows by a column's values as texts, also of those that no model can load."""
    quote = connections[using].ops.quote_name
    with connections[using].cursor() as cursor:
        cursor.executemany(
            f"DELETE FROM {quote(table)} WHERE CAST({quote(column)} AS CHAR) = %s", [[key] for key in keys]
        )


def insert_one(row: models.Model, *, using: str = "default") -> None:
    """Insert a row whose fields are all set except its key, which the database generates."""
    connection = connections[using]
    sql, get_values, prepared = insert_statement(type(row), False, using, keyed=False)
    with connection.cursor() as cursor:
        cursor.execute(sql, convert_row(get_values(row), prepared))
        table, key = row._meta.db_table, row._meta.pk.column
        row.pk = connection.ops.last_insert_id(cursor, table, str(key))
    row._state.adding, row._state.db = False, using


def update_one(row: models.Model, *names: str, unless: str = "", using: str = "default") -> None:
    """Update the named fields of an existing row; ``unless`` is a column that must have no value."""
    sql, get_values, prepared = update_statement(type(row), names, unless, using)
    values = convert_row(get_values(row), prepared)
    if get_backend(using).keep_write(sql, values):
        return
    with connections[using].cursor() as cursor:
        cursor.execute(sql, values)


def keep_insert(row: models.Model, renewed: Sequence[str], *, using: str = "default", **where: str) -> bool:
    """Keep the insert of a row, to be made with other writes of its transaction; False where none are joined.

    Where there is a row with its key, that one's ``renewed`` columns are written, if it is one ``where`` a
    column has a value.
    """
    ((column, value),) = where.items()
    quote, backend = connections[using].ops.quote_name, get_backend(using)
    insert, get_values, prepared = insert_statement(type(row), True, using)
    if not backend.keep_write(insert, convert_row(get_values(row), prepared)):
        return False
    update, get_values, prepared = update_statement(type(row), tuple(renewed), "", using)
    values = [*convert_row(get_values(row), prepared), value]
    return backend.keep_write(f"{update} AND {quote(column)} = %s", values)


def convert_rows(
    columns: list[Column], prepared: Sequence[tuple[int, Callable]], count: int
) -> Sequence[Sequence[Any]]:
    for index, each in prepared:
        convert = once_each(each)
        columns[index] = [None if value is None else convert(value) for value in columns[index]]
    return list(join_columns(columns, count))


def convert_row(values: tuple, prepared: Sequence[tuple[int, Callable]]) -> list:
    row = list(values)
    for index, convert in prepared:
        if row[index] is not None:
            row[index] = convert(row[index])
    return row


def build_row(model: type[RowT], values: dict[str, Any]) -> RowT:
    """Return a new row as the model would with these values by keyword, in a quarter of the time.

    Raises TypeError for a name that is no column's.
    """
    names, constants, makers = list_defaults(model)
    full = {**constants, **values}
    full |= {name: make() for name, make in makers if name not in values}
    if len(full) > len(names):
        raise TypeError(f"{model.__name__} has no columns {sorted(full.keys() - set(names))}")
    return make_instance(model, full)


def make_instance(model: type[RowT], columns: dict[str, Any]) -> RowT:
    """Return an instance with these values of all its columns, which ``__init__`` would set one by one."""
    row = model.__new__(model)
    row._state = ModelState()
    row.__dict__.update(columns)
    return row


def load_instance(model: type[RowT], columns: dict[str, Any], using: str) -> RowT:
    """Return an instance of a row that the database has, as ``from_db`` does in several times the time."""
    row = make_instance(model, columns)
    row._state.adding, row._state.db = False, using
    return row


@cache
def list_defaults(model: type[models.Model]) -> tuple[list[str], dict[str, Any], list[tuple[str, Callable]]]:
    """Return the names of a model's columns, the defaults that are the same for each row, and the others."""
    fields = model._meta.concrete_fields
    makers = [(one.attname, one.default) for one in fields if one.has_default() and callable(one.default)]
    made = {name for name, _ in makers}
    constants = {one.attname: one.get_default() for one in fields if one.attname not in made}
    return [one.attname for one in fields], constants, makers


Statement = tuple[str, Callable, list[tuple[int, Callable]]]


@cache
def insert_statement(model: type[models.Model], ignore: bool, using: str, keyed: bool = True) -> Statement:
    connection = connections[using]
    on_conflict = OnConflict.IGNORE if ignore else None
    fields = [field for field in model._meta.local_concrete_fields if keyed or not field.primary_key]
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    insert = connection.ops.insert_statement(on_conflict=on_conflict)
    suffix = connection.ops.on_conflict_suffix_sql(fields, on_conflict, [], [])
    sql = f"{insert} {quote(model._meta.db_table)} ({columns}) VALUES ({marks}) {suffix}"
    return sql, *value_getters(fields, connection)


@cache
def update_statement(model: type[models.Model], names: tuple[str, ...], unless: str, using: str) -> Statement:
    connection = connections[using]
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    quote, pk = connection.ops.quote_name, model._meta.pk
    sets = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    sql = f"UPDATE {quote(model._meta.db_table)} SET {sets} WHERE {quote(str(pk.column))} = %s"
    if unless:
        sql += f" AND {quote(str(unless))} IS NULL"
    return sql, *value_getters([*fields, pk], connection)


def value_getters(fields: Sequence[Any], connection: Any) -> tuple[Callable, list[tuple[int, Callable]]]:
    """Return a getter for the values of the fields, and converters for those that need one."""
    prepared = [
        (at, field_converter(field, connection)) for at, field in enumerate(fields) if not is_plain(field)
    ]
    return attrgetter(*(field.attname for field in fields)), prepared


def is_plain(field: Any) -> bool:
    target = field.target_field if field.is_relation else field
    return isinstance(target, PLAIN) and type(target).get_prep_value in _PLAIN_METHODS


def field_converter(field: Any, connection: Any) -> Callable:
    def convert_value(value: Any) -> Any:
        return field.get_db_prep_save(value, connection)

    if isinstance(field, models.DateTimeField):
        return lru_cache(maxsize=64)(convert_value)  # the rows of a commit share their times
    if type(field) is JSONTextField:
        return dumps
    if type(field) is models.UUIDField and not connection.features.has_native_uuid_field:
        return lambda value: value.hex if isinstance(value, UUID) else convert_value(value)
    return convert_value


_PLAIN_METHODS = {kind.get_prep_value for kind in PLAIN}
