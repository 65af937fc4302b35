"""A server that takes connections and never answers, named by DAY1_URL: connect and its undo end soon."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from day1site.cli import main
from day1site.cli.connect import target

SECONDS = 0.5


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of such a server, which is set in the environment."""
    assert target.PROOF_SECONDS == 10
    monkeypatch.setattr(target, "PROOF_SECONDS", SECONDS)
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setenv("DAY1_URL", url)
        monkeypatch.setenv("DAY1_KEY", "day1_abc")
        yield url


def test_connect_ends_soon_and_writes_nothing(
    hanging: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["connect", "gemini"]) == 1
    assert f"The server at {hanging} does not answer: timed out." in capsys.readouterr().err
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_undo_goes_on_without_the_server(
    hanging: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / ".config/day1"
    own.mkdir(parents=True)
    state = {"key": "day1_x", "key_id": "0", "url": hanging, "files": {}, "folders": []}
    (own / "gemini.connected.json").write_text(json.dumps(state))
    assert main(["connect", "gemini", "--undo"]) == 0
    assert "The key gemini was not revoked: " in capsys.readouterr().err
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
