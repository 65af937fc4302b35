"""A server, its hooks and its commands on a Python without fcntl, resource, fork and /proc, as on Windows."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from day1site.server import process
from tests.up_process import ROOT, Up, environment, provisioned
from tests.waiting import TIMEOUT_SECONDS, wait_until

HIDDEN = {"PYTHONPATH": str(ROOT / "tests" / "hidden")}
HOOK = ROOT / "day1site" / "hooks" / "client" / "hook.py"
PROBE = """
import os, sys
found = [hasattr(os, "fork"), os.path.exists("/proc")]
for name in ("fcntl", "resource", "pwd", "termios"):
    try:
        __import__(name)
        found.append(True)
    except ImportError:
        found.append(False)
from memory.file_locks import is_locked, try_lock
with open(sys.argv[1], "a+") as lock:
    print(found, is_locked(lock.fileno()), try_lock(lock.fileno()))
"""


class Hidden:
    """A server from which all of that is hidden, on one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.up = folder, self.start(folder)

    def start(self, folder: Path) -> Up:
        return Up(folder, **HIDDEN).ready()

    def kill(self) -> None:
        """Kill the server, and start another one on its folder."""
        self.up.stop(signal.SIGKILL)
        self.up.end()
        self.up = self.start(self.folder)

    def ask(self, path: str, body: dict[str, str] | None = None) -> Any:
        first = self.up.first
        headers = {"Authorization": f"Bearer {first['key']}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body).encode()
        with urlopen(
            Request(f"{first['url']}/api/v1{path}", sent, headers), timeout=TIMEOUT_SECONDS
        ) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hidden]:
    server = Hidden(provisioned(tmp_path_factory.mktemp("hidden") / "data"))
    yield server
    server.up.stop()
    server.up.end()


def run(server: Hidden, *words: str) -> subprocess.CompletedProcess[str]:
    home = server.folder.parent
    command = [sys.executable, str(ROOT / "manage.py"), "day1", *words]
    values = environment(DAY1_DATA_DIR=str(server.folder), HOME=str(home), **HIDDEN)
    return subprocess.run(command, env=values, capture_output=True, text=True, cwd=home)


def test_nothing_of_it_is_there_and_the_folder_is_held(server: Hidden) -> None:
    words = [sys.executable, "-c", PROBE, str(server.folder / "up.lock")]
    done = subprocess.run(words, env=os.environ | HIDDEN, cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "[False, False, False, False, False, False] True False\n"


def test_several_processes_are_refused_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "CAN_FORK", False)
    refused = "DAY1_PROCESSES is 4, but this system cannot fork processes: leave it out, one serves."
    with process.listening("127.0.0.1", 0) as listener, pytest.raises(process.CannotStart) as refusal:
        process.serve_all(listener, 4, True, lambda: None)
    assert str(refusal.value) == refused


def test_what_is_acknowledged_survives_a_kill(server: Hidden) -> None:
    text = "Deploys run from the main branch only."
    server.ask("/facts", {"fact_text": text})
    server.kill()
    assert text in [row["fact"]["fact_text"] for row in server.ask("/facts/search?q=main+branch")["results"]]


def test_a_hook_keeps_its_events_and_sends_them_from_a_process_of_its_own(
    server: Hidden, tmp_path: Path
) -> None:
    config, events = tmp_path / "hooks.json", tmp_path / "hooks.json.spool" / "events.jsonl"
    config.write_text(json.dumps({"url": "http://127.0.0.1:9", "key": "k"}))
    send(config, "PostToolUse")
    assert b'"s1"' in events.read_bytes()
    config.write_text(json.dumps({"url": server.up.first["url"], "key": server.up.first["key"]}))
    send(config, "UserPromptSubmit", prompt="We use Rust.", prompt_id="p1")
    send(config, "Stop")
    wait_until(lambda: events.read_bytes() == b"")
    assert "We use Rust." in json.dumps(server.ask("/sessions/s1/context"))


def send(config: Path, name: str, **event: str) -> None:
    words = [sys.executable, str(HOOK), "--client", "claude-code", "--config", str(config)]
    sent = json.dumps({"hook_event_name": name, "session_id": "s1", **event}).encode()
    subprocess.run(words, input=sent, env=environment(**HIDDEN), check=True, timeout=TIMEOUT_SECONDS)


def test_a_program_is_connected_and_taken_off_again(server: Hidden) -> None:
    done = run(server, "connect", "claude-code")
    assert (done.returncode, "lists 10 tools" in done.stderr) == (0, True), done.stderr
    settings = server.folder.parent / ".claude" / "settings.json"
    assert "hook.py" in settings.read_text()
    assert run(server, "connect", "claude-code", "--undo").returncode == 0
    assert not settings.exists()


def test_a_copy_is_made(server: Hidden, tmp_path: Path) -> None:
    done = run(server, "backup", str(tmp_path / "copy.sqlite3"))
    assert done.returncode == 0, done.stderr
    with sqlite3.connect(tmp_path / "copy.sqlite3") as copy:
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
