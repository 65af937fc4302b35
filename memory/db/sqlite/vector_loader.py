"""What memory copies from the database, in parts and as stored: Python values of each would cost more."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from django.apps import apps
from django.db import connection, models
from django.db.models import BooleanField, ExpressionWrapper, Q, Value

from memory.db.expressions import marks

PART = 2000  # rows: all at once, they would take more room than the vectors


def versions(
    model: type[models.Model], condition: Q, tokens: Sequence[str]
) -> Iterator[list[tuple[Any, ...]]]:
    """Rows of a model in parts: the columns rid, seq_from, seq_to, deleted, found, uid, content_hash and
    those of the tokens; deleted and found (by a plain search) as 0 or 1, uid as 32 digits.
    """
    searchable = model.searchable_q()  # type: ignore[attr-defined]
    found = ExpressionWrapper(searchable, BooleanField()) if searchable else Value(True)
    columns = ("rid", "seq_from", "seq_to", "deleted", "found", "uid", "content_hash", *tokens)
    rows = model._base_manager.filter(condition).annotate(found=found).values_list(*columns)
    sql, params = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        while some := cursor.fetchmany(PART):
            yield list(zip(*some, strict=True))


def vectors(slots: Sequence[str]) -> Iterator[list[tuple[str, bytes]]]:
    """(content hash, bytes of the vector) of those that are ready, in parts. By key alone, or the planner
    reads all that are ready.
    """
    table = apps.get_model("memory", "Vector")._meta.db_table
    for start in range(0, len(slots), PART):
        some = slots[start : start + PART]
        sql = f'SELECT content_hash, state, data FROM "{table}" WHERE slot IN ({marks(some)})'
        with connection.cursor() as cursor:
            cursor.execute(sql, some)
            yield [(value, data) for value, state, data in cursor.fetchall() if state == "ready" and data]


def matrix(data: Iterable[bytes], dimensions: int) -> np.ndarray:
    """Vectors of equal length as the rows of one array."""
    return np.frombuffer(b"".join(data), dtype="<f4").reshape(-1, dimensions)
