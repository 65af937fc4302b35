"""Vectors on MatrixOne.

The rows of memory_vector are the truth, their vectors as bytes. So that the server can compute with them
quickly, they are copied to a table for each number of dimensions. What is not copied yet is computed from the
bytes: a search sees every vector that is ready, and no writer waits for a copy.
"""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from django.apps import apps
from django.db import DatabaseError

from memory.db.matrixone import errors, sql
from memory.db.tokens import vector_slot

CHUNK = 500
MORE = 4
BYTES = 4  # of a number

Scores = dict[str, float]  # by the hash of a text


class Vectors:
    def __init__(self, connection: Any) -> None:
        self.connection = connection

    # ---- asking --------------------------------------------------------------------------------

    def portions(
        self, vector: np.ndarray, model: str, project_id: Any, take: int
    ) -> Iterator[tuple[Scores, bool]]:
        """The nearest texts of a project, in ever larger portions, and whether there are no more."""
        of = (_key(project_id), model)
        copied, now = self._copied(len(vector), *of)
        while True:
            found = self._exact(vector, of, take) if copied else []
            if now > copied:
                found += self._uncopied(vector, of, copied, take)
            best = sorted(found, key=lambda hit: -hit[1])[:take]
            yield dict(best), len(best) < take
            take *= MORE

    def cosines(self, hashes: Collection[str], vector: np.ndarray, model: str, project_id: Any) -> Scores:
        """The cosine of each of some texts that has a vector."""
        scores: Scores = {}
        slots = [vector_slot(project_id, model, value) for value in hashes]
        for start in range(0, len(slots), CHUNK):
            rows = apps.get_model("memory", "Vector").objects.filter(slot__in=slots[start : start + CHUNK])
            for value, state, data in rows.values_list("content_hash", "state", "data"):
                if state == "ready" and data is not None and len(data) == len(vector):
                    scores[value] = float(data @ vector)
        return scores

    def _exact(self, vector: np.ndarray, of: tuple[str, str], take: int) -> list[tuple[str, float]]:
        return self._ask(sql.EXACT, len(vector), sql.literal(vector), *of, take)

    def _uncopied(
        self, vector: np.ndarray, of: tuple[str, str], copied: int, take: int
    ) -> list[tuple[str, float]]:
        return self._ask(sql.UNCOPIED, len(vector), sql.literal(vector), *of, copied, take)

    def _copied(self, dimensions: int, project: str, model: str) -> tuple[int, int]:
        """Up to which tick of the project's clock vectors are copied, and what the clock says."""
        try:
            copied, now = self._ask(sql.COPIED, dimensions, project, project, model)[0]
        except DatabaseError as error:
            if errors.code_of(error) not in sql.NO_TABLE:
                raise
            return 0, 1
        return copied, now or 0

    # ---- copying -------------------------------------------------------------------------------

    def copy(self, project_id: Any, model: str) -> None:
        """Copy what became ready since the last time. Two that do so at once copy the same, and once."""
        project = _key(project_id)
        ready = apps.get_model("memory", "Vector").objects.filter(
            project=project_id, model=model, n__gt=0, state="ready"
        )
        some = ready.exclude(data=None).values_list("data", flat=True).first()
        if some is None:
            return
        self._run(sql.CREATE, len(some))
        copied, now = self._copied(len(some), project, model)
        if now > copied:
            self._run(sql.COPY_MORE, len(some), project, model, copied)

    def optimize(self) -> None:
        """Copy what every project has."""
        vectors = apps.get_model("memory", "Vector").objects.filter(n__gt=0)
        for project_id, model in vectors.values_list("project_id", "model").distinct():
            self.copy(project_id, model)

    def tables(self) -> list[str]:
        """The names of the tables with copies."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql.TABLES)
            return [name for (name,) in cursor.fetchall()]

    # ---- statements ----------------------------------------------------------------------------

    def _run(self, statement: str, dimensions: int, *params: Any) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(_said(statement, dimensions), params)

    def _ask(self, statement: str, dimensions: int, *params: Any) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(_said(statement, dimensions), params)
            return list(cursor.fetchall())


def _said(statement: str, dimensions: int) -> str:
    table = sql.COPY.format(dimensions)
    return statement.format(table=table, dimensions=dimensions, size=dimensions * BYTES)


def _key(project_id: Any) -> str:
    """A project's id as it is stored."""
    return project_id.hex if hasattr(project_id, "hex") else str(project_id).replace("-", "")
