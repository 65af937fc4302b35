"""The settings written by connect, run as the program runs them, against a server."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conversations.models import Message
from day1site.cli import main
from memory.models import ApiKey, Project, Session
from tests.events.conftest import served  # noqa: F401  a server with /mcp
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DAY1_URL", "DAY1_KEY", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(line: str, event: dict[str, Any]) -> str:
    done = subprocess.run(
        line, shell=True, input=json.dumps(event), capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


def hook(home: Path, event: str) -> str:
    (entry,) = json.loads((home / ".claude/settings.json").read_text())["hooks"][event]
    return str(entry["hooks"][0]["command"])


def test_a_prompt_reaches_memory_until_it_is_undone(
    home: Path,
    project: Project,
    served: Any,  # noqa: F811
) -> None:
    words = ["--project", project.slug, "connect", "claude-code"]
    assert main([*words, "--url", f"http://127.0.0.1:{served[0]}"]) == 0
    start, prompt = hook(home, "SessionStart"), hook(home, "UserPromptSubmit")
    beside = {"session_id": "s1", "cwd": str(home)}
    run(start, {"hook_event_name": "SessionStart", "source": "startup", **beside})
    assert Session.objects.get().key == "s1"
    asked = {"hook_event_name": "UserPromptSubmit", "prompt": "How is money kept?", "prompt_id": "p1"}
    run(prompt, {**asked, **beside})
    wait_until(Message.objects.all_versions().exists)
    assert [row.content for row in Message.objects.all_versions()] == ["How is money kept?"]
    assert ApiKey.objects.get(label="claude-code").revoked_at is None
    spool = home / ".config/day1/claude-code.json.spool/events.jsonl"
    wait_until(lambda: not spool.stat().st_size)
    assert main([*words, "--undo"]) == 0
    assert list(home.rglob("*")) == []
    assert run(prompt, {**asked, **beside}) == ""  # a program that is still open is not disturbed
    assert [file for file in home.rglob("*") if file.is_file()] == []
