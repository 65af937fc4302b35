"""A server as a user starts it: the process of `up`, and Python run beside it on the same data directory."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.request import Request, urlopen

import pytest

from memory.file_locks import wait_for_lock
from tests import databases
from tests.shadow_folder import list_executed, make_shadows
from tests.systems import HAS_PROC
from tests.waiting import TIMEOUT_SECONDS

ROOT = Path(__file__).resolve().parent.parent
PROVISION = """
from pathlib import Path
from django.conf import settings
from day1site.server.provisioning import prepare
prepare(Path(settings.DATA_DIR), "http://127.0.0.1:1")
"""
CODE_LOOP = """
import contextlib, io, json, sys, traceback
from day1site.cli.transport.local_store import start_django
start_django()
for line in sys.stdin:
    output, error = io.StringIO(), ""
    try:
        with contextlib.redirect_stdout(output):
            exec(json.loads(line), {})
    except Exception:
        error = traceback.format_exc()
    print(json.dumps([output.getvalue(), error]), flush=True)
"""


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of a user, without that of the test run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAY1_", "DJANGO_"))}
    own = databases.of(changes["DAY1_DATA_DIR"]) if "DAY1_DATA_DIR" in changes else {}
    # One process: each one more costs half a second, see tests/site/test_processes.py.
    usual = {"DAY1_PROCESSES": "1", "DAY1_EMBEDDER": "off", "DAY1_NO_BOOTSTRAP": "1", "PYTHONUNBUFFERED": "1"}
    return kept | usual | own | changes


def prepared(folder: Path) -> Path:
    """Put a migrated, empty store into a new data directory, and return it: migrations take seconds."""
    if databases.ON_SQLITE and not folder.exists():
        folder.mkdir(mode=0o700)
        shutil.copy2(migrated_store(), folder)
    return folder


def provisioned(folder: Path) -> Path:
    """Put a store with its first project, user and key into a new data directory, and return it."""
    if databases.ON_SQLITE and not folder.exists():
        shutil.copytree(make_once("provisioned", provision), folder)
    return folder


def with_demo(folder: Path) -> Path:
    """Put a store with its first project and the demo, in which admin is a maintainer, into a new folder."""
    if databases.ON_SQLITE and not folder.exists():
        shutil.copytree(make_once("demo", make_demo), folder)
    return folder


@cache
def migrated_store() -> Path:
    """Return a migrated, empty store."""
    return make_once("migrated", migrate) / "day1.sqlite3"


def make_once(name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder of the test run that its first process fills for all of them."""
    folder = run_folder() / name
    with folder.with_suffix(".lock").open("a") as lock:
        wait_for_lock(lock.fileno())
        if not folder.exists():
            made = Path(mkdtemp())
            make(made)
            shutil.move(made, folder)
    return folder


def run_folder() -> Path:
    """Return the folder of the test run, in which each process of pytest-xdist has one of its own."""
    folder = Path(os.environ["DAY1_TEST_DATA_DIR"])
    return folder.parent if folder.name == os.environ.get("PYTEST_XDIST_WORKER") else folder


def migrate(folder: Path) -> None:
    command = [sys.executable, "manage.py", "migrate", "-v", "0"]
    subprocess.run(command, cwd=ROOT, env=environment(DAY1_DATA_DIR=str(folder)), check=True)


def provision(folder: Path) -> None:
    shutil.copy2(migrated_store(), folder)
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c", PROVISION]
    subprocess.run(command, cwd=ROOT, env=environment(DAY1_DATA_DIR=str(folder)), check=True)


def make_demo(folder: Path) -> None:
    shutil.copytree(make_once("provisioned", provision), folder, dirs_exist_ok=True)
    load_demo(folder)


def load_demo(folder: Path) -> None:
    command = [sys.executable, "manage.py", "day1", "demo"]
    env = environment(DAY1_DATA_DIR=str(folder))
    subprocess.run(command, cwd=ROOT, env=env, check=True, capture_output=True)


def shadow_folder() -> Path:
    """Return a folder whose files must never be run: it has one for each module that could be imported."""
    return make_once("shadows", make_shadows)


class Up:
    """Process of `up` on a data directory, on a port of its own, started in a stranger's folder."""

    shell: subprocess.Popen[str] | None = None  # runs code beside it; started with the first

    def __init__(self, folder: Path, *options: str, **env: str) -> None:
        manage = str(ROOT / "manage.py")
        words = [sys.executable, manage, "up", "--port", "0", "--data-dir", str(folder), *options]
        self.folder, self.env = folder, env
        self.log = (folder.parent / "up.log").open("a+")
        self.start = self.log.tell()
        self.process = subprocess.Popen(
            words,
            cwd=shadow_folder(),
            env=environment(**databases.of(folder) | env),
            stdout=self.log,
            stderr=subprocess.STDOUT,
        )

    def __enter__(self) -> "Up":
        return self.ready()

    def __exit__(self, *_error: object) -> None:
        self.stop()
        self.end()

    def output(self) -> str:
        self.log.seek(self.start)
        return self.log.read()

    def ready(self) -> "Up":
        """Wait for the announcement, which comes when everything runs."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while "Ctrl-C stops it." not in self.output():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                pytest.fail(f"The server did not start:\n{self.output()}")
            time.sleep(0.05)
        return self

    @property
    def first(self) -> dict[str, Any]:
        return json.loads((self.folder / "first-key.json").read_text())

    @property
    def processes(self) -> list[int]:
        """Return the processes that serve: those that `up` has forked, or itself where none does."""
        main = self.process.pid
        children = Path(f"/proc/{main}/task/{main}/children")
        forked = children.read_text().split() if HAS_PROC else []
        return [int(text) for text in forked] or [main]

    def add_demo(self) -> None:
        """Load the demo where the store was not copied from one that has it."""
        if not databases.ON_SQLITE:
            load_demo(self.folder)

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        with urlopen(Request(self.first["url"] + path, headers=headers), timeout=TIMEOUT_SECONDS) as answer:
            return answer.status, answer.read()

    def run_python(self, code: str) -> str:
        """Run code in a process that knows memory's models and engines; return what it printed.

        The process starts with the first call and serves all of them, since a start takes seconds.
        """
        if self.shell is None:
            self.shell = start_shell(self.folder, **self.env)
        assert self.shell.stdin
        assert self.shell.stdout
        self.shell.stdin.write(json.dumps(code) + "\n")
        self.shell.stdin.flush()
        output, error = json.loads(self.shell.stdout.readline())
        assert not error, error
        return str(output)

    def stop(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_SECONDS)

    def end(self) -> None:
        """Kill the processes that still run, and close the log."""
        for process in filter(None, (self.process, self.shell)):
            process.kill()
            process.communicate()
        self.log.close()
        assert list_executed(shadow_folder()) == []


def start_shell(folder: Path, **env: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CODE_LOOP],
        cwd=ROOT,
        env=environment(DAY1_DATA_DIR=str(folder), DJANGO_SETTINGS_MODULE="day1site.settings.dev", **env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
