"""The doctor command on connected programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from day1site.cli import main
from memory.engines.access.keys import KeyEngine
from memory.models import ApiKey, Project
from tests.events.conftest import served  # noqa: F401  a server with /mcp

pytestmark = pytest.mark.django_db(transaction=True)

Day1 = Callable[..., tuple[int, str, str]]


@pytest.fixture
def day1(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Day1:
    for name in ("DAY1_URL", "DAY1_KEY", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["--project", project.slug, *words])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.fixture
def url(served: Any) -> str:  # noqa: F811
    return f"http://127.0.0.1:{served[0]}"


def test_without_a_connection_it_says_how_to_make_one(day1: Day1) -> None:
    assert day1("doctor") == (0, "", "No program is connected: day1 connect PROGRAM connects one.\n")


@pytest.mark.parametrize("program", ["claude-code", "codex", "gemini", "opencode"])
def test_what_is_connected_works(day1: Day1, url: str, program: str) -> None:
    day1("connect", program, "--url", url)
    status, out, _ = day1("doctor", "--format", "json")
    told = {"program": program, "url": url, "waiting": 0, "last_event": None, "set_aside": [], "trouble": []}
    assert (status, json.loads(out)) == (0, {"programs": [told]})
    assert day1("doctor")[1].splitlines()[1].split("\t")[4] == "works"


def test_a_program_with_a_profile_works(day1: Day1, url: str) -> None:
    day1("connect", "cursor", "--url", url, "--profile", "memory")
    assert day1("doctor")[1].splitlines()[1].split("\t")[4] == "works"


def test_what_is_lost_revoked_and_waiting_is_told(
    day1: Day1, live_server: Any, tmp_path: Path, actor: Any
) -> None:
    day1("connect", "claude-code", "--url", live_server.url)
    settings = tmp_path / ".claude/settings.json"
    settings.write_text('{"disableAllHooks": true}')
    KeyEngine().revoke_key(key_id=ApiKey.objects.get(label="claude-code").pk, actor=actor)
    spool = tmp_path / ".config/day1/claude-code.json.spool"
    spool.mkdir()
    (spool / "events.jsonl").write_text('{"a": 1}\n{"b": 2}\n')
    (spool / "delivered").write_text("9")
    status, out, _ = day1("doctor", "--format", "json")
    (told,) = json.loads(out)["programs"]
    assert (status, told["waiting"]) == (1, 1)
    assert told["trouble"][:2] == [
        f"{settings} has lost what connect wrote",
        f"{settings} turns the hooks off: disableAllHooks",
    ]
    assert told["trouble"][2].startswith("unauthenticated: ")


def test_events_that_were_set_aside_are_told(day1: Day1, url: str, tmp_path: Path) -> None:
    """Report them without an error: later events are delivered."""
    day1("connect", "claude-code", "--url", url)
    spool = tmp_path / ".config/day1/claude-code.json.spool"
    spool.mkdir()
    (spool / "broken.jsonl").write_bytes(b'{"a": \xff\n')
    (spool / "refused.jsonl").write_text('{"a": 1}\n{"b": 2}\n')
    status, out, _ = day1("doctor", "--format", "json")
    (told,) = json.loads(out)["programs"]
    assert (status, told["trouble"], told["waiting"]) == (0, [], 0)
    assert told["set_aside"] == [
        {"file": str(spool / "broken.jsonl"), "events": 1},
        {"file": str(spool / "refused.jsonl"), "events": 2},
    ]
    assert day1("doctor")[2].splitlines() == [
        f"claude-code: 1 event could not be read as JSON and will not be sent: look into {spool}/broken.jsonl"
        ", and delete it when it is of no more use.",
        f"claude-code: 2 events were refused by the server for good: look into {spool}/refused.jsonl"
        ", and delete it when it is of no more use.",
    ]


def test_hooks_that_the_project_turns_off_are_told(day1: Day1, url: str, tmp_path: Path) -> None:
    day1("connect", "claude-code", "--url", url)
    local = tmp_path / ".claude/settings.local.json"
    local.write_text('{"disableAllHooks": true, // for now\n}')
    (told,) = json.loads(day1("doctor", "--format", "json")[1])["programs"]
    assert told["trouble"] == [f"{local} turns the hooks off: disableAllHooks"]
    local.write_text('{"disableAllHooks": false}')
    assert day1("doctor")[0] == 0


def test_a_server_without_mcp_is_told(day1: Day1, live_server: Any) -> None:
    """Run Django alone."""
    day1("connect", "opencode", "--url", live_server.url)
    (told,) = json.loads(day1("doctor", "--format", "json")[1])["programs"]
    assert told["trouble"] == [f"{live_server.url}/mcp lists no tools: error: HTTP 404"]


def test_a_server_that_is_away_is_told(day1: Day1) -> None:
    day1("connect", "opencode", "--url", "http://127.0.0.1:9")
    status, out, _ = day1("doctor")
    assert status == 1
    assert "unreachable: The server at http://127.0.0.1:9 does not answer" in out
