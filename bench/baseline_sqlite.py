"""Baselines for SQLite: the same work without Day1, on the same machine and with the same file settings."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

TOP = 50


class BareSearch:
    """Baseline of search: FTS5 over the texts alone, and one matrix of all vectors."""

    def __init__(self, file: Path, texts: Sequence[tuple[int, str]], vectors: np.ndarray) -> None:
        self.database, self.vectors = opened(file), vectors
        with self.database:
            self.database.execute("CREATE VIRTUAL TABLE bare USING fts5(text, tokenize='porter unicode61')")
            self.database.executemany("INSERT INTO bare (rowid, text) VALUES (?, ?)", texts)
            self.database.execute("INSERT INTO bare (bare) VALUES ('optimize')")

    def keyword(self, words: Sequence[str]) -> list[Any]:
        match = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid, rank FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT ?"
        return self.database.execute(sql, (match, TOP)).fetchall()

    def nearest(self, vector: np.ndarray) -> np.ndarray:
        scores = self.vectors @ vector
        best = np.argpartition(scores, -TOP)[-TOP:]
        return best[np.argsort(-scores[best])]


class BareRows:
    """Baseline of writes: a server's rows, inserted again into a copy of the earlier store.

    So the tables, their indexes, the existing rows, the journal (WAL) and synchronous (FULL) are the same;
    only the inserts and the commit remain.
    """

    def __init__(self, store: Path, copy: Path) -> None:
        self.source = opened(store)
        copy_store(store, copy)
        self.target = opened(copy)
        found = self.source.execute("SELECT * FROM memory_branch WHERE name = 'main'")
        names = [column[0] for column in found.description]
        self.main = dict(zip(names, found.fetchone(), strict=True))
        self.last: int = self.source.execute("SELECT max(rid) FROM memory_fact").fetchone()[0]

    def take(self) -> "Taken":
        """Return the rows stored since the last call."""
        facts = self.source.execute("SELECT * FROM memory_fact WHERE rid > ?", (self.last,)).fetchall()
        sql = "SELECT rowid, text, tok FROM memory_fact_fts WHERE rowid > ?"
        found = Taken(facts, self.source.execute(sql, (self.last,)).fetchall())
        self.last = max(rowid for rowid, _, _ in found.index)
        return found

    def insert(self, rows: "Taken") -> None:
        """Insert rows in one transaction."""
        marks = ", ".join("?" * len(rows.facts[0]))
        self.target.execute("BEGIN IMMEDIATE")
        self.target.executemany(f"INSERT INTO memory_fact VALUES ({marks})", rows.facts)
        self.target.executemany("INSERT INTO memory_fact_fts (rowid, text, tok) VALUES (?, ?, ?)", rows.index)
        self.target.execute("COMMIT")

    def insert_branch(self, number: int) -> None:
        """Insert a branch row as a new branch has it, in one transaction."""
        row = self.main | {"id": None, "name": f"bare/{number}", "parent_id": self.main["id"], "depth": 1}
        sql = f"INSERT INTO memory_branch ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        self.target.execute("BEGIN IMMEDIATE")
        self.target.execute(sql, tuple(row.values()))
        self.target.execute("COMMIT")


class Taken:
    def __init__(self, facts: list[tuple], index: list[tuple]) -> None:
        self.facts, self.index = facts, index

    def each(self) -> list["Taken"]:
        """Split the rows into single facts."""
        return [Taken([fact], [text]) for fact, text in zip(self.facts, self.index, strict=True)]


def opened(file: Path) -> sqlite3.Connection:
    """Open a file with the settings that Day1 gives its own."""
    from day1site.settings.paths import SQLITE_OPTIONS

    database = sqlite3.connect(file, isolation_level=None)
    database.executescript(str(SQLITE_OPTIONS["init_command"]))
    return database


def copy_store(store: Path, copy: Path) -> None:
    """Copy an open store by SQLite itself.

    A file read beside a writer is torn, and closing it ends this process's locks on the store.
    """
    copy.parent.mkdir(exist_ok=True)
    with closing(sqlite3.connect(store)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
