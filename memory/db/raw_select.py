"""Raw SELECT of few rows by a key, where the ORM takes longer than the database."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Any, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, connections, models

from memory.db.backend import get_backend, get_features
from memory.db.budget import text_fields
from memory.db.bulk_sql import load_instance
from memory.db.expressions import ColumnFrom, ColumnIn, CompiledWhere, Condition
from memory.db.fields import JSONTextField, find_plain_type, replace_strange

Row = TypeVar("Row", bound=models.Model)
VALUES_AT_ONCE = 1000  # of one column in a statement: callers need no batches of their own
MAX_UNITED_VALUES = 2000  # of a statement made of several
MAX_NOTED_ROWS = 20  # of a statement
CUT_MARK = " … [cut]"
ROW = "t"  # alias of the table in these statements
Converters = tuple[Any, list[Any], set[type] | None]


class Reading:
    """A SELECT of columns of a model, with values as the ORM returns them."""

    def __init__(
        self, connection: Any, model: type[models.Model], columns: Sequence[str], cut: int | None = None
    ) -> None:
        quote = connection.ops.quote_name
        fields: list[Any] = [model._meta.get_field(name) for name in columns]
        long = set() if cut is None else {field.name for field in text_fields(model)}
        names = [f"{ROW}.{quote(field.column)}" for field in fields]
        pairs = list(zip(fields, names, strict=True))
        read = [f"SUBSTR({name}, 1, {cut})" if field.name in long else name for field, name in pairs]
        self.connection = connection
        self.columns = ", ".join(read)
        self.sql = f"SELECT {self.columns} FROM {quote(model._meta.db_table)} {ROW} WHERE "
        # JSON that may be cut stays text.
        every = [column_converters(connection, field) for field in fields]
        self.converters = [
            (column, [] if field.name in long else steps, kinds)
            for field, (column, steps, kinds) in zip(fields, every, strict=True)
        ]

    def where(self, *conditions: tuple[str, Sequence[Any]]) -> list[tuple]:
        """Return the rows that meet all conditions, each an SQL text with its values."""
        return self.fetch(*self.build(*conditions))

    def build(self, *conditions: tuple[str, Sequence[Any]]) -> tuple[str, Sequence[Any]]:
        """Return the statement that reads the rows that meet all conditions, with its values."""
        sql, values = join_conditions(conditions)
        return self.sql + sql, values

    def fetch(self, sql: str, values: Sequence[Any]) -> list[tuple]:
        """Return the rows of a statement that reads these columns first; what follows them stays raw.

        Few rows are noted as the database gave them, and converted anew when they are asked for again.
        """
        notes, key = self.connection.notes, (sql, *values)
        rows = notes.get(key)
        if rows is None:
            with self.connection.cursor() as cursor:
                cursor.execute(sql, values)
                rows = cursor.fetchall()
            if len(rows) <= MAX_NOTED_ROWS:
                notes[key] = rows
        return convert_rows(self.connection, self.converters, rows)


class RawReading(Reading):
    """A SELECT of so many columns, with values as the database has them."""

    def __init__(self, connection: Any, width: int) -> None:
        self.connection = connection
        self.converters = [(None, [], None)] * width


Statement = tuple[Reading, str, Sequence[Any]]  # with the values of its placeholders


@dataclass(frozen=True)
class Selected:
    """Values of a key that another statement reads: its SQL, and the values of its placeholders."""

    sql: str
    params: Sequence[Any]


Values = Iterable[Any] | Selected


def convert_rows(connection: Any, of: Sequence[Converters], rows: Sequence[tuple]) -> list[tuple]:
    """Convert the values of rows as the ORM does; ``of`` are the converters of their columns."""
    columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
    for index, (expression, steps, kinds) in enumerate(of if rows else ()):
        for step in steps:
            columns[index] = tuple([step(value, expression, connection) for value in columns[index]])
        if kinds and not kinds.issuperset(map(type, columns[index])):
            columns[index] = replace_strange(expression.target, columns[index], connection)
    return list(zip(*columns, strict=True))


def column_converters(connection: Any, field: Any) -> Converters:
    """Return a column, the functions that convert its values as the ORM does, and the types of plain ones."""
    column = field.get_col(field.model._meta.db_table)
    steps = [*connection.ops.get_db_converters(column), *column.get_db_converters(connection)]
    kind = find_plain_type(field)
    return column, steps, {kind, NoneType} if kind else None


def prepare_reading(
    using: str, model: type[models.Model], columns: Sequence[str], cut: int | None = None
) -> Reading:
    """Return the Reading of these columns, made once for a connection."""
    known = get_backend(using).readings
    key = (model, cut, *columns)
    if key not in known:
        known[key] = Reading(connections[using], model, columns, cut)
    return known[key]


def render_conditions(conditions: Iterable[Condition], using: str) -> list[tuple[str, Sequence[Any]]]:
    """Render the conditions for the row that a Reading reads."""
    connection = connections[using]
    return [condition.for_alias(ROW).render(connection) for condition in conditions]


def join_conditions(conditions: Sequence[tuple[str, Sequence[Any]]]) -> tuple[str, list[Any]]:
    text = " AND ".join(text for text, _ in conditions)
    return text, [value for _, values in conditions for value in values]


def exists_sql(
    using: str, model: type[models.Model], conditions: Iterable[Condition], key: str
) -> tuple[str, Sequence[Any]]:
    """Return an SQL condition: the row with this key, given as SQL, meets the conditions."""
    quote: Any = connections[using].ops.quote_name
    pk: Any = model._meta.pk
    shown, values = join_conditions(render_conditions(conditions, using))
    one = f"SELECT 1 FROM {quote(model._meta.db_table)} {ROW} WHERE {ROW}.{quote(pk.column)} = {key}"
    return f"EXISTS ({one} AND {shown})", values


def by_key(
    using: str,
    model: type[models.Model],
    columns: Sequence[str],
    key: tuple[str, Iterable[Any]],
    conditions: Iterable[Condition],
    cut: int | None = None,
) -> list[tuple]:
    """Return columns of rows that meet the conditions and whose key column has one of the values.

    ``key`` is the column and its values. Primary keys with conditions are read in portions that the database
    looks up by key. With ``cut``, long fields are texts of at most so many characters.
    """
    return fetch_each(plan_by_key(using, model, columns, key, conditions, cut))


def plan_by_key(
    using: str,
    model: type[models.Model],
    columns: Sequence[str],
    key: tuple[str, Values],
    conditions: Iterable[Condition],
    cut: int | None = None,
) -> list[Statement]:
    """Return the statements of ``by_key``, for ``read_together``."""
    features = get_features(using)
    by, field = key[0], model._meta.get_field(key[0])
    read, shown = prepare_reading(using, model, columns, cut), render_conditions(conditions, using)
    if isinstance(key[1], Selected):
        (named,) = render_conditions([ColumnFrom(model, by, key[1].sql, key[1].params)], using)
        return [(read, *read.build(named, *shown))]
    values = list(key[1])
    size = features.keys_at_once if field is model._meta.pk and shown else VALUES_AT_ONCE
    if len(values) > size:  # a row is in one portion only
        values = list(dict.fromkeys(values))
    portions = (values[start : start + size] for start in range(0, len(values), size))
    every = (render_conditions([ColumnIn(model, by, batch)], using) for batch in portions)
    return [(read, *read.build(*batch, *shown)) for batch in every]


def select_by_key(
    rows: models.QuerySet, columns: Sequence[str], by: str, values: Iterable[Any]
) -> list[tuple]:
    """Return columns of a queryset's rows whose ``by`` is one of the values; one table, no joins."""
    values = list(values)
    if not values:
        return []
    try:
        where = CompiledWhere.from_queryset(rows) if rows.query.where else CompiledWhere()
        return by_key(rows.db, rows.model, columns, (by, values), [where] if where.sql else [])
    except EmptyResultSet:
        return []


def fetch_instances(rows: models.QuerySet[Row], by: str, values: Iterable[Any]) -> list[Row]:
    """Return the same rows as instances of their model."""
    names = name_fields(rows.model)
    return build_instances(rows.model, rows.db, select_by_key(rows, names, by, values))


def plan_first(
    using: str,
    model: type[models.Model],
    columns: Sequence[str],
    k: int,
    by: str,
    down: bool,
    conditions: Iterable[Condition],
) -> Statement:
    """Return the statement that reads the k rows with the highest (``down``) or lowest values of a column."""
    read = prepare_reading(using, model, columns)
    sql, values = read.build(*render_conditions(conditions, using))
    field: Any = model._meta.get_field(by)
    order = f"{ROW}.{connections[using].ops.quote_name(field.column)} {'DESC' if down else 'ASC'}"
    return read, f"{sql} ORDER BY {order} LIMIT {k}", values


def plan_last(model: type[models.Model], columns: Sequence[str], k: int, **equal: Any) -> Statement:
    """Return the statement that reads the k rows with the highest keys of those with these values."""
    conditions = [ColumnIn(model, name, [value]) for name, value in equal.items()]
    return plan_first(DEFAULT_DB_ALIAS, model, columns, k, str(model._meta.pk.name), True, conditions)


def fetch_each(statements: Iterable[Statement]) -> list[tuple]:
    """Return the rows of all statements: where one reader reads several, as one statement of few values."""
    batch = list(statements)
    if (united := unite(batch)) is not None:
        batch = [united]
    return [row for read, sql, values in batch for row in read.fetch(sql, values)]


def unite(statements: Sequence[Statement]) -> Statement | None:
    """Return one statement that reads the rows of several; None where there is a reason against it."""
    readers = {read for read, *_ in statements}
    params = [value for *_, values in statements for value in values]
    if len(statements) < 2 or len(readers) > 1 or len(params) > MAX_UNITED_VALUES:
        return None
    (read,) = readers
    if not read.connection.features.keeps_notes:
        return None
    notes = read.connection.notes
    if any((sql, *values) in notes for _, sql, values in statements):
        return None
    return read, " UNION ALL ".join(f"SELECT q.* FROM ({sql}) q" for _, sql, _ in statements), params


def fetch_where(model: type[Row], conditions: Iterable[Condition]) -> list[Row]:
    """Return the rows that meet the conditions, unordered."""
    using = DEFAULT_DB_ALIAS
    read = prepare_reading(using, model, name_fields(model))
    return build_instances(model, using, read.where(*render_conditions(conditions, using)))


def all_fields(model: type[models.Model]) -> Sequence[Any]:
    return model._meta.concrete_fields


@cache
def name_fields(model: type[models.Model]) -> Sequence[str]:
    """Return the names of all columns, in the order in which rows are built of them."""
    return tuple(field.name for field in all_fields(model))


@cache
def name_attributes(model: type[models.Model]) -> Sequence[str]:
    """Return the names under which an instance has the values of these columns."""
    return tuple(field.attname for field in all_fields(model))


@cache
def changes_rows(model: type[models.Model]) -> bool:
    """Return whether a model makes of a row something else than its columns."""
    return "from_db" in {name for base in model.__mro__ if base is not models.Model for name in vars(base)}


def build_instances(
    model: type[Row], using: str, found: Iterable[tuple], columns: Sequence[str] = ()
) -> list[Row]:
    """Return instances of a model, of which these columns were read, or all. Others are read when asked."""
    names = columns or name_attributes(model)
    if changes_rows(model):
        return [model.from_db(using, names, values) for values in found]
    return [load_instance(model, dict(zip(names, values, strict=True)), using) for values in found]


def read_cut(model: type[Row], by: str, values: Iterable[Any], max_characters: int) -> list[Row]:
    """Return rows by a column, with long fields cut to a maximum of characters.

    A longer text ends in a mark, longer JSON is empty; ``row.truncated`` names these fields.
    """
    found = fetch_each(plan_cut(model, by, values, max_characters))
    return cut_rows(build_instances(model, DEFAULT_DB_ALIAS, found), max_characters)


def plan_cut(
    model: type[models.Model], by: str, values: Iterable[Any], max_characters: int
) -> list[Statement]:
    """Return the statements of ``read_cut``, for ``read_together``."""
    using, names = DEFAULT_DB_ALIAS, name_fields(model)
    return plan_by_key(using, model, names, (by, values), [], max_characters + 1)


def cut_rows(rows: list[Row], max_characters: int) -> list[Row]:
    """Shorten the long fields of rows that were read cut, and return the rows."""
    own = connections[rows[0]._state.db or DEFAULT_DB_ALIAS] if rows else None
    for row in rows:
        long = text_fields(type(row))
        cut = [field.name for field in long if complete_field(row, field, max_characters, own)]
        row.truncated = cut  # type: ignore[attr-defined]  # added to the row for its reader
    return rows


def complete_field(row: models.Model, field: Any, max_characters: int, connection: Any) -> bool:
    """Convert a field that was read cut, and shorten it; return whether it was too long."""
    text = getattr(row, field.attname)
    if text is None:
        return False
    short = len(text) <= max_characters
    if isinstance(field, JSONTextField):
        value = field.from_db_value(text, None, connection) if short else field.get_default()
        setattr(row, field.attname, value)
    elif not short:
        setattr(row, field.attname, text[: max_characters - len(CUT_MARK)] + CUT_MARK)
    return not short


def select_equal(model: type[models.Model], columns: Sequence[str], **equal: Iterable[Any]) -> list[tuple]:
    """Return columns of the rows that have one of the values in each of these columns.

    Of the last column there may be any number of values.
    """
    return fetch_each(plan_equal(model, columns, **equal))


def plan_equal(model: type[models.Model], columns: Sequence[str], **equal: Iterable[Any]) -> list[Statement]:
    """Return the statements of ``select_equal``, for ``read_together``."""
    using = DEFAULT_DB_ALIAS
    *others, (key, values) = ((name, list(values)) for name, values in equal.items())
    if not values or not all(each for _, each in others):
        return []
    return plan_by_key(using, model, columns, (key, values), [ColumnIn(model, *pair) for pair in others])


def fetch_one(model: type[Row], *, lock: bool = False, **columns: Any) -> Row | None:
    """Return a row with these values in these columns, or None; ``lock`` locks it until the commit.

    It is read again when anything in the store has changed.
    """
    using = DEFAULT_DB_ALIAS
    is_fresh = lock and connections[using].features.has_select_for_update
    notes = {} if is_fresh else get_backend(using).notes
    key = (model, *columns.items())
    if key not in notes:
        read, sql, values = plan_one(model, **columns)
        sql = f"{sql} {connections[using].ops.for_update_sql()}" if is_fresh else sql
        note_rows(notes, model, columns, read.fetch(sql, values)[:1])
    return next(iter(build_instances(model, using, notes[key])), None)


def plan_one(model: type[models.Model], **columns: Any) -> Statement:
    """Return the statement of ``fetch_one``, for ``read_together``."""
    using = DEFAULT_DB_ALIAS
    equal = [ColumnIn(model, name, [value]) for name, value in columns.items()]
    read = prepare_reading(using, model, name_fields(model))
    return read, *read.build(*render_conditions(equal, using))


def note_rows(notes: dict[Any, Any], model: Any, columns: Mapping[str, Any], rows: list[tuple]) -> None:
    """Note the row with these values in these columns, by its other keys too; no row where there is none."""
    notes[model, *columns.items()] = rows
    if rows:
        row = dict(zip(name_attributes(model), rows[0], strict=True))
        notes[model, (model._meta.pk.name, row[model._meta.pk.attname])] = rows
        for natural in getattr(model, "NATURAL_KEYS", ()):
            notes[model, *((name, row[model._meta.get_field(name).attname]) for name in natural)] = rows
