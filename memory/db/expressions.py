"""SQL conditions rendered directly: building them from ORM expressions costs more than the query."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Self
from uuid import UUID

from django.core.exceptions import FullResultSet
from django.db import models
from django.db.models.expressions import Expression, Func
from django.db.models.functions import Cast, Left

from memory.db.lineage import hides_quarantined

BOOLEAN: Any = models.BooleanField()  # of all conditions: to make a field takes longer than to render one

DAY, HOUR = 10, 13  # letters of a time in the database: 2026-11-26 10:35


def cut_time(column: str, letters: int) -> Left:
    """Return the beginning of a time, such as its day."""
    return Left(Cast(column, models.CharField()), letters)


class Condition(Expression):
    """A condition on the row ``alias`` that renders its own SQL."""

    conditional = True
    filterable = True
    output_field = models.BooleanField()

    def __init__(self, alias: str = "") -> None:
        super().__init__(output_field=BOOLEAN)
        self.alias = alias

    @property
    def identity(self) -> tuple:
        """Return what tells conditions apart: what each was made with, but for what is derived from it."""
        return type(self), *(value for name, value in vars(self).items() if not name.startswith("_"))

    def for_alias(self, alias: str) -> Self:
        """Return a copy of the condition for another row alias."""
        found = object.__new__(type(self))  # copy() goes through pickling, and takes four times as long
        vars(found).update(vars(self), alias=alias)
        return found

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        """Render the SQL and its parameters. ``alias`` is quoted already, where necessary."""
        raise NotImplementedError

    def get_source_expressions(self) -> list[Any]:
        return []

    def resolve_expression(self, query: Any = None, *args: Any, **kwargs: Any) -> Self:
        return self.for_alias(query.get_initial_alias())

    def relabeled_clone(self, change_map: Mapping[str, str]) -> Self:
        return self.for_alias(change_map.get(self.alias, self.alias))

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return self.for_alias(compiler.quote_name_unless_alias(self.alias)).render(connection)


class Visible(Condition):
    """A condition: a row is visible through an arm of a lineage (docs/decisions/0001).

    ``arms`` are positions in the lineage, by default all. ``known`` means that few rows are tested, each by
    its key: some databases need another form to test all rows.
    """

    def __init__(
        self,
        model: type[models.Model],
        lineage: Sequence[tuple[int, int]],
        arms: Sequence[int] | None = None,
        alias: str = "",
        known: bool = True,
    ) -> None:
        super().__init__(alias)
        self.model, self.lineage, self.known = model, tuple(lineage), known
        self.arms = tuple(range(len(lineage)) if arms is None else arms)

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        quote, me = connection.ops.quote_name, self.alias
        table = quote(self.model._meta.db_table)
        params = [value for level in self.arms for value in self._arm_params(level)]
        if not self.known and connection.features.reads_lineage_as_union:
            pk = quote(str(self.model._meta.pk.column))
            arms = [f"SELECT v.{pk} FROM {table} v WHERE {self._arm_sql(i, table, 'v')}" for i in self.arms]
            return f"{me}.{pk} IN ({' UNION ALL '.join(arms)})", params
        return "(" + " OR ".join(self._arm_sql(level, table, me) for level in self.arms) + ")", params

    def _arm_sql(self, level: int, table: str, me: str) -> str:
        """Return the condition of one arm on the row ``me``; its parameters come from ``_arm_params``."""
        begun, ended = (self._seq_column(f"{me}.{column}") for column in ("seq_from", "seq_to"))
        arm = f"{me}.branch_id = %s AND {begun} <= %s AND {ended} > %s AND NOT {me}.deleted"
        if level == 0:
            return arm
        spoken = " OR ".join(["(s.branch_id = %s AND s.seq_from <= %s)"] * level)
        return f"{arm} AND NOT EXISTS (SELECT 1 FROM {table} s WHERE s.uid = {me}.uid AND ({spoken}))"

    def _seq_column(self, column: str) -> str:
        """Return the SQL of a seq column; a plain column can use an index, an expression cannot."""
        return column

    def _arm_params(self, level: int) -> list[int]:
        branch, limit = self.lineage[level]
        return [branch, limit, limit, *(value for pair in self.lineage[:level] for value in pair)]


class VisibleOrdered(Visible):
    """The rows that one arm shows, for a database that reads an index in order until k rows are found.

    SQLite estimates "open now" as rare and sorts the whole branch even for few rows. The unary plus signs
    keep the span out of its plan. ``down`` reads from the highest uid: it starts at the newest memory that
    existed at the limit, where much was written after it.
    """

    def __init__(self, *args: Any, down: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.down = down

    def _arm_sql(self, level: int, table: str, me: str) -> str:
        arm = super()._arm_sql(level, table, me)
        return f"{arm} AND {me}.uid <= {self._newest_uid_sql(table)}" if self.down else arm

    def _seq_column(self, column: str) -> str:
        return f"+{column}"

    def _newest_uid_sql(self, table: str) -> str:
        """Return the uid to start from; an index entry costs an eighth of a row that is skipped."""
        later = f"SELECT 1 FROM {table} n WHERE n.branch_id = %s AND n.seq_from > %s"
        known = f"SELECT max(+n.uid) FROM {table} n WHERE n.branch_id = %s AND n.seq_from <= %s"
        return f"CASE WHEN EXISTS ({later}) THEN ({known}) ELSE 'g' END"  # g: after every hexadecimal digit

    def _arm_params(self, level: int) -> list[int]:
        branch, limit = self.lineage[level]
        bound = [branch, limit + limit // 8, branch, limit] if self.down else []
        return [*super()._arm_params(level), *bound]


class VisibleByColumn(Visible):
    """The rows that one arm shows, for a database that should look rows up by another column."""

    def _seq_column(self, column: str) -> str:
        return f"{column} + 0"


class StoodAt(Condition):
    """A condition: a version of a branch stood at a seq, be it a tombstone."""

    def __init__(self, branch: int, seq: int) -> None:
        super().__init__()
        self.branch, self.seq = branch, seq

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        me = self.alias
        sql = f"({me}.branch_id = %s AND {me}.seq_from <= %s AND {me}.seq_to > %s)"
        return sql, [self.branch, self.seq, self.seq]


MAX_PADDED = 1024  # values of a list


class ColumnIn(Condition):
    """A condition: a column has one of several values."""

    def __init__(self, model: type[models.Model], name: str, values: Sequence[Any], alias: str = "") -> None:
        super().__init__(alias)
        self.of: Any = model._meta.get_field(name)
        self.values = tuple(values)

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        stored = prepare_values(self.of, self.values, connection)
        if connection.features.keeps_statements:
            stored = pad_values(stored)
        return f"{self.alias}.{connection.ops.quote_name(self.of.column)} IN ({placeholders(stored)})", stored


class ColumnFrom(Condition):
    """A condition: a column has a value that another statement reads."""

    def __init__(self, model: type[models.Model], name: str, sql: str, values: Sequence[Any]) -> None:
        super().__init__()
        self.of: Any = model._meta.get_field(name)
        self.sql, self.values = sql, tuple(values)

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        return f"{self.alias}.{connection.ops.quote_name(self.of.column)} IN ({self.sql})", self.values


class StartedBefore(Condition):
    """A condition: a row began by a seq, marked as unlikely, since SQLite estimates a quarter of the rows."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        begun = f"{self.alias}.seq_from <= %s"
        return f"unlikely({begun})" if connection.features.must_be_told_to_walk else begun, [self.limit]


SIGNS = {"": "=", "gt": ">"}  # of the lookups in conditions of indexes


class IndexCondition(Condition):
    """The condition of a partial index, with its values written out.

    With parameters SQLite cannot prove that the index holds every row asked for, and reads a larger one.
    """

    def __init__(self, index: models.Index) -> None:
        super().__init__()
        self.index = index

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        condition: Any = self.index.condition
        parts = [(*lookup.partition("__")[::2], quote(value)) for lookup, value in condition.children]
        return " AND ".join(f"{self.alias}.{name} {SIGNS[kind]} {value}" for name, kind, value in parts), ()


@cache
def name_filled(model: type[models.Model], column: str) -> tuple[IndexCondition, ...]:
    """Return the condition of a partial index of the rows with a text in a column, if there is one."""
    own = (one for one in model._meta.indexes if one.condition == models.Q((f"{column}__gt", "")))
    return tuple(map(IndexCondition, own))


class ContainsText(Func):
    """A condition: a text contains another. Case matters, and there are no wildcards."""

    template = "INSTR(%(expressions)s) > 0"
    arity = 2
    conditional = True
    output_field = models.BooleanField()

    def as_matrixone(self, compiler: Any, connection: Any) -> Any:
        """Render with REPLACE: MatrixOne's INSTR ignores case, and its LIKE reads some signs as a regex."""
        text, part = map(compiler.compile, self.get_source_expressions())
        return f"REPLACE({text[0]}, {part[0]}, '') <> {text[0]}", (*text[1], *part[1], *text[1])


class ByteLength(Func):
    """The length of a text or of bytes, in bytes."""

    template = "LENGTH(CAST(%(expressions)s AS BLOB))"
    output_field = models.BigIntegerField()

    def as_matrixone(self, compiler: Any, connection: Any) -> Any:
        return self.as_sql(compiler, connection, template="LENGTH(%(expressions)s)")


class TotalBytes(Func):
    """The bytes of several texts together, those that are NULL counted as none.

    Flat: Django takes a tenth of a second to resolve sums of twenty columns in each of fifty tables.
    """

    output_field = models.BigIntegerField()

    def as_sql(self, compiler: Any, connection: Any, *_words: Any, **_context: Any) -> Any:
        lengths = [compiler.compile(ByteLength(one)) for one in self.get_source_expressions()]
        return " + ".join(["0", *(f"COALESCE({sql}, 0)" for sql, _ in lengths)]), []


class NotHidden(Condition):
    """A condition: no quarantine hides the version."""

    looks_elsewhere = True  # in another table
    TABLE = "memory_hiddenversion"

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        table = connection.ops.quote_name(self.TABLE)
        return f"NOT EXISTS (SELECT 1 FROM {table} h WHERE h.vid = {self.alias}.vid)", ()


class NotHiddenConfirmation(Condition):
    """A condition: no quarantine hides the confirmation. It has no vid: it is known by its own id."""

    looks_elsewhere = True  # in another table
    KIND = "confirmation"

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        table = connection.ops.quote_name(NotHidden.TABLE)
        same = f"h.uid = {self.alias}.id AND h.kind = %s"
        return f"NOT EXISTS (SELECT 1 FROM {table} h WHERE {same})", (self.KIND,)


class HasVerdict(Condition):
    """A condition: a verdict on this row's present content, read as one of the statuses, is visible."""

    looks_elsewhere = True  # in another table

    def __init__(self, judging: Any, statuses: Sequence[str], lineage: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self.statuses = tuple(str(status) for status in statuses)
        self._stored: dict[str, list[str]] = {}  # methods by status
        for status, method in judging.list_stored(self.statuses):
            self._stored.setdefault(status, []).append(method)
        self.visible = Visible(judging, lineage, alias="j")
        self.is_masked = hides_quarantined(lineage)

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        shown, params = self.visible.render(connection)
        if self.is_masked:  # a verdict in quarantine counts no more
            shown = f"{shown} AND {NotHidden('j').render(connection)[0]}"
        table = connection.ops.quote_name(self.visible.model._meta.db_table)
        same = f"j.uid = {self.alias}.uid AND j.judged_hash = {self.alias}.judged_hash"
        arms = (f"j.status = %s AND j.method IN ({placeholders(by)})" for by in self._stored.values())
        sql = f"EXISTS (SELECT 1 FROM {table} j WHERE {same} AND {shown} AND ({' OR '.join(arms)}))"
        return sql, [*params, *(value for status, by in self._stored.items() for value in (status, *by))]


class ActiveOnLineage(Condition):
    """A condition: a confirmation, which is added once and may be retracted, counts along a lineage."""

    def __init__(self, lineage: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self.lineage = tuple(lineage)
        self.looks_elsewhere = hides_quarantined(lineage)

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        me = self.alias
        arm = f"({me}.branch_id = %s AND {me}.seq <= %s AND {me}.seq_to > %s)"
        values: list[Any] = [value for branch, limit in self.lineage for value in (branch, limit, limit)]
        sql = f"({' OR '.join([arm] * len(self.lineage))})"
        if self.looks_elsewhere:
            mask, more = NotHiddenConfirmation(me).render(connection)
            return f"({sql} AND {mask})", [*values, *more]
        return sql, values


class CompiledWhere(Condition):
    """The conditions of a queryset, compiled once for all statements that repeat them."""

    TABLE = "the_row_asked_about"  # placeholder for the table of the conditions

    def __init__(self, sql: str = "", params: Sequence[Any] = ()) -> None:
        super().__init__()
        self.sql, self.params = sql, tuple(params)

    @classmethod
    def from_queryset(cls, rows: models.QuerySet) -> Self:
        """Compile the conditions of a queryset of one table without joins. Raises EmptyResultSet."""
        alias, query = rows.query.get_initial_alias(), rows.query.clone()
        query.change_aliases({alias: cls.TABLE})
        # A filter by a relation leaves its table there, and a condition takes the first one for its own.
        query.alias_map = {cls.TABLE: query.alias_map[cls.TABLE]}
        try:
            return cls(*query.get_compiler(rows.db).compile(query.where))
        except FullResultSet:  # conditions that every row meets
            return cls()

    def render(self, connection: Any) -> tuple[str, Sequence[Any]]:
        table = connection.ops.quote_name(self.TABLE)
        sql = self.sql.replace(table, self.alias).replace(self.TABLE, self.alias)
        return f"({sql or '1 = 1'})", self.params


def quote(value: int | str) -> str:
    """Return a constant of the code as SQL."""
    return str(value) if isinstance(value, int) else f"'{value}'"


# Fields that store values of these types as they are.
NATIVE_TYPES = {models.CharField.get_prep_value: str, models.IntegerField.get_prep_value: int}


def prepare_values(field: Any, values: Sequence[Any], connection: Any) -> list[Any]:
    """Return the values as the database stores them."""
    if {type(value) for value in values} == {NATIVE_TYPES.get(type(field).get_prep_value)}:
        return list(values)
    if isinstance(field, models.UUIDField) and not connection.features.has_native_uuid_field:
        # As the field does, which takes five times as long.
        return [
            value.hex if type(value) is UUID else field.get_db_prep_value(value, connection)
            for value in values
        ]
    return [field.get_db_prep_value(value, connection) for value in values]


def pad_values(values: list[Any]) -> list[Any]:
    """Repeat the last value up to a power of two.

    A statement is prepared anew for each other length of a list, which takes longer than to look up its rows.
    """
    if not values or len(values) > MAX_PADDED:
        return values
    return values + values[-1:] * ((1 << (len(values) - 1).bit_length()) - len(values))


def placeholders(values: Sequence[Any]) -> str:
    """Return a placeholder for each value."""
    return ", ".join(["%s"] * len(values))
