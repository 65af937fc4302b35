"""Full text of versions that were closed: what a search at a past point finds beside those still open.

A table of its own, so that searches of today never meet them. BM25 counts in each table by itself how rare
a word is; the scores here are brought to what the table of open versions says: both can be ranked as one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory.db.expressions import marks
from memory.db.indexes import FullTextIndex
from memory.db.querysets import VersionedQuerySet
from memory.db.tokens import point_tokens, span_tokens, tokens, value_token
from memory.db.words import spaced

STEPS = 10  # weights between one and its double: those of a step are asked for together
LEAST = 1e-6  # what bm25() takes a word for that most texts have


class ClosedVersions:
    """The tables beside the full-text tables of a connection."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    # ---- writing -------------------------------------------------------------------------------

    def add(self, index: FullTextIndex, rows: Iterable[tuple[Any, int]]) -> None:
        """Versions that were closed, each with the seq that closed it."""
        self._each(
            f'INSERT INTO "{index.closed}" (rowid, text, tok) VALUES (%s, %s, %s)',
            ((row.pk, spaced(getattr(row, index.fields[0])), _tokens(index, row, seq)) for row, seq in rows),
        )

    def remove(self, index: FullTextIndex, pks: Iterable[int]) -> None:
        self._each(f'DELETE FROM "{index.closed}" WHERE rowid = %s', ((pk,) for pk in pks))

    def _each(self, sql: str, values: Iterable[tuple]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(sql, values)

    # ---- asking --------------------------------------------------------------------------------

    def matches(
        self, index: FullTextIndex, rows: VersionedQuerySet, phrases: Sequence[str]
    ) -> tuple[str, list[str]]:
        """SQL for row ids and scores of closed versions with any of the phrases, and its values; "" for none.

        All that were open at the points of the lineage are among them, and some that were not.
        """
        table, narrow, parts, values = index.closed, self._narrow(index, rows), [], []
        for weight, some in self._weighted(index, phrases).items():
            parts.append(f'SELECT rowid AS r, rank * {weight} AS s FROM "{table}" WHERE "{table}" MATCH %s')
            values.append(f"{narrow} AND {text_of(some)}")
        return f"SELECT r, sum(s) AS s FROM ({' UNION ALL '.join(parts)}) GROUP BY r" if parts else "", values

    def _narrow(self, index: FullTextIndex, rows: VersionedQuerySet) -> str:
        lineage = rows._lineage or ()
        heads = self._heads([branch for branch, _ in lineage])
        states = [True] if rows._only_searchable else [True, False]
        points = [
            f"{token}*"
            for branch, seq in lineage
            for state in states
            for token in point_tokens(branch, seq, heads.get(branch, seq), state)
        ]
        return " AND ".join(f"tok:({some})" for some in [" OR ".join(points), *narrowed(index, rows)])

    def _heads(self, branches: Sequence[int]) -> dict[int, int]:
        sql = f"SELECT id, head FROM memory_branch WHERE id IN ({marks(branches)})"
        with self.connection.cursor() as cursor:
            cursor.execute(sql, branches)
            return dict(cursor.fetchall())

    # ---- ranking -------------------------------------------------------------------------------

    def _weighted(self, index: FullTextIndex, phrases: Sequence[str]) -> Mapping[float, list[str]]:
        """The phrases that closed versions have, by how much rarer they are among those that are open."""
        every_open, *open_ = self._counts(index.name, phrases)
        every_closed, *closed = self._counts(index.closed, phrases)
        found: dict[float, list[str]] = {}
        for phrase, here, there in zip(phrases, open_, closed, strict=True):
            if there:
                ratio = _rarity(every_open, here) / _rarity(every_closed, there)
                found.setdefault(2 ** (round(STEPS * math.log2(ratio)) / STEPS), []).append(phrase)
        return found

    def _counts(self, table: str, phrases: Sequence[str]) -> Sequence[int]:
        """How many rows a table has, and how many of them have each of the phrases."""
        counts = [f'SELECT count(*) FROM "{table}" WHERE "{table}" MATCH %s'] * len(phrases)
        each = ", ".join(f"({sql})" for sql in (f'SELECT count(*) FROM "{table}_docsize"', *counts))
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT {each}", [text_of([phrase]) for phrase in phrases])
            return cursor.fetchone()


def text_of(phrases: Sequence[str]) -> str:
    """A question for rows whose text has any of the phrases."""
    return "text:(" + " OR ".join('"' + phrase.replace('"', '""') + '"' for phrase in phrases) + ")"


def narrowed(index: FullTextIndex, rows: VersionedQuerySet) -> list[str]:
    """For each column that rows are narrowed by, the tokens of which they must have one."""
    fields = {name: index.tokens.index(name) for name in rows._tokens}
    return [
        " OR ".join(value_token(fields[name], value) for value in values) or "none"
        for name, values in rows._tokens.items()
    ]


def _tokens(index: FullTextIndex, row: Any, seq_to: int) -> str:
    return tokens(index, row, span_tokens(row.branch_id, row.seq_from, seq_to, row.searchable))


def _rarity(every: int, having: int) -> float:
    """How much a word says, as bm25() counts it."""
    return max(math.log((every - having + 0.5) / (having + 0.5)), LEAST)
