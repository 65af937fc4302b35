"""Vectors on MatrixOne.

The rows of memory_vector are the truth, their vectors as bytes. So that the server can compute with them
quickly, they are copied to a table for each number of dimensions. What is not copied yet is computed from the
bytes: a search sees every vector that is ready, and no writer waits for a copy.
"""

import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from django.apps import apps
from django.db import DatabaseError, models

from memory.db.expressions import marks
from memory.db.matrixone import errors, sql
from memory.db.matrixone.features import DatabaseFeatures
from memory.db.reading import picked
from memory.db.tokens import vector_slot

MORE = 4
BYTES = 4  # of a number
TICKS = 16  # of a project's clock that may pass before its new vectors are copied
MANY = 20_000  # vectors of a table that are still compared one by one: docs/matrixone.md has the measurement
ROWS_OF_A_LIST = 1000
KNOWN = 60.0  # seconds for which a process believes what it saw of an index
AT_ONCE = DatabaseFeatures.keys_at_once

Scores = dict[str, float]  # by the hash of a text
Of = tuple[str, str]  # a project, as it is stored, and a model

_probed: dict[
    tuple[str, int], tuple[bool, float]
] = {}  # tables with an index, and until when that is believed


class Vectors:
    def __init__(self, connection: Any) -> None:
        self.connection = connection

    # ---- asking --------------------------------------------------------------------------------

    def portions(
        self, vector: np.ndarray, model: str, project_id: Any, take: int
    ) -> Iterator[tuple[Scores, bool]]:
        """The nearest texts of a project, in ever larger portions, and whether there are no more."""
        of = (_key(project_id), model)
        copied, now = self._copied(len(vector), of)
        if copied and self._has_index(len(vector)):
            for some in (take, take * MORE):
                found = self._probe(vector, of, some)
                yield self._best(found, vector, of, copied, now, some), False
                if len(found) < some:  # the lists that were looked at hold mostly texts of other projects
                    break
        while True:
            found = self._exact(vector, of, take) if copied else []
            best = self._best(found, vector, of, copied, now, take)
            yield best, len(best) < take
            take *= MORE

    def _best(
        self, found: list[tuple[str, float]], vector: np.ndarray, of: Of, copied: int, now: int, take: int
    ) -> Scores:
        """With what is not copied yet."""
        if now > copied:
            found += self._ask(sql.UNCOPIED, len(vector), sql.literal(vector), *of, copied, take)
        return dict(sorted(found, key=lambda hit: -hit[1])[:take])

    def cosines(self, hashes: Collection[str], vector: np.ndarray, model: str, project_id: Any) -> Scores:
        """The cosine of each of some texts that has a vector."""
        slots = {vector_slot(project_id, model, value): value for value in hashes}
        scores = self._of_copies(list(slots), vector, (_key(project_id), model))
        rest = [slot for slot, value in slots.items() if value not in scores]
        return scores | self._of_bytes(rest, vector)

    def _of_copies(self, slots: Sequence[str], vector: np.ndarray, of: Of) -> Scores:
        """What the server computes: the copies are at hand there, the bytes are read from far."""
        scores: Scores = {}
        try:
            for start in range(0, len(slots), AT_ONCE):
                some = slots[start : start + AT_ONCE]
                asked = sql.COSINES.replace("{marks}", marks(some))
                scores |= self._ask(asked, len(vector), sql.literal(vector), *of, *some)
        except DatabaseError as error:
            _unless_missing(error)
        return scores

    def _of_bytes(self, slots: Sequence[str], vector: np.ndarray) -> Scores:
        rows = picked(_vectors().all(), ("content_hash", "state", "data"), "slot", slots)
        fit = [(value, data) for value, state, data in rows if state == "ready" and data is not None]
        return {value: float(data @ vector) for value, data in fit if len(data) == len(vector)}

    def _exact(self, vector: np.ndarray, of: Of, take: int) -> list[tuple[str, float]]:
        return self._ask(sql.EXACT, len(vector), sql.literal(vector), *of, take)

    def _probe(self, vector: np.ndarray, of: Of, take: int) -> list[tuple[str, float]]:
        asked = sql.literal(vector)
        return self._ask(sql.PROBED, len(vector), asked, *of, asked, take)

    def _copied(self, dimensions: int, of: Of) -> tuple[int, int]:
        """Up to which tick of the project's clock vectors are copied, and what the clock says."""
        try:
            copied, now = self._ask(sql.COPIED, dimensions, *of, of[0])[0]
        except DatabaseError as error:
            _unless_missing(error)
            return 0, 1
        return copied, now or 0

    def _has_index(self, dimensions: int) -> bool:
        key = (str(self.connection.settings_dict["NAME"]), dimensions)
        has, until = _probed.get(key, (False, 0.0))
        if until < time.monotonic():
            has = any(row[2] == "ivf" for row in self._ask(sql.INDEXES, dimensions))
            _probed[key] = (has, time.monotonic() + KNOWN)
        return has

    # ---- copying -------------------------------------------------------------------------------

    def keep_up(self, project_id: Any, model: str, ticks: int = TICKS) -> None:
        """Copy what became ready, when so many ticks have passed. Two that do so at once copy the same."""
        of = (_key(project_id), model)
        ready = _vectors().filter(project=project_id, model=model, n__gt=0, state="ready")
        some = ready.exclude(data=None).values_list("data", flat=True).first()
        if some is None:
            return
        copied, now = self._copied(len(some), of)
        if not copied:
            self._run(sql.CREATE, len(some))
            copied, now = self._copied(len(some), of)
        if not copied or now - copied >= ticks:
            self._run(sql.COPY_MORE, len(some), *of, copied)
            self._run(sql.MARK_COPIED, len(some), *of, now, sql.literal(some))

    def forget(self, project_id: Any, slots: Collection[str]) -> None:
        """Delete the copies of a project's vectors that were deleted."""
        for dimensions in self._dimensions():
            forget = sql.FORGET.replace("{marks}", marks(list(slots)))
            self._run(forget, dimensions, _key(project_id), *slots)

    def optimize(self) -> None:
        """Copy what every project has, drop copies of what is gone, index a table that has grown large."""
        for dimensions in self._dimensions():
            if not self._lie_together(dimensions):  # made by a release that kept them by slot alone
                self._run(sql.DROP, dimensions)
        known = _vectors().filter(n__gt=0).values_list("project_id", "model").distinct()
        for project_id, model in list(known):
            self.keep_up(project_id, model, ticks=1)
        for dimensions in self._dimensions():
            self._run(sql.ORPHANS, dimensions)
            self._index(dimensions)

    def _index(self, dimensions: int) -> None:
        [(count,)] = self._ask(sql.COUNT, dimensions)
        if count >= MANY:
            has = any(row[2] == "ivf" for row in self._ask(sql.INDEXES, dimensions))
            statement = sql.REINDEX if has else sql.INDEX
            self._run(statement.replace("{lists}", str(count // ROWS_OF_A_LIST)), dimensions)

    def _lie_together(self, dimensions: int) -> bool:
        """Whether the vectors of a project are neighbours in the table."""
        return any(
            row[2] == "PRIMARY" and row[4] == "project_id" for row in self._ask(sql.INDEXES, dimensions)
        )

    def tables(self) -> list[str]:
        """The names of the tables with copies."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql.TABLES)
            return [name for (name,) in cursor.fetchall()]

    def _dimensions(self) -> Iterable[int]:
        return [int(number) for name in self.tables() for number in re.findall(r"\d+$", name)]

    # ---- statements ----------------------------------------------------------------------------

    def _run(self, statement: str, dimensions: int, *params: Any) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(_said(statement, dimensions), params or None)

    def _ask(self, statement: str, dimensions: int, *params: Any) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(_said(statement, dimensions), params or None)
            return list(cursor.fetchall())


def _said(statement: str, dimensions: int) -> str:
    table = sql.COPY.format(dimensions)
    return statement.format(table=table, dimensions=dimensions, size=dimensions * BYTES)


def _unless_missing(error: DatabaseError) -> None:
    """Nothing was copied yet."""
    if errors.code_of(error) not in sql.NO_TABLE:
        raise error


def _vectors() -> models.Manager:
    return apps.get_model("memory", "Vector").objects


def _key(project_id: Any) -> str:
    """A project's id as it is stored."""
    return project_id.hex if hasattr(project_id, "hex") else str(project_id).replace("-", "")
