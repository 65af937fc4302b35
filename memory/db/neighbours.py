"""Rows next to others: before and after them by uid, or the newest below one."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from django.db import connections, models
from django.db.models import F, Value
from django.db.models.functions import Substr

from memory.db.budget import text_fields
from memory.db.expressions import ColumnIn, Condition
from memory.db.raw_select import ROW, join_conditions, prepare_reading, render_conditions

MAX_UNITED = 100  # selects of a statement
Reach = tuple[int, int]  # how many rows before another, and how many after it


def read_neighbours(
    using: str,
    model: type[models.Model],
    conditions: Iterable[Condition],
    pks: Sequence[int],
    same: str,
    columns: Sequence[str],
    reach: Reach,
    cut: int | None = None,
) -> list[tuple]:
    """Return columns of the visible rows next to each row by uid, of those with its value of ``same``; with
    the side, and the key of the row that they are next to. With ``cut``, of long fields the beginning.
    """
    connection, read = connections[using], prepare_reading(using, model, columns, cut)
    named: Any = (model._meta.pk, model._meta.get_field(same))
    key, equal = (connection.ops.quote_name(field.column) for field in named)
    table = connection.ops.quote_name(model._meta.db_table)
    shown, values = join_conditions(render_conditions(conditions, using))
    known, requested = ColumnIn(model, str(named[0].name), pks, "q").render(connection)
    each = []
    for side, count in enumerate(reach):
        beyond, order = (">", "ASC") if side else ("<", "DESC")
        nearest = f"{ROW}.{equal} = q.{equal} AND {ROW}.uid {beyond} q.uid ORDER BY {ROW}.uid {order}"
        keys = f"SELECT {ROW}.{key} FROM {table} {ROW} WHERE {shown} AND {nearest} LIMIT {count}"
        rows = f"{table} q CROSS JOIN {table} {ROW} WHERE {known} AND {ROW}.{key} IN ({keys})"
        each += [f"SELECT {read.columns}, {side}, q.{key} FROM {rows}"] * bool(count)
    return read.fetch(" UNION ALL ".join(each), [*requested, *values] * len(each))


def unite_neighbours(
    arm: models.QuerySet,
    known: models.QuerySet,
    same: str,
    columns: Sequence[str],
    reach: Reach,
    cut: int | None = None,
) -> Iterable[tuple]:
    """Return the same rows of a lineage's arm for a database without LIMIT in correlated subqueries."""
    model: Any = arm.model
    long = {field.name for field in text_fields(model)} if cut else set()
    read = [Substr(name, 1, cut) if name in long else F(name) for name in columns]
    ones = [
        arm.filter(**{same: value, "uid__gt" if side else "uid__lt": uid})
        .annotate(is_after=Value(side), next_to=Value(pk, models.BigIntegerField()))
        .order_by("uid" if side else "-uid")
        .values_list(*read, "is_after", "next_to")[:count]
        for pk, uid, value in known.values_list("pk", "uid", same)
        for side, count in enumerate(reach)
        if count
    ]
    return ones[0].union(*ones[1:], all=True) if ones else ()


def count_distances(rows: Iterable[tuple], uid: int, reach: Reach) -> dict[int, dict[int, tuple]]:
    """Return rows as ``read_neighbours`` reads them by the key of the row that they are next to and by their
    distance, which is negative before it; of several lineages' rows the nearest. ``uid`` is its column.
    """
    sides = defaultdict[tuple[int, int], list[tuple]](list)
    for *values, side, key in rows:
        sides[key, side].append(tuple(values))
    found: dict[int, dict[int, tuple]] = defaultdict(dict)
    for (key, side), each in sides.items():
        if nearest := sorted(each, key=itemgetter(uid), reverse=not side)[: reach[side]]:
            found[key].update((at if side else -at, row) for at, row in enumerate(nearest, 1))
    return found


def newest_in_groups(
    using: str,
    model: type[models.Model],
    conditions: Iterable[Condition],
    columns: Sequence[str],
    groups: Sequence[Sequence[Any]],
) -> list[int]:
    """Return the keys of the visible rows that are the newest of their groups.

    A group is values of the columns and a uid, below which its row must be.
    """
    connection = connections[using]
    fields: Any = [model._meta.get_field(name) for name in (*columns, "uid")]
    shown, values = join_conditions(render_conditions(conditions, using))
    quote: Any = connection.ops.quote_name
    *equal, below = [f"{ROW}.{quote(field.column)}" for field in fields]
    within = " AND ".join([*(f"{name} = %s" for name in equal), f"{below} < %s"])
    pk: Any = model._meta.pk
    rows = f"{quote(model._meta.db_table)} {ROW} WHERE {shown} AND {within}"
    # In a table of its own, since SQLite takes no LIMIT in an arm of a union.
    select = f"SELECT * FROM (SELECT {ROW}.{quote(pk.column)} FROM {rows} ORDER BY {below} DESC LIMIT 1) g"
    found: list[int] = []
    for start in range(0, len(groups), MAX_UNITED):
        batch = groups[start : start + MAX_UNITED]
        params = [[*values, *prepare_group(fields, group, connection)] for group in batch]
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join([select] * len(batch)), [v for each in params for v in each])
            found += [key for (key,) in cursor.fetchall()]
    return found


def prepare_group(fields: Sequence[Any], group: Sequence[Any], connection: Any) -> list[Any]:
    return [field.get_db_prep_value(value, connection) for field, value in zip(fields, group, strict=True)]
