"""Full text of closed versions, which a search at a past point needs besides the open ones.

It is a separate table, so that searches of the present never read it. BM25 measures the rarity of a word in
each table by itself; the scores here are rescaled to those of open versions, so that both can be ranked
together.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory.db.bm25 import term_rarity
from memory.db.expressions import placeholders
from memory.db.index_tokens import point_tokens, row_tokens, space_characters, span_tokens, value_token
from memory.db.indexes import FullTextIndex
from memory.db.querysets import VersionedQuerySet

STEPS = 10  # weights between one and its double: those of a step share a query


class ClosedVersions:
    """The tables of closed versions of a connection."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    # ---- writing -------------------------------------------------------------------------------

    def add_versions(self, index: FullTextIndex, rows: Iterable[tuple[Any, int]]) -> None:
        """Index closed versions, each with the seq that closed it."""
        self._execute_many(
            f'INSERT INTO "{index.closed}" (rowid, text, tok) VALUES (%s, %s, %s)',
            (
                (row.pk, space_characters(getattr(row, index.fields[0])), version_tokens(index, row, seq))
                for row, seq in rows
            ),
        )

    def remove_versions(self, index: FullTextIndex, pks: Iterable[int]) -> None:
        self._execute_many(f'DELETE FROM "{index.closed}" WHERE rowid = %s', ((pk,) for pk in pks))

    def _execute_many(self, sql: str, values: Iterable[tuple]) -> None:
        with self.connection.cursor() as cursor:
            cursor.executemany(sql, values)

    # ---- queries -------------------------------------------------------------------------------

    def match_sql(
        self, index: FullTextIndex, rows: VersionedQuerySet, phrases: Sequence[str]
    ) -> tuple[str, list[str]]:
        """Return SQL for row ids and scores of closed versions with any of the phrases, and its values.

        The SQL is "" when none matches. The rows include all that were open at the points of the lineage, and
        some others.
        """
        table, narrow, parts, values = index.closed, self._narrow_condition(index, rows), [], []
        for weight, batch in self._weigh_phrases(index, phrases).items():
            parts.append(f'SELECT rowid AS r, rank * {weight} AS s FROM "{table}" WHERE "{table}" MATCH %s')
            values.append(f"{narrow} AND {match_text(batch)}")
        return f"SELECT r, sum(s) AS s FROM ({' UNION ALL '.join(parts)}) GROUP BY r" if parts else "", values

    def _narrow_condition(self, index: FullTextIndex, rows: VersionedQuerySet) -> str:
        lineage = rows.lineage or ()
        heads = self._load_heads([branch for branch, _ in lineage])
        states = [True] if rows.only_searchable else [True, False]
        points = [
            f"{token}*"
            for branch, seq in lineage
            for state in states
            for token in point_tokens(branch, seq, heads.get(branch, seq), state)
        ]
        return " AND ".join(
            f"tok:({batch})" for batch in [" OR ".join(points), *narrowing_tokens(index, rows)]
        )

    def _load_heads(self, branches: Sequence[int]) -> dict[int, int]:
        sql = f"SELECT id, head FROM memory_branch WHERE id IN ({placeholders(branches)})"
        with self.connection.cursor() as cursor:
            cursor.execute(sql, branches)
            return dict(cursor.fetchall())

    # ---- ranking -------------------------------------------------------------------------------

    def _weigh_phrases(self, index: FullTextIndex, phrases: Sequence[str]) -> Mapping[float, list[str]]:
        """Group the phrases that closed versions have by their relative rarity among open versions."""
        every_open, *open_ = self._count_rows(index.name, phrases)
        every_closed, *closed = self._count_rows(index.closed, phrases)
        found: dict[float, list[str]] = {}
        for phrase, open_count, closed_count in zip(phrases, open_, closed, strict=True):
            if closed_count:
                ratio = term_rarity(every_open, open_count) / term_rarity(every_closed, closed_count)
                found.setdefault(2 ** (round(STEPS * math.log2(ratio)) / STEPS), []).append(phrase)
        return found

    def _count_rows(self, table: str, phrases: Sequence[str]) -> Sequence[int]:
        """Return the number of rows of a table, then for each phrase how many have it."""
        counts = [f'SELECT count(*) FROM "{table}" WHERE "{table}" MATCH %s'] * len(phrases)
        each = ", ".join(f"({sql})" for sql in (f'SELECT count(*) FROM "{table}_docsize"', *counts))
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT {each}", [match_text([phrase]) for phrase in phrases])
            return cursor.fetchone()


def match_text(phrases: Sequence[str]) -> str:
    """Return an FTS5 query for rows whose text has any of the phrases."""
    return "text:(" + " OR ".join('"' + phrase.replace('"', '""') + '"' for phrase in phrases) + ")"


def narrowing_tokens(index: FullTextIndex, rows: VersionedQuerySet) -> list[str]:
    """Return for each filtered column the tokens of which a row must have one."""
    fields = {name: index.tokens.index(name) for name in rows.tokens}
    return [
        " OR ".join(value_token(fields[name], value) for value in values) or "none"
        for name, values in rows.tokens.items()
    ]


def version_tokens(index: FullTextIndex, row: Any, seq_to: int) -> str:
    return row_tokens(index, row, span_tokens(row.branch_id, row.seq_from, seq_to, row.searchable))
