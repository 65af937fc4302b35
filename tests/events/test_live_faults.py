"""Faults during streams: streams continue after them, and the server stops in any case."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.db.backends.utils import CursorWrapper

from day1site.events import hub
from memory.actors import Actor
from memory.answers.problems import AWAY, BROKEN, BUSY
from memory.db.errors import DatabaseAway
from memory.engines.access.keys import KeyEngine
from memory.models import Project
from tests.events.sse_client import PATH, Follow, Follower, Server, key_for, write
from tests.waiting import TIMEOUT_SECONDS, wait_until

Begin = Callable[[str, Exception], "Fault"]
SEAL = "place"  # a column that only the reader of events uses


class Fault:
    """Fault of statements with a certain word, until it is ``over``."""

    def __init__(self, word: str, error: Exception) -> None:
        self.word, self.error = word, error
        self.seen, self.over = threading.Event(), threading.Event()

    def meet(self, sql: str) -> None:
        if not self.over.is_set() and self.word in sql and sql.startswith("SELECT"):
            self.seen.set()
            raise self.error


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Yield a function that begins a fault of the database, which ends with the test."""
    faults: list[Fault] = []
    real = CursorWrapper.execute

    def execute(self: CursorWrapper, sql: str, params: Any = None) -> Any:
        for one in faults:
            one.meet(sql)
        return real(self, sql, params)

    def begin(word: str, error: Exception) -> Fault:
        faults.append(Fault(word, error))
        return faults[-1]

    monkeypatch.setattr(CursorWrapper, "execute", execute)
    yield begin
    for one in faults:
        one.over.set()


@pytest.mark.parametrize("error", [InterfaceError("connection already closed"), ValueError("unforeseen")])
def test_a_look_that_fails_ends_neither_the_events_nor_the_check_of_keys(
    follow: Follow,
    project: Project,
    token: str,
    actor: Actor,
    error: Exception,
    fault: Begin,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(hub, "KEY_SECONDS", 0.1)
    key, own = key_for(project)
    ending, other = follow(own), follow(token)
    ending.started(), other.started()
    broken = fault(SEAL, error)
    assert broken.seen.wait(TIMEOUT_SECONDS)
    KeyEngine().revoke_key(key_id=key.pk, actor=actor)
    assert ending.message() == {"": "the key has ended"}
    broken.over.set()
    write(actor, "Still here.")
    assert other.lines(1) == ["Still here."]
    [text] = {one.getMessage() for one in caplog.records if one.name == hub.__name__}
    assert text == "Events could not be read."


def test_keys_that_cannot_be_checked_hold_up_no_event(
    follow: Follow,
    token: str,
    actor: Actor,
    fault: Begin,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(hub, "KEY_SECONDS", 0.1)
    follower = follow(token)
    follower.started()
    broken = fault("memory_apikey", InterfaceError("connection already closed"))
    assert broken.seen.wait(TIMEOUT_SECONDS)
    write(actor, "Told.")
    assert follower.lines(1) == ["Told."]
    [text] = {one.getMessage() for one in caplog.records if one.name == hub.__name__}
    assert text == "The keys of those who follow could not be checked."


def test_the_server_stops_also_when_the_reader_of_events_has_ended(
    served: tuple[int, Server], token: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hub, "POLL_SECONDS", "no time at all")
    port, one = served
    with Follower(port, token) as follower:
        follower.started()
        wait_until(lambda: "The reader of events ended." in caplog.messages)
        one.stop()
        assert follower.message() == {"": "the server stops"}
        assert follower.message() == {}
    assert one.stopped.wait(TIMEOUT_SECONDS)


# ---- messages to clients -------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("POST", "/mcp")])
@pytest.mark.parametrize(
    ("error", "status", "code", "text"),
    [
        (DatabaseAway(2003), 503, "unavailable", AWAY[2]),
        (OperationalError("database is locked"), 503, "unavailable", BUSY[2]),
        (ValueError("a secret"), 500, "error", BROKEN[2]),
    ],
)
def test_a_fault_of_the_database_is_told_as_by_every_other_route(
    port: int,
    token: str,
    fault: Begin,
    method: str,
    path: str,
    error: Exception,
    status: int,
    code: str,
    text: str,
) -> None:
    fault("memory_apikey", error)
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    link.request(method, path, headers={"Authorization": f"Bearer {token}"})
    answer = link.getresponse()
    told = json.loads(answer.read())
    link.close()
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert (told["status"], told["code"], told["detail"]) == (status, code, text)
    assert answer.headers["Retry-After"] == ("1" if status == 503 else None)
