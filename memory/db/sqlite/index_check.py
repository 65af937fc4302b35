"""Full text against the rows that it was made of: the texts that it keeps, and the words that it finds."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

from memory.db.bm25 import TOKENIZER
from memory.db.index_tokens import OPEN, PINNED, row_tokens, space_characters
from memory.db.indexes import FullTextIndex
from memory.db.sqlite.closed_versions import version_tokens
from memory.db.sqlite.file_check import get_path, open_read_only
from memory.db.sqlite.search_index import row_state
from memory.db.work_slots import work_slots

BATCH_SIZE = 2000  # texts that are split into words at a time
MASK = 2**64 - 1

Entry = tuple[str, str]  # text and tokens, as the index has them


class IndexCheck:
    """The check of a connection's full-text tables."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    # ---- texts ---------------------------------------------------------------------------------

    def read_entries(self, table: str, rids: Sequence[int]) -> dict[int, Entry]:
        """Return what a full-text table has of some rows."""
        sql = f'SELECT id, c0, c1 FROM "{table}_content" WHERE id IN (SELECT value FROM json_each(%s))'
        with self.connection.cursor() as cursor:
            cursor.execute(sql, [json.dumps(rids)])
            return {rid: (text, tokens) for rid, text, tokens in cursor.fetchall()}

    def count_strays(self, table: str, model: Any, limit: int) -> tuple[int, list[int]]:
        """Count the entries without a version that is shown, and return the first ones."""
        shown = f'SELECT rid FROM "{model._meta.db_table}" WHERE NOT deleted'
        strays = f'FROM "{table}_content" WHERE id NOT IN ({shown})'
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) {strays}")
            (count,) = cursor.fetchone()
            cursor.execute(f"SELECT id {strays} ORDER BY id LIMIT %s", [limit])
            return count, [rid for (rid,) in cursor.fetchall()]

    @staticmethod
    def expected_entry(index: FullTextIndex, row: Any, pinned: bool = False) -> Entry:
        """Return what the table of open versions has of one that is open, or pinned by a branch."""
        tokens = row_tokens(index, row, row_state(row, PINNED if pinned else OPEN))
        return space_characters(getattr(row, index.fields[0])), tokens

    @staticmethod
    def expected_closed(index: FullTextIndex, row: Any) -> Entry:
        """Return what the table of closed versions has of one."""
        return space_characters(getattr(row, index.fields[0])), version_tokens(index, row, row.seq_to)

    # ---- words ---------------------------------------------------------------------------------

    def has_other_words(self, table: str) -> bool:
        """Return whether a full-text table finds other words than its texts have; also where it is damaged.

        As of one moment, for as long as it takes to split all texts.
        """
        with work_slots.leave_slot(), closing(open_read_only(get_path(self.connection))) as database:
            database.execute("BEGIN")
            try:
                database.execute(f"CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', '{table}', 'col')")
                found = sum_words(database.execute("SELECT term, col, doc, cnt FROM temp.words"))
                return found != sum(map(sum_texts, read_texts(database, table))) & MASK
            except sqlite3.Error:
                return True


def sum_words(words: Iterable[tuple[str, str, int, int]]) -> int:
    """Return a number that is the same for the same words, whatever their order; sums of parts add up."""
    return sum(hash((term, column)) * (count + (docs << 32)) for term, column, docs, count in words) & MASK


def read_texts(database: sqlite3.Connection, table: str) -> Iterator[list[tuple[str, str]]]:
    cursor = database.execute(f'SELECT c0, c1 FROM "{table}_content"')
    while rows := cursor.fetchmany(BATCH_SIZE):
        yield rows


def sum_texts(rows: Sequence[tuple[str, str]]) -> int:
    """Return the sum of the words that FTS5 makes of texts."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute(f"CREATE VIRTUAL TABLE t USING fts5(text, tok, content='', tokenize='{TOKENIZER}')")
        database.execute("CREATE VIRTUAL TABLE words USING fts5vocab('t', 'col')")
        database.executemany("INSERT INTO t (text, tok) VALUES (?, ?)", rows)
        return sum_words(database.execute("SELECT term, col, doc, cnt FROM words"))
