"""Live events over real sockets: which events reach whom."""

import http.client
import json
import socket
import threading
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connection

from day1site import asgi
from day1site.events import http as events
from day1site.events import hub
from memory.actors import Actor, local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.models import Project
from tests.events.sse_client import PATH, Follow, Follower, key_for, write
from tests.waiting import TIMEOUT_SECONDS, wait_until

# ---- events --------------------------------------------------------------------------------------------


def test_a_write_is_told_at_once_with_its_commit(follow: Follow, token: str, actor: Actor) -> None:
    follower = follow(token)
    headers = follower.answer.headers
    assert (headers["Content-Type"], headers["Cache-Control"]) == ("text/event-stream", "no-store")
    assert headers["X-Accel-Buffering"] == "no"
    place = follower.started()
    write(actor, "Tea ☕\nis hot.")
    [event] = follower.events(1)
    assert (event["id"], event["kind"], event["branch"], event["surface"]) == (
        place + 1,
        "fact.write",
        "main",
        "cli",
    )
    assert (event["commit"]["seq"], event["commit"]["added"]) == (1, 1)
    [change] = event["changes"]
    assert (change["type"], change["change"], change["line"]) == ("fact", "added", "Tea ☕")


def test_a_client_that_comes_back_misses_nothing_and_sees_nothing_twice(
    follow: Follow, token: str, actor: Actor
) -> None:
    first = follow(token)
    first.started()
    write(actor, "One.")
    write(actor, "Two.")
    one, _ = first.events(2)
    first.link.close()
    write(actor, "Three.")
    assert follow(token, Last_Event_ID=str(one["id"])).lines(2) == ["Two.", "Three."]
    assert follow(token, f"?last_event_id={one['id']}").lines(2) == ["Two.", "Three."]
    # After a reconnection a client's header is newer than its first URL.
    assert follow(token, "?last_event_id=0", Last_Event_ID=str(one["id"])).lines(1) == ["Two."]
    assert follow(token, "?last_event_id=0").lines(3) == ["One.", "Two.", "Three."]


@pytest.mark.slow
def test_two_writers_and_a_client_that_loses_its_connection_again_and_again(
    follow: Follow, token: str, actor: Actor
) -> None:
    BranchManager().create_branch(name="b", actor=actor)
    place = follow(token).started()

    def work(branch: str) -> None:
        for n in range(40):
            write(actor, f"{branch} {n}.", branch)
        connection.close()

    threads = [threading.Thread(target=work, args=(name,)) for name in ("main", "b")]
    for thread in threads:
        thread.start()
    seen: list[dict[str, Any]] = []
    while len(seen) < 80:
        with follow(token, Last_Event_ID=str(place)) as follower:
            seen += follower.events(min(7, 80 - len(seen)))
            place = seen[-1]["id"]
    for thread in threads:
        thread.join()
    assert [event["id"] for event in seen] == sorted({event["id"] for event in seen})
    for name in ("main", "b"):
        said = [event["changes"][0]["line"] for event in seen if event["branch"] == name]
        assert said == [f"{name} {n}." for n in range(40)]


def test_a_key_with_patterns_and_a_wish_see_their_branches_only(
    follow: Follow, project: Project, token: str, actor: Actor
) -> None:
    for name in ("task/a", "task/b"):
        BranchManager().create_branch(name=name, actor=actor)
    bound = follow(key_for(project, branch_patterns=["task/*"])[1])
    wishing = follow(token, "?branch=main,task/b&kind=fact.*")
    bound.started(), wishing.started()
    write(actor, "On main.")
    write(actor, "On a.", "task/a")
    write(actor, "On b.", "task/b")
    assert bound.lines(2) == ["On a.", "On b."]
    assert wishing.lines(2) == ["On main.", "On b."]


def test_nothing_of_another_project_is_told(
    follow: Follow, token: str, actor: Actor, other_project: Project
) -> None:
    ours, theirs = follow(token), follow(key_for(other_project)[1])
    ours.started(), theirs.started()
    write(local_actor(other_project.pk), "Theirs.")
    write(actor, "Ours.")
    assert (ours.lines(1), theirs.lines(1)) == (["Ours."], ["Theirs."])


def test_silence_gives_signs_of_life(follow: Follow, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "BEAT_SECONDS", 0.1)
    follower = follow(token)
    place = follower.started()
    assert [follower.message() for _ in range(2)] == [
        {"event": "beat", "id": str(place), "data": json.dumps({"id": place})}
    ] * 2


def test_who_falls_behind_what_is_kept_reads_the_database(
    follow: Follow, token: str, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "MAX_KEPT_EVENTS", 2)
    live = follow(token)
    live.started()
    for n in range(6):
        write(actor, f"Fact {n}.")
    assert live.lines(6) == [f"Fact {n}." for n in range(6)]
    assert follow(token, Last_Event_ID="0").lines(6) == [f"Fact {n}." for n in range(6)]


def test_two_hundred_streams_hold_up_nobody(port: int, project: Project, actor: Actor) -> None:
    tokens = [key_for(project)[1] for _ in range(2)]
    with ExitStack() as stack:
        streams = [stack.enter_context(Follower(port, tokens[n % 2])) for n in range(200)]
        for stream in streams:
            stream.started()
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
        link.request("GET", "/api/v1/facts", headers={"Authorization": f"Bearer {tokens[0]}"})
        assert link.getresponse().status == 200
        link.close()
        write(actor, "For all of you.")
        assert [stream.lines(1) for stream in streams] == [["For all of you."]] * 200


@pytest.mark.slow
def test_a_reader_that_takes_nothing_holds_up_nobody_and_is_let_go(
    port: int,
    follow: Follow,
    token: str,
    actor: Actor,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(events, "SLOW_SECONDS", 2.5)
    caplog.set_level("INFO", events.__name__)
    for n in range(60):
        facts = [{"fact_text": f"{n} {m} " + "x" * 300} for m in range(20)]
        FactEngine().write_facts(facts=facts, actor=actor)
    with socket.socket() as link:
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        link.connect(("127.0.0.1", port))
        head = f"GET {PATH}?last_event_id=0 HTTP/1.1\r\nHost: localhost"
        head += f"\r\nAuthorization: Bearer {token}\r\n\r\n"
        link.sendall(head.encode())
        assert len(follow(token, "?last_event_id=0").events(60)) == 60
        wait_until(lambda: asgi.request_budget.requests <= 1)  # the active reader stays connected
    assert "A stream of events ended: its client took nothing for 2.5 seconds." in caplog.messages
    assert not [one for one in caplog.records if one.exc_info]
