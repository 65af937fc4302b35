"""A server, its hooks and its commands on a Python without fcntl, resource, fork and /proc, as on Windows."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.up_process import ROOT, TIMEOUT_SECONDS, Up, environment, provisioned

HIDDEN = {"PYTHONPATH": str(ROOT / "tests" / "hidden")}
HOOK = ROOT / "day1site" / "hooks" / "client" / "hook.py"
PROBE = """
import os
found = [hasattr(os, "fork"), os.path.exists("/proc")]
for name in ("fcntl", "resource", "pwd", "termios"):
    try:
        __import__(name)
        found.append(True)
    except ImportError:
        found.append(False)
print(found)
"""


class Hidden(Up):
    """Process of `up` from which all of that is hidden."""

    def __init__(self, folder: Path, *options: str, **env: str) -> None:
        super().__init__(folder, *options, **HIDDEN, **env)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return provisioned(tmp_path_factory.mktemp("hidden") / "data")


@pytest.fixture(scope="module")
def up(folder: Path) -> Iterator[Hidden]:
    with Hidden(folder) as server:
        yield server


def run(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "day1", *words]
    values = environment(DAY1_DATA_DIR=str(folder), HOME=str(folder.parent), **HIDDEN, **env)
    return subprocess.run(command, env=values, capture_output=True, text=True, cwd=folder.parent)


def test_nothing_of_it_is_there() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROBE], env=os.environ | HIDDEN, capture_output=True, text=True
    )
    assert done.stdout == "[False, False, False, False, False, False]\n"


def test_several_processes_are_refused_plainly(up: Hidden, tmp_path: Path) -> None:
    second = Hidden(provisioned(tmp_path / "data"), DAY1_PROCESSES="4")
    assert second.process.wait(TIMEOUT_SECONDS) == 1
    refused = "DAY1_PROCESSES is 4, but this system cannot fork processes: leave it out, one serves."
    assert refused in second.output()
    second.end()


def test_what_is_acknowledged_survives_a_kill_and_the_folder_is_held_by_one(
    up: Hidden, tmp_path: Path
) -> None:
    folder = provisioned(tmp_path / "data")
    first = Hidden(folder).ready()
    written = run(folder, "write-fact", "Deploys run from the main branch only.")
    assert (written.returncode, written.stderr) == (0, "")
    other = Hidden(folder)
    assert other.process.wait(TIMEOUT_SECONDS) == 1
    held = f"Day1 is running already on {folder}, at {first.first['url']} (process {first.process.pid})."
    assert held in other.output()
    first.stop(signal.SIGKILL)
    first.end()
    with Hidden(folder):
        found = run(folder, "search", "main branch")
        assert "Deploys run from the main branch only." in found.stdout
    other.end()


def test_a_hook_keeps_its_events_and_sends_them_from_a_process_of_its_own(up: Hidden, tmp_path: Path) -> None:
    config = tmp_path / "hooks.json"
    config.write_text(json.dumps({"url": "http://127.0.0.1:9", "key": up.first["key"]}))
    send(config, {"hook_event_name": "Stop", "session_id": "s1", "cwd": str(tmp_path)})
    spool = tmp_path / "hooks.json.spool"
    assert b'"s1"' in (spool / "events.jsonl").read_bytes()
    config.write_text(json.dumps({"url": up.first["url"], "key": up.first["key"]}))
    send(
        config,
        {
            "hook_event_name": "UserPromptSubmit",
            "session_id": "s1",
            "prompt": "We use Rust.",
            "prompt_id": "p1",
        },
    )
    send(config, {"hook_event_name": "PostCompact", "session_id": "s1"})
    end = time.monotonic() + TIMEOUT_SECONDS
    while (spool / "events.jsonl").stat().st_size and time.monotonic() < end:
        time.sleep(0.05)
    assert (spool / "events.jsonl").read_bytes() == b""
    assert "We use Rust." in run(up.folder, "sessions", "context", "s1", "--format", "json").stdout


def send(config: Path, event: dict[str, str]) -> None:
    words = [sys.executable, str(HOOK), "--client", "claude-code", "--config", str(config)]
    subprocess.run(words, input=json.dumps(event).encode(), env=environment(**HIDDEN), check=True, timeout=60)


def test_a_program_is_connected_and_taken_off_again(up: Hidden) -> None:
    done = run(up.folder, "connect", "claude-code")
    assert (done.returncode, "lists 10 tools" in done.stderr) == (0, True), done.stderr
    settings = up.folder.parent / ".claude" / "settings.json"
    assert "hook.py" in settings.read_text()
    assert run(up.folder, "connect", "claude-code", "--undo").returncode == 0
    assert not settings.exists()


def test_a_copy_is_made_and_checked(up: Hidden, tmp_path: Path) -> None:
    done = run(up.folder, "backup", str(tmp_path / "copy.sqlite3"), "--verify", "--force")
    assert (done.returncode, (tmp_path / "copy.sqlite3").exists()) == (0, True), done.stderr
