"""Conditions that are written as SQL at once: built from the ORM's parts they cost more than the query."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Self

from django.core.exceptions import FullResultSet
from django.db import models
from django.db.models.expressions import Expression, Func


class Condition(Expression):
    """A condition on the row ``alias``, which writes its SQL by itself."""

    conditional = True
    filterable = True
    output_field = models.BooleanField()

    def __init__(self, alias: str = "") -> None:
        super().__init__(output_field=models.BooleanField())
        self.alias = alias

    def at(self, alias: str) -> Self:
        """The same condition on the row of another name."""
        found = copy(self)
        found.alias = alias
        return found

    def written(self, connection: Any) -> tuple[str, Sequence[Any]]:
        """The SQL and its values. ``alias`` is quoted already, where it has to be."""
        raise NotImplementedError

    def get_source_expressions(self) -> list[Any]:
        return []

    def resolve_expression(self, query: Any = None, *args: Any, **kwargs: Any) -> Self:
        return self.at(query.get_initial_alias())

    def relabeled_clone(self, change_map: Mapping[str, str]) -> Self:
        return self.at(change_map.get(self.alias, self.alias))

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return self.at(compiler.quote_name_unless_alias(self.alias)).written(connection)


class Visible(Condition):
    """Whether a row is what one of the arms of a lineage shows (docs/decisions/0001).

    ``arms`` are the places in the lineage to look at; all of them by default. ``known`` says that few rows
    are asked about, each by its key: some databases want to be asked in another way about all rows.
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

    @property
    def identity(self) -> tuple:
        return (type(self), self.model, self.lineage, self.arms, self.alias, self.known)

    def written(self, connection: Any) -> tuple[str, Sequence[Any]]:
        quote, me = connection.ops.quote_name, self.alias
        table = quote(self.model._meta.db_table)
        params = [value for place in self.arms for value in self._values(place)]
        if not self.known and connection.features.reads_lineage_as_union:
            pk = quote(str(self.model._meta.pk.column))
            arms = [f"SELECT v.{pk} FROM {table} v WHERE {self._arm(i, table, 'v')}" for i in self.arms]
            return f"{me}.{pk} IN ({' UNION ALL '.join(arms)})", params
        return "(" + " OR ".join(self._arm(place, table, me) for place in self.arms) + ")", params

    def _arm(self, place: int, table: str, me: str) -> str:
        """The condition of one arm on the row ``me``; its values are those of ``_values``."""
        begun, ended = (self._bound(f"{me}.{column}") for column in ("seq_from", "seq_to"))
        arm = f"{me}.branch_id = %s AND {begun} <= %s AND {ended} > %s AND NOT {me}.deleted"
        if place == 0:
            return arm
        spoken = " OR ".join(["(s.branch_id = %s AND s.seq_from <= %s)"] * place)
        return f"{arm} AND NOT EXISTS (SELECT 1 FROM {table} s WHERE s.uid = {me}.uid AND ({spoken}))"

    def _bound(self, column: str) -> str:
        """How a seq is named that bounds the arm: an index is known of a column, of an expression none."""
        return column

    def _values(self, place: int) -> list[int]:
        branch, limit = self.lineage[place]
        return [branch, limit, limit, *(value for pair in self.lineage[:place] for value in pair)]


class Walked(Visible):
    """What one arm shows, for a database that is to walk it in the order of an index until k rows were found.

    SQLite takes "open now" for a rare thing and, asked for few rows, sorts the whole branch. The signs keep
    the span out of its choice. ``down`` is a walk from the highest uid: begun at the newest memory that was
    known at the limit, where much came after it.
    """

    def __init__(self, *args: Any, down: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.down = down

    @property
    def identity(self) -> tuple:
        return (*super().identity, self.down)

    def _arm(self, place: int, table: str, me: str) -> str:
        arm = super()._arm(place, table, me)
        return f"{arm} AND {me}.uid <= {self._newest(table)}" if self.down else arm

    def _bound(self, column: str) -> str:
        return f"+{column}"

    def _newest(self, table: str) -> str:
        """An entry of the index costs an eighth of a row that the walk would skip."""
        later = f"SELECT 1 FROM {table} n WHERE n.branch_id = %s AND n.seq_from > %s"
        known = f"SELECT max(+n.uid) FROM {table} n WHERE n.branch_id = %s AND n.seq_from <= %s"
        return f"CASE WHEN EXISTS ({later}) THEN ({known}) ELSE 'g' END"  # g: after every hexadecimal digit

    def _values(self, place: int) -> list[int]:
        branch, limit = self.lineage[place]
        bound = [branch, limit + limit // 8, branch, limit] if self.down else []
        return [*super()._values(place), *bound]


class Aside(Visible):
    """What one arm shows, for a database that is to look for rows by another column."""

    def _bound(self, column: str) -> str:
        return f"{column} + 0"


class OneOf(Condition):
    """Whether a column has one of some values."""

    def __init__(self, model: type[models.Model], name: str, values: Sequence[Any], alias: str = "") -> None:
        super().__init__(alias)
        self.of: Any = model._meta.get_field(name)
        self.values = tuple(values)

    @property
    def identity(self) -> tuple:
        return (type(self), self.of, self.values, self.alias)

    def written(self, connection: Any) -> tuple[str, Sequence[Any]]:
        stored = [self.of.get_db_prep_value(value, connection) for value in self.values]
        return f"{self.alias}.{connection.ops.quote_name(self.of.column)} IN ({marks(stored)})", stored


class Begun(Condition):
    """Whether a row had begun by a seq, which few had: SQLite takes every bound for a quarter of the rows."""

    def __init__(self, limit: int, alias: str = "") -> None:
        super().__init__(alias)
        self.limit = limit

    @property
    def identity(self) -> tuple:
        return (type(self), self.limit, self.alias)

    def written(self, connection: Any) -> tuple[str, Sequence[Any]]:
        begun = f"{self.alias}.seq_from <= %s"
        return f"unlikely({begun})" if connection.features.must_be_told_to_walk else begun, [self.limit]


class Holds(Func):
    """Whether a text holds another as a part. Case counts, and no sign stands for others."""

    template = "INSTR(%(expressions)s) > 0"
    arity = 2
    conditional = True
    output_field = models.BooleanField()

    def as_matrixone(self, compiler: Any, connection: Any) -> Any:
        """INSTR ignores case there, and LIKE reads some signs as those of a regular expression."""
        text, part = map(compiler.compile, self.get_source_expressions())
        return f"REPLACE({text[0]}, {part[0]}, '') <> {text[0]}", (*text[1], *part[1], *text[1])


class Judged(Condition):
    """Whether a row that judges this one, on what it says now, is visible along a lineage."""

    looks_elsewhere = True  # at another table

    def __init__(
        self,
        judging: type[models.Model],
        statuses: Sequence[str],
        lineage: Sequence[tuple[int, int]],
        alias: str = "",
    ) -> None:
        super().__init__(alias)
        self.statuses = tuple(str(status) for status in statuses)
        self.visible = Visible(judging, lineage, alias="j")

    @property
    def identity(self) -> tuple:
        return (type(self), self.visible.identity, self.statuses, self.alias)

    def written(self, connection: Any) -> tuple[str, Sequence[Any]]:
        shown, params = self.visible.written(connection)
        table = connection.ops.quote_name(self.visible.model._meta.db_table)
        same = f"j.uid = {self.alias}.uid AND j.judged_hash = {self.alias}.judged_hash"
        among = f"j.status IN ({marks(self.statuses)})"
        sql = f"EXISTS (SELECT 1 FROM {table} j WHERE {same} AND {shown} AND {among})"
        return sql, [*params, *self.statuses]


class Seen(Condition):
    """Whether a row that was added once, and perhaps taken back, counts along a lineage."""

    def __init__(self, lineage: Sequence[tuple[int, int]], alias: str = "") -> None:
        super().__init__(alias)
        self.lineage = tuple(lineage)

    @property
    def identity(self) -> tuple:
        return (type(self), self.lineage, self.alias)

    def written(self, connection: Any) -> tuple[str, Sequence[Any]]:
        me = self.alias
        arm = f"({me}.branch_id = %s AND {me}.seq <= %s AND {me}.seq_to > %s)"
        values = [value for branch, limit in self.lineage for value in (branch, limit, limit)]
        return f"({' OR '.join([arm] * len(self.lineage))})", values


class Written(Condition):
    """The conditions of a queryset, whose SQL is written once for all statements that repeat them."""

    HERE = "the_row_asked_about"  # stands for the table that the conditions are about

    def __init__(self, sql: str = "", params: Sequence[Any] = (), alias: str = "") -> None:
        super().__init__(alias)
        self.sql, self.params = sql, tuple(params)

    @classmethod
    def of(cls, rows: models.QuerySet) -> Self:
        """The conditions of a queryset of one table without joins. Raises EmptyResultSet."""
        alias, query = rows.query.get_initial_alias(), rows.query.clone()
        query.change_aliases({alias: cls.HERE})
        try:
            return cls(*query.get_compiler(rows.db).compile(query.where))
        except FullResultSet:  # conditions that everything passes
            return cls()

    @property
    def identity(self) -> tuple:
        return (type(self), self.sql, self.params, self.alias)

    def written(self, connection: Any) -> tuple[str, Sequence[Any]]:
        here = connection.ops.quote_name(self.HERE)
        sql = self.sql.replace(here, self.alias).replace(self.HERE, self.alias)
        return f"({sql or '1 = 1'})", self.params


def marks(values: Sequence[Any]) -> str:
    """A placeholder for each value."""
    return ", ".join(["%s"] * len(values))
