"""Reads of several querysets or tables in one statement."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Generic
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections

from memory.db.backend import get_backend, get_features
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import ROW, Statement, build_instances, fetch_each, prepare_reading
from memory.db.versioned_query import Row


class NewestRows(Generic[Row]):
    """The rows of ``newest`` of several querysets of a model, with these columns; in one statement where the
    database takes a limit in it.
    """

    def __init__(self, sources: Sequence[tuple[VersionedQuerySet[Row], int]], columns: Sequence[str]) -> None:
        self.sources, self.model, self.using = sources, sources[0][0].model, sources[0][0].db
        self.columns = columns
        self.is_split = get_features(self.using).sorts_whole_rows
        self.statements: list[Statement] = [] if self.is_split else self._plan()  # for ``read_together``

    def _plan(self) -> list[Statement]:
        selects = [select for rows, k in self.sources if (select := select_newest_keys(rows, k))[0]]
        keys = " UNION ALL ".join(f"SELECT * FROM ({sql})" for sql, _ in selects)
        values = [value for _, params in selects for value in params]
        return [plan_keys(self.model, self.using, self.columns, keys, values)] if selects else []

    def fetch(self) -> list[Row]:
        """Return the rows, each once and unordered."""
        if self.is_split:
            return list({row.pk: row for rows, k in self.sources for row in rows.newest(k)}.values())
        return build_instances(self.model, self.using, fetch_each(self.statements), self.columns)


def select_newest_keys(rows: VersionedQuerySet, k: int) -> tuple[str, Sequence[Any]]:
    """Return a SELECT of the primary keys of the k newest rows; "" where there can be none."""
    pk: Any = rows.model._meta.pk
    arms = rows.plan_edge((pk.name, "uid"), k, "uid")
    every = " UNION ALL ".join(f"SELECT * FROM ({sql})" for _, sql, _ in arms)
    column = connections[rows.db].ops.quote_name(pk.column)
    values = [value for *_, params in arms for value in params]
    return every and f"SELECT e.{column} FROM ({every}) e ORDER BY e.uid DESC LIMIT {k}", values


def plan_keys(
    model: type[Any], using: str, columns: Sequence[str], keys: str, values: Sequence[Any]
) -> Statement:
    """Return the statement that reads columns of the rows whose primary keys are those of a SELECT."""
    read = prepare_reading(using, model, columns)
    pk: Any = model._meta.pk
    where = f"{ROW}.{connections[using].ops.quote_name(pk.column)} IN ({keys})"
    return read, *read.build((where, values))


def list_written(
    models: Sequence[Any], spans: Sequence[tuple[int, int, int]], using: str = DEFAULT_DB_ALIAS
) -> dict[Any, set[UUID]]:
    """Return which memories of each model have versions of spans: a branch, the seq before, the last one."""
    quote: Any = connections[using].ops.quote_name
    where = f"{ROW}.branch_id = %s AND {ROW}.seq_from > %s AND {ROW}.seq_from <= %s"
    arms = [
        f"SELECT {ROW}.uid, {place} FROM {quote(model._meta.db_table)} {ROW} WHERE {where}"
        for place, model in enumerate(models)
    ]
    found = defaultdict[Any, set[UUID]](set)
    for span in spans:
        read = prepare_reading(using, models[0], ["uid"])
        for uid, place in read.fetch(" UNION ALL ".join(arms), span * len(models)):
            found[models[place]].add(uid)
    return found


def read_together(statements: Iterable[Statement], using: str = DEFAULT_DB_ALIAS) -> None:
    """Read several statements as one and note their rows, where the database notes any."""
    notes = get_backend(using).notes
    new = [one for one in statements if (one[1], *one[2]) not in notes]
    if not get_features(using).keeps_notes or notes is not get_backend(using).notes or len(new) < 2:
        return
    widths = [len(read.converters) for read, _, _ in new]
    # SQLite may convert to the types of the first SELECT, 1.0 to a text: this one has no types and no rows.
    arms = [f"SELECT -1{', NULL' * max(widths)} WHERE 0"]
    arms += [
        f"SELECT {place}, q.*{', NULL' * (max(widths) - width)} FROM ({sql}) q"
        for place, (width, (_, sql, _)) in enumerate(zip(widths, new, strict=True))
    ]
    rows: list[list[tuple]] = [[] for _ in new]
    with connections[using].cursor() as cursor:
        cursor.execute(" UNION ALL ".join(arms), [value for *_, values in new for value in values])
        for row in cursor.fetchall():
            rows[row[0]].append(row[1 : 1 + widths[row[0]]])
    notes.update(((sql, *values), found) for (_, sql, values), found in zip(new, rows, strict=True))


def note_as(statement: Statement, read: Statement, using: str = DEFAULT_DB_ALIAS) -> None:
    """Note the rows of a statement that was read together with others as those of another one."""
    notes = get_backend(using).notes
    if (rows := notes.get((read[1], *read[2]))) is not None:
        notes[statement[1], *statement[2]] = rows
