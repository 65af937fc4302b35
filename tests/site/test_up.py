"""`manage.py up` as a newcomer meets it: real processes, real signals."""

import json
import os
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command

from day1site.cli.hook import default_config
from day1site.server import provisioning
from day1site.server.process import CannotStart, bind
from memory.engines.access.provisioning import FirstStart
from tests import databases
from tests.systems import HAS_PROC
from tests.up_process import ROOT, Up, environment, prepared
from tests.waiting import TIMEOUT_SECONDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def up(folder: Path) -> Iterator[Any]:
    started: list[Up] = []

    def start(*options: str, **env: str) -> Up:
        started.append(Up(folder, *options, **env))
        return started[-1]

    yield start
    for one in started:
        one.end()


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Up]:
    """Start one server for the tests that leave it unchanged."""
    folder = prepared(tmp_path_factory.mktemp("running") / "data")
    server = Up(folder, "--no-worker", DAY1_ADMIN_PASSWORD=CHOSEN)
    try:
        yield server.ready()
    finally:
        server.end()


CHOSEN = "correct horse battery"


def refusal(*options: str, **env: str) -> str:
    """Run an `up` that must fail with one line, status 1 and no traceback; return the line."""
    done = subprocess.run(
        [sys.executable, "manage.py", "up", *options],
        cwd=ROOT,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    return line


@pytest.mark.slow
def test_from_nothing_to_a_server_that_stops_cleanly_and_comes_back(up) -> None:
    """It comes back after a kill too, with everything there and nothing to repair."""
    server = up().ready()
    first, said = server.first, server.output()
    check_first_start(server, said)

    # An idle keep-alive connection does not delay the stop.
    with connect(server) as wire:
        wire.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert wire.recv(15) == b"HTTP/1.1 200 OK"
        assert server.stop(signal.SIGINT) == 0
    assert server.output().splitlines()[-1] == "Stopped."
    assert "Traceback" not in server.output()
    # A clean stop leaves one complete database file.
    assert not (server.folder / "day1.sqlite3-wal").exists()

    again = up("--no-worker").ready()
    assert first["key"] not in again.output()
    assert first["password"] not in again.output()
    assert {**again.first, "url": ""} == {**first, "url": ""}
    assert again.stop(signal.SIGKILL) == -signal.SIGKILL
    third = up("--no-worker").ready()
    assert third.first["key"] == first["key"]
    assert third.get("/api/v1/health")[0] == 200
    assert third.stop(signal.SIGTERM) == 0
    counts = [databases.rows(server.folder, f"SELECT count(*) FROM {table}") for table in TABLES]
    assert counts == [[(1,)]] * 4
    if databases.ON_SQLITE:
        assert databases.rows(server.folder, "PRAGMA integrity_check") == [("ok",)]


def check_first_start(server: Up, said: str) -> None:
    first = server.first
    assert first["key"] in said
    assert first["password"] in said
    assert stat.S_IMODE((server.folder / "first-key.json").stat().st_mode) == 0o600
    if databases.ON_SQLITE:
        assert stat.S_IMODE((server.folder / "day1.sqlite3").stat().st_mode) == 0o600
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700
    for path in ("/", "/admin/", "/api/v1/docs"):
        assert first["url"] + path in said
    status, body = server.get("/api/v1/health")
    assert (status, json.loads(body)["status"]) == (200, "ok")
    assert server.get("/")[0] == 200


TABLES = ("memory_project", "memory_branch", "memory_apikey", "auth_user")


def run_manage(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *words, "--data-dir", str(folder)],
        cwd=ROOT,
        env=environment(**databases.of(folder)),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("port", ["abc", "70000", "1.5", "-1", ""])
def test_a_port_that_is_none_is_a_wrong_use(port: str) -> None:
    with pytest.raises(CommandError) as caught:
        call_command("up", f"--port={port}")
    wanted = f"Error: argument --port: a port is a number from 1 to 65535, not {port!r}"
    assert (str(caught.value), caught.value.returncode) == (wanted, 1)


@pytest.mark.slow
def test_a_second_start_on_the_same_data_is_refused_and_says_where_the_first_is(running: Up) -> None:
    line = refusal("--port", "0", "--data-dir", str(running.folder))
    at = f"at {running.first['url']} (process {running.process.pid})"
    assert line == f"Day1 is running already on {running.folder}, {at}."
    assert running.get("/api/v1/health")[0] == 200


@pytest.mark.slow
def test_a_password_that_the_owner_chose_is_neither_shown_nor_kept(running: Up) -> None:
    assert CHOSEN not in running.output() + json.dumps(running.first)
    check = "from django.contrib.auth import authenticate as a; print(bool(a(username='admin', password=%r)))"
    assert run_manage(running.folder, "shell", "-v0", "-c", check % CHOSEN) == "True\n"


@pytest.mark.slow
def test_a_body_over_the_limit_is_refused_over_the_wire(running: Up) -> None:
    with connect(running) as wire:
        wire.sendall(b"POST /api/v1/facts HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(9):
            wire.sendall(b"100000\r\n" + b"a" * 0x100000 + b"\r\n")
        wire.sendall(b"0\r\n\r\n")
        answer = wire.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"over the limit of 8 MiB" in answer


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evil.example", "not a name"])
def test_a_name_that_is_not_the_servers_is_one_line_in_the_log(running: Up, name: str) -> None:
    before = len(running.output())
    with connect(running) as wire:
        wire.sendall(f"GET /?{name[:3]} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        assert wire.makefile("rb").read().startswith(b"HTTP/1.1 400 ")
    (line,) = running.output()[before:].splitlines()
    assert f"WARNING django.security.DisallowedHost: Invalid HTTP_HOST header: '{name}'." in line


@pytest.mark.slow
def test_clients_that_go_away_leave_no_line_in_the_log(running: Up) -> None:
    before = running.output()
    for path in ("/", "/api/v1/schema"):
        for taken in (0, 100):
            with connect(running) as wire:
                wire.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                wire.recv(taken)
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset
    assert running.get("/api/v1/health")[0] == 200
    assert running.output() == before


@pytest.mark.slow
@databases.only_on_sqlite
def test_every_request_finds_a_thread_that_has_its_connection(running: Up) -> None:
    """Open no connection per request, as Django's own ASGI handler would."""
    for _ in range(40):
        running.get("/api/v1/health")
    if not HAS_PROC:
        pytest.skip("needs /proc to count open files")
    for process in running.processes:
        opened = [target(path) for path in Path(f"/proc/{process}/fd").iterdir()]
        assert 1 <= sum(path.endswith("day1.sqlite3") for path in opened) <= 17


def target(path: Path) -> str:
    try:
        return os.readlink(path)
    except FileNotFoundError:  # closed in between
        return ""


def connect(server: Up) -> socket.socket:
    host, port = server.first["url"].removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=TIMEOUT_SECONDS)


@pytest.mark.slow
@databases.only_on_sqlite
def test_another_data_folder_with_the_same_database_is_refused(running: Up, tmp_path: Path) -> None:
    path = (running.folder / "day1.sqlite3").resolve()
    link = tmp_path / "another name.sqlite3"
    link.symlink_to(path)
    for name in (path, link):
        url = f"sqlite:///{quote(str(name))}"
        line = refusal("--port", "0", "--data-dir", str(tmp_path / "data"), DATABASE_URL=url)
        at = f"at {running.first['url']} (process {running.process.pid})"
        assert line == f"Day1 is running already on {path}, {at}."


def test_each_store_of_a_folder_keeps_its_first_key(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(store: str, key: str, **more: str) -> str:
        settings.DATABASES = {"default": {"NAME": store, **more}}
        provisioning.keep(tmp_path, "http://127.0.0.1:1", FirstStart("admin", "", key))
        return provisioning.find_first_key(tmp_path).name

    def read() -> dict[str, str]:
        return {file.name: json.loads(file.read_text())["key"] for file in tmp_path.glob("first-key*")}

    usual, other = str(tmp_path / "day1.sqlite3"), str(tmp_path / "other.sqlite3")
    assert make(usual, "one") == "first-key.json"
    second, third = make(other, "two"), make("day1", "three", HOST="db", PORT="6001")
    assert make(usual, "four") == "first-key.json"  # the store was moved away
    provisioning.refresh(tmp_path, url="http://127.0.0.1:2")
    keys = {second: "two", third: "three", "first-key.json": "four", "first-key.old-1.json": "one"}
    assert read() == keys
    assert len(keys) == 4
    urls = {name: json.loads((tmp_path / name).read_text())["url"][-1] for name in keys}
    assert [name for name, url in urls.items() if url == "2"] == ["first-key.json"]
    monkeypatch.setenv("DAY1_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{quote(other)}")
    assert default_config() == tmp_path / second


@pytest.mark.slow
def test_a_port_that_is_taken(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refusal("--port", str(port), "--data-dir", str(folder))
    assert line == (
        f"Port {port} of 127.0.0.1 is taken by another program: stop that one or choose another --port."
    )
    assert not (folder / "day1.sqlite3").exists()


def test_an_address_that_this_machine_does_not_have() -> None:
    with pytest.raises(CannotStart, match=r"^This machine cannot listen on 203\.0\.113\.9, port 0: "):
        bind("203.0.113.9", 0)


@pytest.mark.slow
@pytest.mark.parametrize(("below", "secret"), [(".", ""), ("data", "a secret of one's own")])
def test_a_data_directory_that_cannot_be_written(tmp_path: Path, below: str, secret: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / below
    line = refusal("--port", "0", "--data-dir", str(path), DAY1_SECRET_KEY=secret)
    assert line.startswith(f"The data directory {path} cannot be written: ")


@pytest.mark.slow
@databases.only_on_sqlite
def test_a_data_file_that_is_no_database(folder: Path) -> None:
    folder.mkdir()
    (folder / "day1.sqlite3").write_text("this is a letter, not a database\n" * 100)
    line = refusal("--port", "0", "--data-dir", str(folder))
    assert line.startswith("The file of the store cannot be read: it is no database, ")


@pytest.mark.slow
@databases.only_on_sqlite
def test_what_is_in_the_place_of_a_store_is_left_alone(folder: Path) -> None:
    """An emptied store, whose log could still be saved, and a database of another program."""
    folder.mkdir()
    file, log = folder / "day1.sqlite3", folder / "day1.sqlite3-wal"
    file.touch()
    log.write_bytes(b"a log")
    (folder / "day1.sqlite3-mark").write_text('{"format": 1}')
    assert refusal("--port", "0", "--data-dir", str(folder)) == (
        f"{file} is empty, but day1.sqlite3-mark says that it held a store: put a backup in its place, or"
        " remove both to begin anew."
    )
    assert (file.read_bytes(), log.read_bytes()) == (b"", b"a log")
    for other in folder.iterdir():
        other.unlink()
    with closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE a (b)")
    assert refusal("--port", "0", "--data-dir", str(folder)) == (
        f"{file} is a database of another program: it has tables, and none of Day1's migrations. Name another"
        " data directory or database; where DATABASE_URL is another program's, unset it for Day1."
    )
    assert {one.name for one in folder.iterdir()} <= {file.name, "secret_key"}  # nothing locks it


def test_answers_do_not_wait_for_more_to_send() -> None:
    with bind("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP  # what asyncio checks before it sets TCP_NODELAY
