"""kill -9 in the middle of a replay: the server that starts again goes on, and pays for no step twice."""

import json
import os
import signal
import threading
from pathlib import Path
from typing import Any
from urllib.request import Request as Call
from urllib.request import urlopen

import pytest
from werkzeug import Request, Response

from tests.conversations.fake_model import completion
from tests.http_doubles import DoubleServer
from tests.up_process import Up, provisioned
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.slow
LEASE_IS_OVER = """
from datetime import timedelta
from django.utils import timezone
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Replay
print(Replay.objects.get().state)
Replay.objects.update(resume_at=timezone.now() - timedelta(seconds=1))
ReplayEngine().resume_replays()
"""
CALL = ("Read", {"path": "auth.py"})


class Model:
    """The model: its first answer calls a tool, the second never comes, the third ends the replay."""

    def __init__(self) -> None:
        self.server = DoubleServer(threaded=True)
        self.sent: list[Any] = []
        self.reached, self.killed = threading.Event(), threading.Event()

    def answer(self, request: Request) -> Response:
        self.sent.append(request.json)
        if len(self.sent) == 1:
            return completion("Looking.", CALL)
        if len(self.sent) == 2:
            self.reached.set()
            self.killed.wait(TIMEOUT_SECONDS)
        return completion("The clock.")


def ask(up: Up, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {up.first['key']}", "Content-Type": "application/json"}
    sent = None if body is None else json.dumps(body).encode()
    call = Call(f"{up.first['url']}/api/v1{path}", sent, headers, method=method)
    with urlopen(call, timeout=TIMEOUT_SECONDS) as answer:
        return json.loads(answer.read())


def kill(up: Up) -> None:
    """Kill the process of `up` and those that it has forked, without warning."""
    forked = [pid for pid in up.processes if pid != up.process.pid]
    up.process.kill()
    for pid in forked:
        os.kill(pid, signal.SIGKILL)
    up.process.wait()


def wait_for_end(up: Up, path: str) -> Any:
    for _ in range(TIMEOUT_SECONDS * 4):
        row = ask(up, "GET", path)
        if row["state"] not in ("queued", "running", "waiting"):
            return row
        threading.Event().wait(0.25)
    raise AssertionError(row)


def test_a_killed_replay_goes_on_without_a_second_charge(tmp_path: Path) -> None:
    model = Model()
    model.server.start()
    model.server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(model.answer)
    settings = {"DAY1_REPLAY_MODEL": "m", "DAY1_REPLAY_BASE_URL": model.server.url_for("/v1")}
    up = Up(provisioned(tmp_path / "data"), **settings).ready()
    try:
        talk = ask(up, "POST", "/conversations", {"title": "Login"})["id"]
        call = {"id": "r1", "name": CALL[0], "input": CALL[1]}
        said = [
            {"role": "user", "content": "Why does the login fail?"},
            {"role": "tool_result", "content": "the clock", "tool_calls": [call]},
            {"role": "assistant", "content": "The clock is wrong."},
        ]
        rows = ask(up, "POST", f"/conversations/{talk}/messages/batch", {"messages": said})["results"]
        replay = ask(up, "POST", f"/conversations/{talk}/replay", {"message_id": rows[0]["id"]})
        path = f"/replays/{replay['id']}"
        ask(up, "POST", f"{path}/run")
        assert model.reached.wait(TIMEOUT_SECONDS)
        kill(up)
        model.killed.set()
        assert up.run_python(LEASE_IS_OVER) == "running\n"
        up.end()
        up = Up(tmp_path / "data", **settings).ready()
        done = wait_for_end(up, path)
        assert (done["state"], done["steps"], done["unknown_calls"]) == ("done", 2, 0)
        assert (done["input_tokens"], done["output_tokens"]) == (200, 20)
        # The first step was asked for once; the one that the kill has cut off was asked for again.
        assert [len(one["messages"]) for one in model.sent] == [1, 3, 3]
        messages = ask(up, "GET", f"/conversations/{replay['conversation_id']}/messages")["results"]
        assert [(one["role"], one["content"]) for one in messages] == [
            ("user", "Why does the login fail?"),
            ("assistant", "Looking."),
            ("tool_result", "the clock"),
            ("assistant", "The clock."),
        ]
    finally:
        up.end()
        model.killed.set()
        model.server.stop()
