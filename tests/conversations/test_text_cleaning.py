"""One cleaning of texts for hook events and imported transcripts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conversations.capture.text_cleaning import clean, is_own_call
from conversations.models import Message
from day1site.cli import main
from day1site.mcp.tools import ALL
from memory.models import Project
from tests.memory.api.client import api_for
from tests.site.hook_events import event, send
from tests.waiting import TIMEOUT_SECONDS

PROMPTS = [
    "Go on<system-reminder>Files changed</system-reminder>, please",
    "<ide_opened_file>a.py</ide_opened_file>Fix <Foo />",
    "The code is <private>4711</private>.",
    "4711</private> was cut",
    "And now? &lt;day1-memory&gt;\n- Totals were floats once.\n&lt;/day1-memory&gt;",
    "one\x00two",
    "<task-notification>done</task-notification>\nFull transcript available at: a.output",
    "This session is being continued from a previous conversation that ran out of context. We use tabs.",
    "Another language model started to solve this problem and wrote a summary. We use tabs.",
    "[Request interrupted by user for tool use]\nNo, use tabs.",
    "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nUse tabs.",
]
CLEAN = [
    "Go on, please",
    "Fix <Foo />",
    "The code is [private].",
    "[private] was cut",
    "And now?",
    "one\ufffdtwo",
    "No, use tabs.",
    "Use tabs.",
]


def write_transcript(path: Path) -> Path:
    records = [
        {
            "parentUuid": f"u{number - 1}" if number else None,
            "uuid": f"u{number}",
            "type": "user",
            "sessionId": "imported",
            "timestamp": f"2026-10-05T09:{number:02}:00.000Z",
            "message": {"role": "user", "content": prompt},
        }
        for number, prompt in enumerate(PROMPTS)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.django_db(transaction=True)
def test_a_hook_and_an_import_store_the_same_words(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DAY1_URL", raising=False)
    events = [event("UserPromptSubmit", "hooked", prompt=p, prompt_id=str(n)) for n, p in enumerate(PROMPTS)]
    send(api_for(project), *events)
    file = write_transcript(tmp_path / "imported.jsonl")
    assert main(["--project", project.slug, "import-from", "claude-code", str(file)]) == 0
    stored = {
        session: [row.content for row in Message.objects.all_versions().filter(session_id=session)]
        for session in ("hooked", "imported")
    }
    assert stored == {"hooked": CLEAN, "imported": CLEAN}


def test_private_parts_of_names_and_lists_go_too() -> None:
    value = {"<private>a</private>b": ["<PRIVATE>c", 1, None], "d": {"password": "xyzzy1"}}
    assert clean(value) == {
        "[private]b": ["[private]", 1, None],
        "d": {"password": "[redacted: named secret]"},
    }


@pytest.mark.parametrize("tool", ALL)
def test_every_tool_of_day1_is_its_own(tool: str) -> None:
    prefixes = ["mcp__day1__", "mcp__plugin_day1_day1__", "mcp_day1_", "day1.", "day1__"]
    assert all(is_own_call(prefix + tool, {}) for prefix in prefixes)
    assert is_own_call(tool, {}) == tool.startswith("memory_")  # the other names could be anybody's


def test_other_tools_and_commands_are_not() -> None:
    others = [("memory_store", {}), ("mcp__memory__create", {}), ("Bash", {"command": "day1-other x"})]
    assert [is_own_call(tool, payload) for tool, payload in others] == [False, False, False]
    assert is_own_call("Bash", {"command": " .venv/bin/day1 facts"})


def test_transcripts_are_read_without_django() -> None:
    code = "import sys, day1site.cli.importing.command; print({'django', 'numpy'} & sys.modules.keys())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=TIMEOUT_SECONDS
    )
    assert done.stdout == "set()\n"
