"""Full text and vectors on MatrixOne. The only place that says MATCH or cosine_similarity."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.db import models

from memory.db.querysets import Ranked, VersionedQuerySet


class SearchIndex:
    """What a connection can search. The server keeps its indexes itself, closed versions included."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def add(self, rows: Sequence[Any]) -> None:
        """The server indexed them when they were written."""

    def close(self, rows: Iterable[Any], held: Iterable[bool]) -> None:
        """Closed versions stay in the index, for reads of the past; conditions leave them out."""

    def hold(self, rows: Sequence[Any]) -> None:
        """They are in the index already."""

    def clear(self, model: type[models.Model]) -> None:
        """Nothing: the index follows its table."""

    def optimize(self) -> None:
        """Statistics are the server's."""

    def covers(self, rows: VersionedQuerySet) -> bool:
        """Whether the index holds what the rows' lineage shows: it always does."""
        return True

    def vector_tables(self) -> list[str]:
        return []

    def keyword(
        self, rows: VersionedQuerySet, words: Sequence[str], k: int, also: Sequence[int]
    ) -> tuple[Ranked, Ranked]:
        return [], []

    def nearest(
        self, rows: VersionedQuerySet, vector: np.ndarray, k: int, model: str, project_id: Any
    ) -> Ranked:
        return []

    def cosines(
        self, rids: Sequence[int], rows: VersionedQuerySet, vector: np.ndarray, model: str, project_id: Any
    ) -> Ranked:
        return []
