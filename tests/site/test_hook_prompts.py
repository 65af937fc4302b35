"""The hook client at a person's prompt: it prints what memory knows, and never holds up a person for long."""

import json
import os
import socket
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from day1site.hooks.client import capture
from tests.http_doubles import start_serving
from tests.site.hook_events import event
from tests.site.test_hook_client import CLIENT, NOBODY, Client
from tests.waiting import TIMEOUT_SECONDS, wait_until

KNOWN = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "known"}}


class Answering(BaseHTTPRequestHandler):
    """Handler that answers a prompt with a context, or not before it is let go."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.go_on.wait(TIMEOUT_SECONDS)
        asked = isinstance(body, dict) and ("prompt" in body or "source" in body)
        self.server.taken += [body] if isinstance(body, dict) else body
        text = json.dumps(KNOWN).encode() if asked else b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Suppress the log."""


@pytest.fixture
def server():
    answering = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    answering.go_on, answering.taken = threading.Event(), []
    answering.go_on.set()
    thread = start_serving(answering)
    yield answering
    answering.go_on.set()
    answering.shutdown()
    thread.join()
    answering.server_close()


@pytest.fixture
def client(tmp_path, server):
    return Client(tmp_path, f"http://127.0.0.1:{server.server_port}")


def prompt(text: str, name: str = "UserPromptSubmit") -> dict:
    return event(name, prompt=text, prompt_id=text)


def timed(client: Client, given: dict, output: str = "") -> float:
    start = time.monotonic()
    found = client.run(given)
    assert output in found if output else found == ""
    return time.monotonic() - start


@pytest.mark.parametrize("name", ["UserPromptSubmit", "BeforeAgent", "user_prompt_submit"])
def test_a_prompt_is_answered(client, name):
    assert json.loads(client.run(prompt("one", name))) == KNOWN


def test_what_waits_goes_before_it(client, server):
    down = Client(client.config.parent, NOBODY)
    down.run(event("Stop", last_assistant_message="earlier", prompt_id="p0"))
    Client(client.config.parent, f"http://127.0.0.1:{server.server_port}")  # the server is back
    assert json.loads(client.run(prompt("one"))) == KNOWN
    names = [taken["hook_event_name"] for taken in server.taken]
    assert names[:2] == ["Stop", "UserPromptSubmit"]  # once more where another process has sent it too


def test_after_a_server_that_hangs_the_next_prompts_do_not_wait(client, server):
    client.script = CLIENT
    server.go_on.clear()
    waited = timed(client, prompt("one"), "memory is off, the server did not answer in time")
    assert waited > 0.8
    given_up = (client.spool / "silent").stat().st_mtime_ns  # written by whoever waited in vain
    for number in range(3):
        timed(client, prompt(f"{number}"))
    assert (client.spool / "silent").stat().st_mtime_ns == given_up
    assert len(client.lines()) == 4
    other = {**prompt("other"), "session_id": "s2"}
    assert json.loads(client.run(other))["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert client.run(other) == ""  # once in a session
    server.go_on.set()
    while client.lines():  # another process may be at it
        capture.sender(capture.Spool(str(client.config)), TIMEOUT_SECONDS).deliver()
    assert {taken.get("prompt") for taken in server.taken} == {"one", "0", "1", "2", "other"}


@pytest.mark.slow
def test_a_prompt_without_an_answer_in_time_is_sent_behind_it(client, server):
    client.script = CLIENT
    server.go_on.clear()
    client.run(prompt("one"))
    server.go_on.set()
    wait_until(lambda: client.lines() == [])
    assert {taken["prompt"] for taken in server.taken} == {"one"}


@pytest.fixture
def hanging(tmp_path):
    """Return a client whose server takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listening:
        yield Client(tmp_path, f"http://127.0.0.1:{listening.getsockname()[1]}", script=CLIENT)


def test_a_start_waits_a_second_for_a_server_that_hangs_and_the_next_hardly(hanging):
    late = "memory is off, the server did not answer in time"
    waited = timed(hanging, event("SessionStart", source="startup"), late)
    assert waited > 0.7
    lasted = [
        timed(hanging, event("SubagentStart", agent_id="a1")),
        timed(hanging, event("SessionStart", source="clear")),
        timed(hanging, event("SessionStart", source="resume")),
    ]
    assert min(lasted) < waited
    given_up = (hanging.spool / "silent").stat().st_mtime_ns
    timed(hanging, prompt("one"))
    assert (hanging.spool / "silent").stat().st_mtime_ns == given_up
    assert len(hanging.lines()) == 5


def test_that_a_server_is_late_is_told_once_in_a_session_and_a_later_outage_too(client, server):
    client.script = CLIENT
    for told in ("the server did not answer in time", ""):
        server.go_on.clear()
        answer = client.run(prompt(told))
        assert (told in answer, bool(answer)) == (True, bool(told))
        server.go_on.set()
        wait_until(lambda: client.lines() == [])
        (client.spool / "silent").unlink()
    nobody = Client(client.config.parent, NOBODY)
    assert "memory is off, the server does not answer (" in nobody.run(prompt("three"))


def test_a_server_that_breaks_the_connection_is_no_late_one(tmp_path):
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as breaking:
        thread = start_serving(breaking)
        client = Client(tmp_path, f"http://127.0.0.1:{breaking.server_address[1]}")
        assert "memory is off, the server does not answer (" in client.run(prompt("one"))
        breaking.shutdown()
        thread.join()


def test_a_start_after_a_prompt_without_answer_is_told_when_the_server_is_back(client, server):
    client.spool.mkdir(mode=0o700)
    (client.spool / "silent").touch()
    assert json.loads(client.run(event("SessionStart", source="startup"))) == KNOWN


def test_a_minute_later_it_asks_again(client, server):
    client.spool.mkdir(mode=0o700)
    silent = client.spool / "silent"
    silent.touch()
    assert client.run(prompt("one")) == ""
    os.utime(silent, (time.time() - 61, time.time() - 61))
    assert json.loads(client.run(prompt("two"))) == KNOWN


def test_nobody_there_costs_nothing(tmp_path):
    client = Client(tmp_path)
    assert "memory is off" in client.run(prompt("one"))
    assert not (client.spool / "silent").exists()
    assert len(client.lines()) == 1
