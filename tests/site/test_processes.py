"""A server of several processes: one store, one address, one end."""

import http.client
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from tests.systems import needs_fork, needs_proc
from tests.up_process import Up, prepared
from tests.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = [pytest.mark.slow, needs_fork, needs_proc]


class Client:
    """A connection that one of the processes has accepted."""

    def __init__(self, server: Up, process: int) -> None:
        self.key = server.first["key"]
        with stopped(set(server.processes) - {process}):
            self.wire = http.client.HTTPConnection(
                urlsplit(server.first["url"]).netloc, timeout=TIMEOUT_SECONDS
            )
            assert self.send("GET", "/api/v1/health/live")[0] == 200

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        self.wire.request(method, path, body, {"Authorization": f"Bearer {self.key}"} | headers)
        answer = self.wire.getresponse()
        return answer.status, answer.read()

    def write(self, text: str) -> str:
        body = json.dumps({"fact_text": text}).encode()
        status, answer = self.send("POST", "/api/v1/facts", body, **{"Content-Type": "application/json"})
        assert status == 201
        return json.loads(answer)["id"]

    def search(self, words: str) -> list[str]:
        status, answer = self.send("GET", "/api/v1/facts/search?" + urlencode({"q": words}))
        assert status == 200
        return [hit["fact"]["id"] for hit in json.loads(answer)["results"]]


@contextmanager
def stopped(processes: set[int]) -> Iterator[None]:
    """Halt processes, so that the others accept what comes."""
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    yield
    for process in processes:
        os.kill(process, signal.SIGCONT)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Up]:
    folder = prepared(tmp_path_factory.mktemp("running") / "data")
    server = Up(folder, DAY1_PROCESSES="2")
    try:
        yield server.ready()
    finally:
        server.end()


@pytest.fixture
def clients(running: Up) -> list[Client]:
    assert len(running.processes) == 2
    return [Client(running, process) for process in running.processes]


def test_what_one_process_acknowledged_the_other_finds_at_once(clients: list[Client]) -> None:
    for number in range(20):
        writer, reader = clients if number % 2 else reversed(clients)
        uid = writer.write(f"The gauge zq{number}x stands in hall {number}.")
        assert reader.search(f"zq{number}x") == [uid]
        assert reader.send("DELETE", f"/api/v1/facts/{uid}")[0] == 204
        assert writer.search(f"zq{number}x") == []


def test_a_stream_of_one_process_hears_a_write_of_the_other(clients: list[Client]) -> None:
    listener, writer = clients
    listener.wire.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {listener.key}"})
    stream = listener.wire.getresponse()
    while not stream.readline().startswith(b"event: start"):
        pass
    uid = writer.write("A write that the other process announces.")
    while uid.encode() not in stream.readline():
        pass
    listener.wire.close()


def test_wrong_passwords_are_counted_in_all_processes_together(clients: list[Client]) -> None:
    """Each process alone would let ten pass; a slow machine may be let one or two more."""
    codes = [try_password(clients[number % 2]) for number in range(18)]
    assert codes[:10] == [200] * 10
    assert 429 in codes


def try_password(client: Client) -> int:
    client.wire.request("GET", "/login")
    answer = client.wire.getresponse()
    answer.read()
    token = answer.headers["Set-Cookie"].partition("csrftoken=")[2].partition(";")[0]
    body = urlencode({"username": "mallory", "password": "wrong", "csrfmiddlewaretoken": token}).encode()
    form = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": f"csrftoken={token}"}
    return client.send("POST", "/login", body, **form)[0]


def test_every_process_says_that_the_worker_runs(clients: list[Client]) -> None:
    for client in clients:
        health = json.loads(client.send("GET", "/api/v1/health")[1])
        assert (health["status"], health["worker"]) == ("ok", "running")


@pytest.mark.parametrize("number", [0, 1])
def test_a_killed_process_is_started_again(running: Up, number: int) -> None:
    killed = running.processes[number]
    before = len(running.output())
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: killed not in running.processes and len(running.processes) == 2)
    for process in running.processes:
        client = Client(running, process)
        assert client.search("nothing") == []
        client.wire.close()
    (line,) = running.output()[before:].splitlines()
    assert line.endswith("of the server ended with signal 9 and is started again.")


def test_a_signal_stops_all_processes_in_good_order(tmp_path: Path) -> None:
    """The other one, of a key, ends the last server of this file."""
    server = Up(prepared(tmp_path / "data"), DAY1_PROCESSES="3").ready()
    try:
        processes = server.processes
        assert len(processes) == 3
        clients = [Client(server, process) for process in processes]  # idle connections delay nothing
        assert server.stop(signal.SIGTERM) == 0
        assert not any(map(is_running, processes))
        assert server.output().splitlines()[-1] == "Stopped."
        assert "Traceback" not in server.output()
        assert not (server.folder / "day1.sqlite3-wal").exists()
        assert clients
    finally:
        server.end()


def test_a_kill_of_the_supervisor_leaves_no_process_and_loses_nothing(tmp_path: Path) -> None:
    server = Up(prepared(tmp_path / "data"), DAY1_PROCESSES="2").ready()
    again = None
    try:
        processes = server.processes
        uid = Client(server, processes[1]).write("Kept through a kill: the code is zq77x.")
        assert server.stop(signal.SIGKILL) == -signal.SIGKILL
        again = Up(server.folder, DAY1_PROCESSES="2").ready()
        assert not any(map(is_running, processes))
        assert Client(again, again.processes[0]).search("zq77x") == [uid]
        assert again.stop(signal.SIGINT) == 0
        assert again.output().splitlines()[-1] == "Stopped."
    finally:
        server.end()
        if again:
            again.end()
