"""The connect command beside real servers: it finds their address, data and project."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from day1site.running_servers import announced, list_running, read_running
from tests.up_process import ROOT, Up, environment, prepared

pytestmark = pytest.mark.slow
MAIN = ROOT / "day1site" / "cli" / "__main__.py"


class Person:
    """Somebody with a home of their own, who runs servers and the command line."""

    def __init__(self, folder: Path) -> None:
        self.home, self.folder = folder / "home", folder
        self.notes = self.home / ".local/state/day1/servers"
        self.home.mkdir()

    def up(self, name: str) -> Up:
        own = {"HOME": str(self.home), "XDG_STATE_HOME": "", "DAY1_DATA_DIR": ""}
        return Up(prepared(self.folder / name), "--no-worker", **own)

    def day1(self, *words: str) -> tuple[int, str, str]:
        own = {"HOME": str(self.home), "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "", "CODEX_HOME": ""}
        command = [sys.executable, str(MAIN), *words]
        done = subprocess.run(command, cwd=self.home, env=environment(**own), capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def connect(self, *words: str) -> dict[str, Any]:
        status, out, err = self.day1("connect", "codex", *words, "--format", "json")
        assert status == 0, err
        return dict(json.loads(out))

    def keys(self, server: Up) -> list[dict[str, Any]]:
        _, body = server.get("/api/v1/keys", Authorization=f"Bearer {server.first['key']}")
        return [row for row in json.loads(body)["results"] if row["label"] == "codex"]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


def test_a_server_is_found_by_its_note_its_address_and_its_data(person: Person) -> None:
    """Look at one server from all sides: to start another takes longer than everything else."""
    if read_running(ROOT / "data"):
        pytest.skip("The server of this checkout runs: it comes first.")
    with person.up("one") as server:
        check_running_server(person, server)
        check_other_data(person, server)
        check_address_and_data(person, server)
    check_notes(person)


def check_running_server(person: Person, server: Up) -> None:
    """Check that the running server is found, proven, and left again, also beside another one."""
    (note,) = person.notes.iterdir()
    assert json.loads(note.read_text()) == {"data_dir": str(server.folder)}
    answer = person.connect()
    place = {"url": server.first["url"], "data_dir": str(server.folder), "project": "default"}
    assert {name: answer[name] for name in place} == place
    assert answer["proof"]["trouble"] == []
    assert answer["proof"]["tools"] > 5
    assert f'url = "{server.first["url"]}/mcp"' in (person.home / ".codex/config.toml").read_text()
    (key,) = person.keys(server)
    assert key["revoked_at"] is None
    other = person.up("two").ready()
    assert person.connect()["url"] == server.first["url"]  # which it was connected with
    (person.home / ".config/day1/codex.connected.json").rename(person.home / "kept")
    status, _, err = person.day1("connect", "codex")
    assert (status, "Several servers run; choose one with --url: " in err) == (2, True)
    assert f"{other.first['url']} on {other.folder}" in err
    (person.home / "kept").rename(person.home / ".config/day1/codex.connected.json")
    other.process.kill()
    other.end()
    assert len(list(person.notes.iterdir())) == 2
    assert person.day1("connect", "codex", "--undo")[0] == 0
    (key,) = person.keys(server)
    assert key["revoked_at"] is not None
    assert not (person.home / ".codex").exists()


def check_other_data(person: Person, server: Up) -> None:
    """Check that a key of the data of the second server, which was killed, is told not to be this one's."""
    other = person.folder / "two"
    status, _, err = person.day1("connect", "codex", "--url", server.first["url"], "--data-dir", str(other))
    assert status == 1
    assert "It is written, but does not work: unauthenticated: " in err
    assert f"The key was made in the project default in {other}" in err
    assert person.day1("connect", "codex", "--undo")[0] == 0


def check_address_and_data(person: Person, server: Up) -> None:
    """Check that the address leads to the data, and the data to the address, until the server stops."""
    url = server.first["url"]
    answer = person.connect("--url", url.replace("127.0.0.1", "localhost"))
    assert (answer["data_dir"], answer["proof"]["trouble"]) == (str(server.folder), [])
    assert person.day1("connect", "codex", "--undo")[0] == 0
    assert person.connect("--data-dir", str(server.folder))["url"] == url
    assert server.stop() == 0
    status, _, err = person.day1("connect", "codex", "--url", url, "--data-dir", str(server.folder))
    assert status == 1
    assert f"It is written, but does not work: unreachable: The server at {url} does not answer" in err


def check_notes(person: Person) -> None:
    """Check that the stopped server has left no note, and that of the killed one is gone."""
    assert list(person.notes.iterdir()) == []
    (person.home / ".config/day1/codex.connected.json").unlink()
    status, _, err = person.day1("connect", "codex", "--data-dir", str(person.folder / "two"))
    assert status == 0
    assert "No server runs here yet: start it with `python3 manage.py up`, or keep it running:" in err


def test_a_server_starts_where_no_note_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with announced(tmp_path / "data"):
        assert list_running() == []
    assert (tmp_path / "file").read_text() == "no folder"
