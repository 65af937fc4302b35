"""A disk that takes no writes: 503 with the reason, reads continue, health reports it, and it recovers."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection
from django.test import Client

from memory.answers.problems import RETRY_SECONDS
from memory.db.backend import get_backend
from memory.db.sqlite import storage
from tests.memory.api.client import Api, refused

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="the disk is another server's"),
]
LARGE = "word " * 12_000


def pragma(text: str) -> int:
    with connection.cursor() as cursor:
        row = cursor.execute(f"PRAGMA {text}").fetchone()
    return int(row[0]) if row else 0


@contextmanager
def full_disk() -> Iterator[None]:
    pragma("wal_checkpoint(TRUNCATE)")
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # pages that earlier tests have freed would take the writes
    pragma(f"max_page_count = {pragma('page_count')}")
    try:
        yield
    finally:
        pragma("max_page_count = 1073741823")


@contextmanager
def read_only_disk() -> Iterator[None]:
    pragma("query_only = 1")
    try:
        yield
    finally:
        pragma("query_only = 0")


@pytest.fixture(autouse=True)
def enough_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore the free disk space of the test machine, which may be low."""
    monkeypatch.setattr(storage, "MIN_FREE_BYTES", 0)
    monkeypatch.setattr(storage, "_refused", {})


@pytest.mark.parametrize(
    ("disk", "state", "words"), [(full_disk, "full", "is full"), (read_only_disk, "read_only", "no writes")]
)
def test_a_write_is_refused_with_the_reason_and_reads_go_on(
    api: Api, disk, state: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = api.fact("Kept before the disk was full.")
    with disk():
        for _ in range(3):
            answer = api.post("/facts/bulk", {"facts": [{"fact_text": f"{LARGE}{n}"} for n in range(20)]})
        problem = refused(answer, 503, "unavailable")
        assert words in problem["detail"]
        assert (problem["data"]["storage"], answer["Retry-After"]) == (state, str(RETRY_SECONDS))
        assert api.get(f"/facts/{stored['id']}").status_code == 200
        health = api.get("/health")
        assert (health.status_code, health.json()["status"], health.json()["storage"]) == (
            200,
            "degraded",
            state,
        )
        assert Api("").get("/health").json() == {"status": "degraded"}
        assert Api("").get("/health/ready").status_code == 200
    later = api.fact("Stored when there was room again.")
    assert api.get("/health").json()["storage"] == state  # another connection may still be refused
    monkeypatch.setattr(storage, "HOLD_SECONDS", 0.0)
    api.delete(f"/facts/{api.fact('Stored some seconds later.')['id']}")
    assert api.get("/health").json()["storage"] == "ok"
    assert {fact["id"] for fact in api.get("/facts").json()["results"]} == {stored["id"], later["id"]}


def test_little_room_is_told_before_it_is_none(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "MIN_FREE_BYTES", 1 << 60)
    report = api.get("/health").json()
    assert (report["status"], report["storage"]) == ("degraded", "low")


def test_a_snapshot_refuses_what_is_no_read_and_that_is_no_trouble_of_the_disk(api: Api) -> None:
    writes = (
        "DELETE FROM memory_fact",
        "/* all */ DELETE FROM memory_fact",
        "WITH old AS (SELECT 1 AS n) DELETE FROM memory_fact WHERE rid IN (SELECT n FROM old)",
        "PRAGMA user_version = 9",
        "SAVEPOINT one",
    )
    with connection.cursor() as cursor:  # made before the snapshot begins, and there when it has ended
        with get_backend().snapshot():
            for statement in writes:
                with pytest.raises(OperationalError, match="readonly"):
                    cursor.execute(statement)
            cursor.execute("WITH old AS (SELECT 1 AS n) SELECT n FROM old")
            assert cursor.fetchone() == (1,)
        cursor.execute("DELETE FROM memory_fact WHERE rid = 0")
    assert api.get("/health").json()["storage"] == "ok"


def test_a_page_says_that_nothing_can_be_stored(client: Client, django_user_model) -> None:
    django_user_model.objects.create_user("ann", password="a secret of ann")
    with read_only_disk():
        answer = client.post("/login", {"username": "ann", "password": "a secret of ann"})
    assert (answer.status_code, answer["Retry-After"]) == (503, str(RETRY_SECONDS))
    assert "The disk of the server takes no writes." in answer.content.decode()
