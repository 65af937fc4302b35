"""Raw reads for the vector cache, in parts: Python values of each row would cost more."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from django.apps import apps
from django.db import connection, models
from django.db.models import BooleanField, ExpressionWrapper, Q, Value

from memory.db.expressions import placeholders
from memory.db.indexes import searchable_condition
from memory.db.raw_select import RawReading, Statement, fetch_each

Key = TypeVar("Key")
BATCH_SIZE = 2000  # rows: all at once would take more memory than the vectors


def load_versions(
    model: type[models.Model], condition: Q, tokens: Sequence[str]
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield rows of a model in parts, each as a list of columns.

    They are rid, seq_from, seq_to, deleted, found, uid, content_hash and the token columns; deleted and found
    (by a plain search) are 0 or 1, uid has 32 digits.
    """
    searchable = searchable_condition(model)
    found = ExpressionWrapper(searchable, BooleanField()) if searchable else Value(True)
    columns = ("rid", "seq_from", "seq_to", "deleted", "found", "uid", "content_hash", *tokens)
    rows = model._base_manager.filter(condition).annotate(found=found).values_list(*columns)
    sql, params = rows.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        while batch := cursor.fetchmany(BATCH_SIZE):
            yield list(zip(*batch, strict=True))


def find_changes(model: type[models.Model], branch: int, after: int, limit: int) -> tuple[bool, bool]:
    """Return whether versions began, and whether some ended, after one seq of a branch and up to another.

    Most commits change rows of another model: this one statement takes less than two that find nothing.
    """
    ((begun, ended),) = fetch_each([plan_changes(model, branch, after, limit)])
    return bool(begun), bool(ended)


def plan_changes(model: type[models.Model], branch: int, after: int, limit: int) -> Statement:
    """Return the statement of ``find_changes``, for ``read_together``."""
    exists = f'EXISTS (SELECT 1 FROM "{model._meta.db_table}" WHERE branch_id = %s AND'
    sql = f"SELECT {exists} seq_from > %s AND seq_from <= %s), {exists} seq_to > %s AND seq_to <= %s)"
    return RawReading(connection, 2), sql, [branch, after, limit] * 2


def load_vectors(slots: Sequence[str]) -> Iterator[list[tuple[str, bytes]]]:
    """Yield pairs of content hash and vector bytes of the slots that are ready, in parts.

    By key alone: with the state as a condition, the planner reads all ready vectors.
    """
    table = apps.get_model("memory", "Vector")._meta.db_table
    for start in range(0, len(slots), BATCH_SIZE):
        batch = slots[start : start + BATCH_SIZE]
        sql = f'SELECT content_hash, state, data FROM "{table}" WHERE slot IN ({placeholders(batch)})'
        with connection.cursor() as cursor:
            cursor.execute(sql, batch)
            yield [(value, data) for value, state, data in cursor.fetchall() if state == "ready" and data]


def build_matrix(data: Mapping[Key, bytes], dimensions: int) -> tuple[list[Key], np.ndarray]:
    """Return the keys of vectors of equal length, and the vectors as the rows of one array.

    Those with a number that is not finite are left out: damaged ones are found by words alone.
    """
    matrix = np.frombuffer(b"".join(data.values()), dtype="<f4").reshape(-1, dimensions)
    finite = np.isfinite(matrix).all(axis=1)
    return [key for key, is_finite in zip(data, finite.tolist(), strict=True) if is_finite], matrix[finite]


def hash_key(content_hash: str) -> int:
    return int(content_hash[:15], 16)


def uid_low_bits(uid: str) -> int:
    """Return the random half of a UUID, given as hex digits, as a signed 64-bit number."""
    low = int(uid[16:], 16)
    return low - 2**64 if low >= 2**63 else low
