"""Two sessions of an agent through the real client and a real server, with interruptions of the server."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from day1site.hooks.client import capture
from tests import databases
from tests.site.hook_events import DECISION, REPAIR, bash, first_session, program_event
from tests.site.test_hook_client import Client
from tests.up_process import Up, provisioned
from tests.waiting import TIMEOUT_SECONDS, wait_until


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], Up]]:
    started: list[Up] = []

    def start() -> Up:
        port = started[0].first["url"].rpartition(":")[2] if started else "0"
        started.append(Up(provisioned(tmp_path / "data"), "--port", port))
        return started[-1].ready()

    yield start
    for one in started:
        one.end()


def client_of(server: Up, folder: Path) -> Client:
    return Client(folder, server.first["url"], server.first["key"])


def rows(server: Up, query: str) -> list[tuple]:
    return databases.rows(server.folder, query)


def test_the_second_session_knows_what_the_first_decided(start, tmp_path):
    server = start()
    client = client_of(server, tmp_path)
    for one in first_session():
        del one["day1"]
        assert client.run(one, CLAUDE_PROJECT_DIR="/srv/shop") == ""
    wait_until(lambda: len(rows(server, "SELECT rid FROM memory_fact")) == 2)
    second = program_event("SessionStart", "s2", source="startup")
    answer = json.loads(client.run(second, CLAUDE_PROJECT_DIR="/srv/shop"))
    told = answer["hookSpecificOutput"]["additionalContext"]
    assert DECISION in told
    assert " ".join(REPAIR.split()) in told
    assert "Session before" in told
    assert client.run(second, CLAUDE_PROJECT_DIR="/srv/shop") == json.dumps(
        answer, ensure_ascii=False, separators=(",", ":")
    )
    wait_until(lambda: client.lines() == [])


def test_a_server_that_stops_in_the_middle(start, tmp_path):
    """Send 60 events, kill the server among them and restart it: all arrive, in order, none twice."""
    server = start()
    client = client_of(server, tmp_path)
    for number in range(60):
        client.run(bash(f"t{number}", f"step {number}", f"result {number}"))
        if number == 30:
            server.process.kill()
            server.process.wait()
        if number == 48:
            server = start()
    wait_until(lambda: client.lines() == [])
    query = "SELECT sequence_num, content FROM conversations_message ORDER BY sequence_num"
    assert rows(server, query) == [(number + 1, f"result {number}") for number in range(60)]
    assert rows(server, "SELECT count(*) FROM memory_observation") == [(60,)]


def test_broken_lines_are_set_aside_and_the_rest_arrives(start, tmp_path):
    server = start()
    client = client_of(server, tmp_path)
    client.spool.mkdir()
    good = [json.dumps(bash(f"t{n}", "ls", f"r{n}")).encode() for n in range(3)]
    deep = b'{"hook_event_name": "Stop", "session_id": "s", "x": ' + b"[" * 90 + b"]" * 90 + b"}"
    lines = [good[0], b'{"broken', good[1], b'{"x": NaN}', deep, b"7", good[2]]
    (client.spool / "events.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    client.run(program_event("UserPromptSubmit", prompt="Go on \u2028 now"))
    wait_until(lambda: client.lines() == [])
    wait_until(lambda: len(rows(server, "SELECT rid FROM conversations_message")) == 4)
    assert client.lines("broken.jsonl") == [b'{"broken', b'{"x": NaN}', b"7"]
    assert client.lines("refused.jsonl") == [deep]
    found = [
        content
        for (content,) in rows(server, "SELECT content FROM conversations_message ORDER BY sequence_num")
    ]
    assert "Go on \u2028 now" in found  # ahead of the others where those take too long
    assert [content for content in found if content.startswith("r")] == ["r0", "r1", "r2"]


def test_a_wrong_key_keeps_the_events(start, tmp_path):
    """The address may be that of the API, too."""
    server = start()
    client = Client(tmp_path, f"{server.first['url']}/api/v1", "day1_wrongkey_0")
    assert "memory is off, the server refuses its key" in client.run(program_event("SessionStart"))
    assert client.run(bash("t1", "ls", "r1")) == ""  # it is told once
    assert len(client.lines()) == 2
    with capture.Lock(str(client.spool / "send.lock"), wait=TIMEOUT_SECONDS):
        pass  # the sender with the wrong key has ended: while it lives no other begins
    client.config.write_text(json.dumps({**server.first, "url": f"{server.first['url']}/api/v1/"}))
    client.run(program_event("Stop", last_assistant_message="Done"))
    wait_until(lambda: client.lines() == [])
    assert rows(server, "SELECT content FROM conversations_message ORDER BY sequence_num") == [
        ("r1",),
        ("Done",),
    ]
