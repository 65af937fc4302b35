"""Comparison with vectors that are read from the database, for rows that no process keeps in memory."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from django.db import models

from memory.db.index_tokens import vector_slots
from memory.db.querysets import Ranked, VersionedQuerySet
from memory.db.sqlite.coded_vectors import Codes, inner_products
from memory.db.sqlite.vector_loader import build_matrix, load_vectors
from memory.db.sqlite.vector_scan import BestRows, sort_hits


class StoredVectors:
    """The vectors of one project's rows of one model, by one embedding model, in the database."""

    def __init__(self, model: type[models.Model], project_id: Any, embedder: str) -> None:
        self.model, self.project_id, self.embedder = model, project_id, embedder

    def hash_slots(self, hashes: Iterable[str]) -> list[str]:
        return list(map(vector_slots(self.project_id, self.embedder), hashes))

    def nearest_read(self, rows: VersionedQuerySet, vector: np.ndarray, k: int) -> Ranked:
        """Search with rows and vectors read from the database."""
        return self._score_rows(rows.prefer_start_index().order_by(), vector)[:k]

    def cosines_past(self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray) -> Ranked:
        """Return the cosines of the rows, read from the database."""
        return self._score_rows(self.model._base_manager.filter(pk__in=rids), vector)

    def match_read(self, rows: VersionedQuerySet, vectors: np.ndarray, floor: float, k: int) -> list[Ranked]:
        """Search by several vectors, with rows and vectors read from the database."""
        best = BestRows(vectors, floor, k)
        for matrix, rids in self._read_vectors(rows.prefer_start_index().order_by(), vectors.shape[-1]):
            at = np.repeat(np.arange(len(rids)), [len(same) for same in rids])
            best.compare(
                Codes.encode(matrix), at, np.array([rid for same in rids for rid in same], dtype="i8")
            )
        return best.rank()

    def _score_rows(self, rows: models.QuerySet, vector: np.ndarray) -> Ranked:
        hits: Ranked = []
        for matrix, rids in self._read_vectors(rows, len(vector)):
            scores = inner_products(matrix, vector).tolist()
            hits += [(rid, score) for same, score in zip(rids, scores, strict=True) for rid in same]
        return sort_hits(hits)

    def _read_vectors(
        self, rows: models.QuerySet, dimensions: int
    ) -> Iterator[tuple[np.ndarray, list[list[int]]]]:
        """Yield vectors of the rows in parts, each as a matrix with the row ids of each vector."""
        by_hash: dict[str, list[int]] = {}
        for rid, value in rows.values_list("pk", "content_hash").iterator(5000):
            by_hash.setdefault(value, []).append(rid)
        for part in load_vectors(self.hash_slots(by_hash)):
            fitting = {value: data for value, data in part if len(data) == 4 * dimensions}
            values, matrix = build_matrix(fitting, dimensions)
            yield matrix, [by_hash[value] for value in values]
