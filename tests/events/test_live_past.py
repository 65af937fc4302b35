"""Streams that start in the past: they share its reading, and read one after another."""

import threading
from contextlib import ExitStack
from typing import Any

import pytest

from day1site.events import hub
from memory.actors import Actor
from memory.engines.activity import events
from memory.models import Project
from tests.events.sse_client import Follower, key_for, write

PAGE, STREAMS = 10, 30


class Reads:
    """Counter of reads of the database, and of concurrent ones."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.now = self.most = 0
        self.mutex = threading.Lock()
        self.read = hub.read

    def __call__(self, project: Any, after: int) -> Any:
        past = after % PAGE == 0 and after < 60
        with self.mutex:
            self.now += past
            self.most = max(self.most, self.now)
            self.places += [after] if past else []
        try:
            return self.read(project, after)
        finally:
            with self.mutex:
                self.now -= past


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Reads:
    monkeypatch.setattr(hub, "PAGE_SIZE", PAGE)
    monkeypatch.setattr(events, "BATCH_SIZE", PAGE)
    found = Reads()
    monkeypatch.setattr(hub, "read", found)
    return found


def test_streams_from_the_first_event_share_what_is_read(
    reads: Reads, port: int, project: Project, actor: Actor
) -> None:
    _, token = key_for(project)
    lines = [f"Fact {number}." for number in range(64)]
    for line in lines:
        write(actor, line)
    with ExitStack() as stack:
        followers = [stack.enter_context(Follower(port, token, "?last_event_id=0")) for _ in range(STREAMS)]
        for follower in followers:
            assert follower.lines(64) == lines
        write(actor, "What comes now.")
        for follower in followers:
            assert follower.lines(1) == ["What comes now."]
    assert sorted(reads.places) == list(range(0, 60, PAGE))  # each page once, for all streams
    assert reads.most == 1


def test_a_stream_from_the_middle_gets_what_follows_and_nothing_twice(
    reads: Reads, port: int, project: Project, actor: Actor
) -> None:
    _, token = key_for(project)
    for number in range(35):
        write(actor, f"Fact {number}.")
    with Follower(port, token, "?last_event_id=0") as follower:
        places = [event["id"] for event in follower.events(35)]
    assert places == sorted(set(places))
    for place in (7, PAGE, places[-2]):
        after = [other for other in places if other > place]
        with Follower(port, token, f"?last_event_id={place}") as follower:
            assert [event["id"] for event in follower.events(len(after))] == after
