"""Unused bytes of a database file: cleaned while it is in use, or left alone where the layout is another."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memory.db.sqlite.overwriting import clean_slack, empty_log
from memory.db.sqlite.page_slack import UnknownLayoutError
from tests.databases import only_on_sqlite

pytestmark = only_on_sqlite
WORD = "quokkaberylwort"


def make_store(path: Path, *pragmas: str) -> sqlite3.Connection:
    """Make a database whose rows of every length were written over each other."""
    made = sqlite3.connect(path, isolation_level=None)
    for pragma in (*pragmas, "journal_mode = WAL", "secure_delete = OFF"):
        made.execute(f"PRAGMA {pragma}")
    made.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, line TEXT, body TEXT)")
    made.execute("CREATE INDEX lines ON rows (line, body)")
    made.execute("BEGIN")
    for number in range(600):
        body = f"{WORD} {number} " * (number % 40 * number % 70)
        made.execute("INSERT INTO rows VALUES (?, ?, ?)", (number, f"{WORD} {number}", body))
    made.execute("COMMIT")
    made.execute("UPDATE rows SET line = 'x' || id, body = substr('y' || hex(zeroblob(id)), 1, id * 9)")
    made.execute("DELETE FROM rows WHERE id % 3 = 0")
    return made


@pytest.mark.parametrize("size", [1024, 4096, 65536])
def test_nothing_deleted_is_left(tmp_path: Path, size: int) -> None:
    path = tmp_path / "store.sqlite3"
    with closing(make_store(path, f"page_size = {size}")) as store:
        rows = store.execute("SELECT * FROM rows ORDER BY id").fetchall()
        clean_slack(str(path))
        empty_log(str(path))
        assert sum(one.read_bytes().count(WORD[:6].encode()) for one in tmp_path.iterdir()) == 0
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert store.execute("SELECT * FROM rows ORDER BY id").fetchall() == rows


def test_another_layout_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite3"
    with closing(make_store(path, "auto_vacuum = FULL")) as store:
        empty_log(str(path))
        before = path.read_bytes()
        with pytest.raises(UnknownLayoutError):
            clean_slack(str(path))
        assert path.read_bytes() == before
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
