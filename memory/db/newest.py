"""The newest rows of several querysets, read together."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from django.core.exceptions import EmptyResultSet

from memory.db.backend import get_features
from memory.db.lazy_filters import Row
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import fetch_keys


def fetch_newest(sources: Sequence[tuple[VersionedQuerySet[Row], int]]) -> list[Row]:
    """Return the rows of ``newest`` of several querysets of a model, each once and unordered; in one
    statement where the database takes a limit in it.
    """
    first = sources[0][0]
    if get_features(first.db).sorts_whole_rows:
        return list({row.pk: row for rows, k in sources for row in rows.newest(k)}.values())
    selects = [select for rows, k in sources if (select := select_newest_keys(rows, k))[0]]
    keys = " UNION ALL ".join(f"SELECT * FROM ({sql})" for sql, _ in selects)
    values = [value for _, params in selects for value in params]
    return fetch_keys(first.model, first.db, keys, values) if selects else []


def select_newest_keys(rows: VersionedQuerySet, k: int) -> tuple[str, Sequence[Any]]:
    """Return a SELECT of the primary keys of the k newest rows; "" where there can be none."""
    arms = []
    for arm in rows.ordered_arms("uid", down=True):
        with suppress(EmptyResultSet):
            arms.append(arm.values_list("pk", "uid")[:k].query.sql_with_params())
    every = " UNION ALL ".join(f"SELECT * FROM ({sql})" for sql, _ in arms)
    values = [value for _, params in arms for value in params]
    return every and f"SELECT e.pk FROM ({every}) e ORDER BY e.uid DESC LIMIT {k}", values
