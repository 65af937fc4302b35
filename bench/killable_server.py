"""A server to kill and restart, on one folder and one port."""

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from bench.server import ROOT, Client

TIMEOUT_SECONDS = 180.0  # seconds for a start, or for the vectors
RATE = 1_000_000


class Server:
    """Server process, ``manage.py up``, on one folder and one port: to start, kill and restart."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port, self.log = folder / "data", free_port(), folder / "server.log"
        self.url = f"http://127.0.0.1:{self.port}"
        self.key = ""

    def start(self) -> float:
        """Start the server and wait until it is ready; return the seconds."""
        began = time.monotonic()
        kept = {name: text for name, text in os.environ.items() if not name.startswith(("DAY1_", "DJANGO_"))}
        words = ["manage.py", "up", "--port", str(self.port), "--data-dir", str(self.folder)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, *words],
                cwd=ROOT,
                env=kept | {"DAY1_NO_BOOTSTRAP": "1"},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        while not self.ready():
            if self.process.poll() is not None or time.monotonic() - began > TIMEOUT_SECONDS:
                raise RuntimeError(f"The server did not start:\n{self.log.read_text()[-2000:]}")
            time.sleep(0.05)
        self.key = self.key or self.make_key()
        return time.monotonic() - began

    def ready(self) -> bool:
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as link:
                link.request("GET", "/api/v1/health/ready")
                return link.getresponse().status == 200
        except OSError:
            return False

    def make_key(self) -> str:
        """Create a key with a practically unlimited rate."""
        first = Client(self.url, json.loads((self.folder / "first-key.json").read_text())["key"])
        payload = {"label": "kill", "scopes": ["read", "write"], "rate_per_minute": RATE}
        with closing(first):
            return first.ask("POST", "/keys", payload)["token"]

    def client(self) -> Client:
        return Client(self.url, self.key)

    def kill(self) -> None:
        """Kill the whole process group at once, without warning."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(TIMEOUT_SECONDS)

    def faults(self) -> list[str]:
        """Return the errors in the log, of all starts."""
        lines = self.log.read_text(errors="replace").splitlines()
        return [f"log: {line}" for line in lines if " ERROR " in line or line.startswith("Traceback")]

    def damage(self) -> list[str]:
        """Return what SQLite finds damaged in its file, if any. Only after the end of the process."""
        if "DATABASE_URL" in os.environ:
            return []
        with closing(sqlite3.connect(self.folder / "day1.sqlite3")) as database:
            found = [row[0] for row in database.execute("PRAGMA integrity_check")]
            broken = database.execute("PRAGMA foreign_key_check").fetchall()
        return [f"file: {line}" for line in found if line != "ok"] + [f"foreign key: {row}" for row in broken]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]
