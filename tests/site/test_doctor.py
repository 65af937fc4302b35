"""The doctor command on connected programs."""

import json
import re
import socket
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from werkzeug import Request, Response

from conversations.capture.engine import IngestEngine
from conversations.models import Message
from day1site.cli.connect import target, versions
from day1site.cli.connect.codex_trust import hash_hooks
from day1site.cli.connect.doctor import count_waiting
from memory.engines.access.keys import KeyEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.support.write_buffer import buffer
from memory.models import ApiKey, Branch, Fact, Observation, Project, Session
from memory.program_commands import COMMANDS
from tests.command_line import Day1, build_day1
from tests.events.conftest import served  # noqa: F401  a server with /mcp
from tests.http_doubles import DoubleServer
from tests.site.hook_events import CONSOLIDATOR
from tests.waiting import TIMEOUT_SECONDS, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def day1(
    tmp_path: Path, project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Day1:
    for name in (
        "DAY1_URL",
        "DAY1_KEY",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)

    return build_day1(project, capsys)


@pytest.fixture
def url(served: Any) -> str:  # noqa: F811
    return f"http://127.0.0.1:{served[0]}"


def test_without_a_connection_it_says_how_to_make_one(day1: Day1) -> None:
    assert day1("doctor") == (0, "", "No program is connected: day1 connect PROGRAM connects one.\n")


def install(tmp_path: Path, name: str, script: str) -> None:
    """Put a program on the PATH."""
    file = tmp_path / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def check(day1: Day1) -> tuple[int, Any]:
    status, out, _ = day1("doctor", "--format", "json")
    (told,) = json.loads(out)["programs"]
    return status, told


@pytest.mark.parametrize("program", ["claude-code", "gemini", "cursor", "opencode"])
def test_what_is_connected_works(day1: Day1, url: str, tmp_path: Path, program: str) -> None:
    day1("connect", program, "--url", url)
    install(tmp_path, COMMANDS[program], "echo tool 99.1.2")
    assert check(day1) == (
        0,
        {
            "program": program,
            "version": "99.1.2",
            "url": url,
            "tested": True,
            "waiting": 0,
            "reached": True,
            "last_event": None,
            "set_aside": [],
            "dropped": 0,
            "notes": [],
            "trouble": [],
        },
    )
    works = "works, a test event was stored"
    spool = tmp_path / ".config/day1" / f"{program}.json.spool"
    wait_until(lambda: count_waiting(spool) == 0)  # the test event may be noted as sent after its answer
    assert day1("doctor")[1].splitlines()[1].split("\t") == [f"{program} 99.1.2", url, "0", "never", works]


def test_the_test_event_is_nobodys_words_and_nothing_is_learned(
    day1: Day1, url: str, project: Project, settings: Any
) -> None:
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
    day1("connect", "claude-code", "--url", url)
    assert (day1("doctor")[0], day1("doctor")[0]) == (0, 0)
    session = Session.objects.get()
    assert (session.key, session.agent_id) == ("day1-doctor-claude-code", "claude-code")
    assert (session.status, session.project_path, session.summary) == ("completed", "", "")
    assert [row.role for row in Message.objects.all_versions()] == ["system", "system"]
    assert SessionManager().consolidate_session(session.pk) == 0
    assert not Fact.objects.all_versions().exists()
    main_branch = Branch.objects.get(project=project, name="main")
    assert not Observation.objects.on(main_branch).exists()


def test_the_next_session_does_not_follow_a_test(day1: Day1, url: str, actor: Any, tmp_path: Path) -> None:
    def start(name: str) -> None:
        event = {"hook_event_name": "SessionStart", "session_id": name, "cwd": str(tmp_path)}
        words = {**event, "hook_event_name": "UserPromptSubmit", "prompt": "Add a field to the invoice."}
        IngestEngine().ingest(events=[event, words], actor=actor, client="claude-code")

    start("before")
    day1("connect", "claude-code", "--url", url)
    assert day1("doctor")[0] == 0
    start("after")
    assert Session.objects.get(key="after").parent_session == "before"


def test_the_last_event_of_a_program_is_told(day1: Day1, url: str, actor: Any) -> None:
    day1("connect", "gemini", "--url", url)
    events = [{"hook_event_name": "BeforeAgent", "session_id": "s1", "prompt": "How is money kept?"}]
    IngestEngine().ingest(events=events, actor=actor, client="gemini")
    buffer.flush()
    last = check(day1)[1]["last_event"]
    session = Session.objects.get(key="s1")
    heard = max(filter(None, [session.started_at, session.active_at]))
    assert datetime.fromisoformat(last) == heard
    assert day1("doctor")[1].splitlines()[1].split("\t")[3] == f"{heard:%Y-%m-%d %H:%M:%S}"


def test_a_hook_that_cannot_run_is_told(day1: Day1, url: str, tmp_path: Path) -> None:
    day1("connect", "claude-code", "--url", url)
    settings = tmp_path / ".claude/settings.json"
    settings.write_text(re.sub(r'"command": "\S+ ', '"command": "/nowhere/python ', settings.read_text()))
    status, told = check(day1)
    assert (status, told["tested"]) == (1, False)
    assert told["trouble"][0] == f"{settings} has lost what connect wrote"
    assert told["trouble"][1].startswith("the hook ended with status 127: /nowhere/python -I -S ")


def test_a_hook_that_sends_elsewhere_is_told(day1: Day1, url: str, tmp_path: Path) -> None:
    day1("connect", "claude-code", "--url", url)
    config = tmp_path / ".config/day1/claude-code.json"
    config.write_text(config.read_text().replace(url, "http://127.0.0.1:9"))
    status, told = check(day1)
    assert (status, told["tested"]) == (1, False)
    why = "The server at http://127.0.0.1:9 does not answer: Connection refused."
    assert told["trouble"] == [f"no event of it arrives: {why}"]


def test_a_hook_whose_events_are_refused_is_told_why(
    day1: Day1, url: str, actor: Any, tmp_path: Path
) -> None:
    day1("connect", "claude-code", "--url", url)
    config = tmp_path / ".config/day1/claude-code.json"
    read = json.loads(config.read_text())
    options = {"label": "tasks", "scopes": ["write"], "branch_patterns": ["task/*"]}
    config.write_text(json.dumps({**read, "key": KeyEngine().create_key(actor=actor, **options)[1]}))
    status, told = check(day1)
    assert (status, told["tested"]) == (1, False)
    assert told["trouble"] == ["no event of it arrives: This key may not use the branch main."]
    config.write_text(json.dumps({**read, "branch": "gone"}))
    assert check(day1)[1]["trouble"] == ["no event of it arrives: There is no branch named gone."]
    config.write_text("[]")
    assert check(day1)[1]["trouble"] == [f"{config} holds no address and key"]


# ---- versions ------------------------------------------------------------------------------------------


def test_a_version_that_is_too_old_for_a_hook_is_told(day1: Day1, url: str, tmp_path: Path) -> None:
    day1("connect", "claude-code", "--url", url)
    install(tmp_path, "claude", "echo '2.1.75 (Claude Code)'")
    status, told = check(day1)
    assert (status, told["version"]) == (1, "2.1.75")
    text = "claude 2.1.75 is too old for PostCompact, StopFailure: it takes 2.1.78 or newer"
    assert told["trouble"] == [text]
    install(tmp_path, "claude", "echo '2.1.78 (Claude Code)'")
    assert check(day1)[0] == 0


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (None, "claude is not found on the PATH, so its version is not known"),
        ("echo broken >&2; exit 3", "claude --version names no version"),
        pytest.param(
            "exec sleep 60",
            "claude --version did not answer within 1 seconds",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_version_that_is_not_known_is_said(
    day1: Day1, url: str, tmp_path: Path, script: str | None, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "sleep" in (script or ""):
        monkeypatch.setattr(versions, "TIMEOUT_SECONDS", 1.0)
    day1("connect", "claude-code", "--url", url)
    if script is not None:
        install(tmp_path, "claude", script)
    status, told = check(day1)
    assert (status, told["version"], told["notes"], told["trouble"]) == (0, "", [text], [])


# ---- Codex's trust -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "name", "broken"),
    [
        ("codex", ".codex/config.toml", b"[[["),
        ("gemini", ".gemini/settings.json", b'{"hooks": '),
        ("gemini", ".gemini/settings.json", b'{"theme": "\xff"}'),
    ],
)
def test_a_file_that_nobody_can_read_is_told(
    day1: Day1, url: str, tmp_path: Path, program: str, name: str, broken: bytes
) -> None:
    day1("connect", program, "--url", url)
    (tmp_path / name).write_bytes(broken)
    status, told = check(day1)
    assert status == 1
    assert told["trouble"][0].startswith(f"{tmp_path / name} cannot be read: ")
    assert (tmp_path / name).read_bytes() == broken


def test_a_server_that_hangs_is_told_soon(day1: Day1, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "PROOF_SECONDS", 0.2)
    monkeypatch.setattr(target, "PATIENT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=50) as hanging:
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        status, _, err = day1("connect", "gemini", "--url", url)
        assert status == 1
        assert (
            f"It is written, but is not proven: no answer came in time: unreachable: The server at {url}"
            in err
        )
        assert check(day1)[1]["trouble"] == [f"unreachable: The server at {url} does not answer: timed out."]


def test_a_server_that_is_busy_is_waited_for(day1: Day1, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "PROOF_SECONDS", 2.5)
    asked, asked_again = threading.Lock(), threading.Event()

    def list_tools(_request: Request) -> Response:
        if asked.acquire(blocking=False):
            asked_again.wait(TIMEOUT_SECONDS)  # the first answer comes when nobody waits for it any more
        asked_again.set()
        return Response(json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "one"}]}}))

    with DoubleServer("127.0.0.1", 0, threaded=True) as server:
        server.expect_request("/mcp").respond_with_handler(list_tools)
        server.expect_request(re.compile("/api/v1/.*")).respond_with_json({})
        url = server.url_for("").rstrip("/")
        status, _, err = day1("connect", "gemini", "--url", url)
    assert (status, f"{url} is busy: its answer is waited for, up to 60 seconds." in err) == (0, True)
    assert f"{url} knows the key, of " in err
    assert "and lists 1 tools." in err


def test_hooks_that_wait_for_trust_are_told(day1: Day1, url: str, tmp_path: Path) -> None:
    day1("connect", "codex", "--url", url)
    status, told = check(day1)
    assert (status, told["tested"]) == (1, True)  # the hook works, Codex only does not call it
    assert told["trouble"] == ["9 of 9 hooks wait for trust: enter /hooks in Codex and trust them"]
    hooks, config = tmp_path / ".codex/hooks.json", tmp_path / ".codex/config.toml"
    hashes = hash_hooks(hooks, json.loads(hooks.read_text()))
    states = [f'[hooks.state."{key}"]\ntrusted_hash = "{value}"\n' for key, value in hashes.items()]
    config.write_text("\n".join([config.read_text(), *states[:8]]))
    assert check(day1)[1]["trouble"] == ["1 of 9 hooks wait for trust: enter /hooks in Codex and trust them"]
    config.write_text("\n".join([config.read_text(), states[8]]))
    assert check(day1) == (0, {**told, "trouble": []})
    config.write_text(f"{config.read_text()}enabled = false\n\n[features]\nhooks = false\n")
    assert check(day1)[1]["trouble"] == [
        f"{config} turns the hooks off: features.hooks",
        "1 hooks are turned off in Codex: /hooks",
    ]


def test_trust_is_told_by_the_hashes_of_codex(tmp_path: Path) -> None:
    """The hashes are those that Codex 0.169.0 told of this file (`hooks/list` of its app server)."""
    client = "/opt/day1/day1site/hooks/client/hook.py"
    first = f"/usr/bin/python3 -I -S {client} --client codex --config /Users/zoë/.config/day1/codex.json"
    own = {"type": "command", "command": f"/usr/bin/python3 {client}"}
    content = {
        "hooks": {
            "SessionStart": [{"hooks": [{"type": "command", "command": first, "timeout": 5}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "say"}]}, {"hooks": [own]}],
        }
    }
    assert hash_hooks(Path("/c/hooks.json"), content) == {
        "/c/hooks.json:session_start:0:0": "sha256:"
        "e56b8906c03b97a858b5f0af0e33bcb8efaecef9814b6c307ba72d236aa2c395",
        "/c/hooks.json:stop:1:0": "sha256:5db526f8aa468af041a21ce942d23a322748df3f9eddc63e78c703445208febb",
    }


# ---- what does not work --------------------------------------------------------------------------------


def test_a_program_with_a_profile_works(day1: Day1, url: str) -> None:
    day1("connect", "cursor", "--url", url, "--profile", "memory")
    assert day1("doctor")[1].splitlines()[1].split("\t")[4] == "works, a test event was stored"


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
    install(tmp_path, "claude", "echo 99.0")
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
        "claude-code: 2 events were refused or left out by the server for good:"
        f" look into {spool}/refused.jsonl, and delete it when it is of no more use.",
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
    assert out.splitlines()[1].split("\t")[3] == "not known"
    assert "unreachable: The server at http://127.0.0.1:9 does not answer" in out
