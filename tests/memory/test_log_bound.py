"""The size limit of SQLite's write-ahead log, with any readers."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from django.db import connection, transaction

from memory.db.backend import get_backend
from memory.db.sqlite.checkpoint import MAX_BYTES, MIB
from memory.models import Project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases keep their own logs"),
]
TEXT = "x" * MIB


def log_size() -> int:
    path = Path(f"{connection.settings_dict['NAME']}-wal")
    return path.stat().st_size if path.exists() else 0


class OverlappingReaders:
    """Readers that overlap: neither ends its transaction before the other has begun a new one."""

    def __init__(self) -> None:
        self.began = [threading.Semaphore(0), threading.Semaphore(0)]
        self.ends = threading.Event()
        self.rounds = 0
        self.threads = [threading.Thread(target=self.read, args=(number,)) for number in (0, 1)]

    def __enter__(self) -> "OverlappingReaders":
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ends.set()
        for semaphore in self.began:
            semaphore.release()
        for thread in self.threads:
            thread.join()

    def read(self, number: int) -> None:
        own, other = self.began[number], self.began[1 - number]
        with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as link:
            while not self.ends.is_set():
                link.execute("BEGIN")
                link.execute("SELECT count(*) FROM memory_project").fetchone()
                own.release()
                other.acquire()
                link.execute("COMMIT")
                self.rounds += 1


def write(number: int) -> None:
    with transaction.atomic():
        Project.objects.create(name=TEXT[: MIB // 2], slug=f"p{number}")


@pytest.fixture
def sizes() -> Iterator[list[int]]:
    get_backend().checkpoint_log()
    found: list[int] = []
    yield found
    get_backend().checkpoint_log()


@pytest.mark.slow
def test_overlapping_readers_do_not_let_the_log_grow(sizes: list[int]) -> None:
    with OverlappingReaders() as readers:
        for number in range(90):
            write(number)
            sizes.append(log_size())
    assert max(sizes) <= MAX_BYTES + 2 * MIB
    assert readers.rounds
    assert Project.objects.count() == 90


def test_a_reader_that_stays_keeps_its_moment_and_no_write_fails(
    sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.db.sqlite.checkpoint.MAX_WAIT_SECONDS", 0.01)
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as link:
        link.execute("BEGIN")
        count = link.execute("SELECT count(*) FROM memory_project").fetchone()
        for number in range(50):
            write(number)
            sizes.append(log_size())
        assert link.execute("SELECT count(*) FROM memory_project").fetchone() == count
        link.execute("COMMIT")
    assert sizes[-1] > MAX_BYTES
    for number in range(50, 100):
        write(number)
        sizes.append(log_size())
    assert max(sizes[-10:]) < MAX_BYTES
    assert Project.objects.count() == 100
    with connection.cursor() as cursor:  # waiting for another writer is as patient as before
        cursor.execute("PRAGMA busy_timeout")
        assert cursor.fetchone()[0] == 20_000
