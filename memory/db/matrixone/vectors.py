"""Vectors on MatrixOne.

The rows of memory_vector are authoritative and store vectors as bytes. They are copied to one table for each
number of dimensions, so that the server can compute with them quickly. A vector that is not copied yet is
computed from its bytes: a search sees every ready vector, and no writer waits for a copy.
"""

import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np
from django.apps import apps
from django.db import DatabaseError, models

from memory.db.expressions import placeholders
from memory.db.index_tokens import vector_slot
from memory.db.matrixone import errors, vector_sql
from memory.db.matrixone.features import DatabaseFeatures
from memory.db.raw_select import select_by_key

GROWTH_FACTOR = 4
NUMBER_BYTES = 4  # of a number
TICKS = 16  # of a project's clock that may pass before its new vectors are copied
MAX_SCANNED_VECTORS = 20_000  # of a table, compared one by one: docs/matrixone.md has the measurement
ROWS_OF_A_LIST = 1000
INDEX_TTL_SECONDS = 60.0  # for which a process caches whether an index exists
BATCH_SIZE = DatabaseFeatures.keys_at_once

Scores = dict[str, float]  # by the hash of a text
Of = tuple[str, str]  # a project, as it is stored, and a model

_probed: dict[
    tuple[str, int], tuple[bool, float]
] = {}  # tables with an index, and the expiry of that knowledge


class Vectors:
    def __init__(self, connection: Any) -> None:
        self.connection = connection

    # ---- queries -------------------------------------------------------------------------------

    def iter_portions(
        self, vector: np.ndarray, model: str, project_id: Any, take: int
    ) -> Iterator[tuple[Scores, bool]]:
        """Yield the nearest texts of a project in growing portions, each with whether it is the last."""
        of = (project_key(project_id), model)
        copied, now = self._copied_until(len(vector), of)
        if copied and self._has_index(len(vector)):
            for batch in (take, take * GROWTH_FACTOR):
                found = self._search_index(vector, of, batch)
                yield without_damaged(self._merge_best(found, vector, of, copied, now, batch)), False
                if len(found) < batch:  # the probed lists have mostly texts of other projects
                    break
        while True:
            found = self._search_exact(vector, of, take) if copied else []
            best = self._merge_best(found, vector, of, copied, now, take)
            yield without_damaged(best), len(best) < take
            take *= GROWTH_FACTOR

    def _merge_best(
        self, found: list[tuple[str, float]], vector: np.ndarray, of: Of, copied: int, now: int, take: int
    ) -> Scores:
        """Merge in vectors that are not copied yet, and return the best scores; damaged vectors come last."""
        if now > copied:
            found += self._fetch_all(
                vector_sql.UNCOPIED, len(vector), vector_sql.vector_literal(vector), *of, copied, take
            )
        return dict(sorted(found, key=lambda hit: (isnan(hit[1]), -hit[1]))[:take])

    def score_cosines(
        self, hashes: Collection[str], vector: np.ndarray, model: str, project_id: Any
    ) -> Scores:
        """Return the cosine of each of the texts that has a vector."""
        slots = {vector_slot(project_id, model, value): value for value in hashes}
        scores = self._score_copies(list(slots), vector, (project_key(project_id), model))
        rest = [slot for slot, value in slots.items() if value not in scores]
        return without_damaged(scores | self._score_bytes(rest, vector))

    def _score_copies(self, slots: Sequence[str], vector: np.ndarray, of: Of) -> Scores:
        """Return scores that the server computes from copies, which are faster to read than the bytes."""
        scores: Scores = {}
        try:
            for start in range(0, len(slots), BATCH_SIZE):
                batch = slots[start : start + BATCH_SIZE]
                statement = vector_sql.COSINES.replace("{marks}", placeholders(batch))
                scores |= self._fetch_all(
                    statement, len(vector), vector_sql.vector_literal(vector), *of, *batch
                )
        except DatabaseError as error:
            _unless_missing(error)
        return scores

    def _score_bytes(self, slots: Sequence[str], vector: np.ndarray) -> Scores:
        rows = select_by_key(vector_rows().all(), ("content_hash", "state", "data"), "slot", slots)
        fit = [(value, data) for value, state, data in rows if state == "ready" and data is not None]
        return {value: float(data @ vector) for value, data in fit if len(data) == len(vector)}

    def _search_exact(self, vector: np.ndarray, of: Of, take: int) -> list[tuple[str, float]]:
        return self._fetch_all(vector_sql.EXACT, len(vector), vector_sql.vector_literal(vector), *of, take)

    def _search_index(self, vector: np.ndarray, of: Of, take: int) -> list[tuple[str, float]]:
        statement = vector_sql.vector_literal(vector)
        return self._fetch_all(vector_sql.PROBED, len(vector), statement, *of, statement, take)

    def _copied_until(self, dimensions: int, of: Of) -> tuple[int, int]:
        """Return the tick up to which vectors are copied, and the project's clock."""
        try:
            copied, now = self._fetch_all(vector_sql.COPIED, dimensions, *of, of[0])[0]
        except DatabaseError as error:
            _unless_missing(error)
            return 0, 1
        return copied, now or 0

    def _has_index(self, dimensions: int) -> bool:
        key = (str(self.connection.settings_dict["NAME"]), dimensions)
        has, until = _probed.get(key, (False, 0.0))
        if until < time.monotonic():
            has = any(row[2] == "ivf" for row in self._fetch_all(vector_sql.INDEXES, dimensions))
            _probed[key] = (has, time.monotonic() + INDEX_TTL_SECONDS)
        return has

    # ---- copying -------------------------------------------------------------------------------

    def refresh_vectors(self, project_id: Any, model: str, ticks: int = TICKS) -> None:
        """Copy new vectors once so many ticks have passed. Concurrent calls copy the same rows."""
        of = (project_key(project_id), model)
        ready = vector_rows().filter(project=project_id, model=model, n__gt=0, state="ready")
        batch = ready.exclude(data=None).values_list("data", flat=True).first()
        if batch is None:
            return
        copied, now = self._copied_until(len(batch), of)
        if not copied:
            self._run_statement(vector_sql.CREATE, len(batch))
            copied, now = self._copied_until(len(batch), of)
        if not copied or now - copied >= ticks:
            self._run_statement(vector_sql.COPY_MORE, len(batch), *of, copied)
            self._run_statement(
                vector_sql.MARK_COPIED, len(batch), *of, now, vector_sql.vector_literal(batch)
            )

    def delete_vectors(self, project_id: Any, slots: Collection[str]) -> None:
        """Delete copies of the project's deleted vectors."""
        for dimensions in self._known_dimensions():
            forget = vector_sql.FORGET.replace("{marks}", placeholders(list(slots)))
            self._run_statement(forget, dimensions, project_key(project_id), *slots)

    def optimize(self) -> None:
        """Copy new vectors of every project, delete orphaned copies, and index tables that grew large."""
        for dimensions in self._known_dimensions():
            if not self._lie_together(dimensions):  # created by a release whose key was the slot alone
                self._run_statement(vector_sql.DROP, dimensions)
        known = vector_rows().filter(n__gt=0).values_list("project_id", "model").distinct()
        for project_id, model in list(known):
            self.refresh_vectors(project_id, model, ticks=1)
        for dimensions in self._known_dimensions():
            self._run_statement(vector_sql.ORPHANS, dimensions)
            self._create_index(dimensions)

    def _create_index(self, dimensions: int) -> None:
        [(count,)] = self._fetch_all(vector_sql.COUNT, dimensions)
        if count >= MAX_SCANNED_VECTORS:
            has = any(row[2] == "ivf" for row in self._fetch_all(vector_sql.INDEXES, dimensions))
            statement = vector_sql.REINDEX if has else vector_sql.INDEX
            self._run_statement(statement.replace("{lists}", str(count // ROWS_OF_A_LIST)), dimensions)

    def _lie_together(self, dimensions: int) -> bool:
        """Return whether the table's key keeps the vectors of a project together."""
        return any(
            row[2] == "PRIMARY" and row[4] == "project_id"
            for row in self._fetch_all(vector_sql.INDEXES, dimensions)
        )

    def list_tables(self) -> list[str]:
        """Return the names of the tables with copies."""
        with self.connection.cursor() as cursor:
            cursor.execute(vector_sql.TABLES)
            return [name for (name,) in cursor.fetchall()]

    def _known_dimensions(self) -> Iterable[int]:
        return [int(number) for name in self.list_tables() for number in re.findall(r"\d+$", name)]

    # ---- statements ----------------------------------------------------------------------------

    def _run_statement(self, statement: str, dimensions: int, *params: Any) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(format_statement(statement, dimensions), params or None)

    def _fetch_all(self, statement: str, dimensions: int, *params: Any) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(format_statement(statement, dimensions), params or None)
            return list(cursor.fetchall())


def format_statement(statement: str, dimensions: int) -> str:
    table = vector_sql.COPY.format(dimensions)
    return statement.format(table=table, dimensions=dimensions, size=dimensions * NUMBER_BYTES)


def without_damaged(scores: Scores) -> Scores:
    """Leave out what was compared with a vector of NaN or infinity: the server scores it with NaN."""
    return {value: score for value, score in scores.items() if isfinite(score)}


def _unless_missing(error: DatabaseError) -> None:
    """Raise the error again, unless it is that the table of copies is missing."""
    if errors.get_error_code(error) not in vector_sql.NO_TABLE:
        raise error


def vector_rows() -> models.Manager:
    return apps.get_model("memory", "Vector").objects


def project_key(project_id: Any) -> str:
    """Return a project's id as it is stored."""
    return project_id.hex if hasattr(project_id, "hex") else str(project_id).replace("-", "")
