"""Events as Claude Code sends them, a scenario of two sessions, and shortcuts to send and to read."""

import json
from typing import Any

from conversations.models import Message
from memory.engines.sessions.manager import SessionManager
from memory.models import Session

CONSOLIDATOR = "conversations.engines.consolidation.session.SessionConsolidation"
ROOT = "/srv/shop"
HOOK = "/ingest/hook"


def event(name: str, session: str = "s1", **fields: Any) -> dict[str, Any]:
    """Return one event of a session that works on a project."""
    return {
        "session_id": session,
        "transcript_path": "/nowhere.jsonl",
        "cwd": ROOT,
        "hook_event_name": name,
        "day1": {"client": "claude-code", "root": "github.com/acme/shop"},
        **fields,
    }


def program_event(name: str, session: str = "s1", **fields: Any) -> dict[str, Any]:
    """Return an event as a program writes it: the client adds Day1's own fields, which tell a repetition."""
    given = event(name, session, **fields)
    del given["day1"]
    return given


def bash(call: str, command: str, output: str, session: str = "s1") -> dict[str, Any]:
    done = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    return event(
        "PostToolUse",
        session,
        tool_name="Bash",
        tool_input={"command": command},
        tool_use_id=call,
        tool_response=done,
    )


def first_session(session: str = "s1") -> list[dict[str, Any]]:
    """Return the events of a session that decides something and repairs something."""
    asked = "Logins fail since the upgrade. Let's use argon2 instead of bcrypt for new passwords."
    error = "Exit code 1\ntests/test_login.py F\nE   ValueError: invalid salt"
    path = f"{ROOT}/auth/hashing.py"
    edit = {"file_path": path, "old_string": "bcrypt", "new_string": "argon2"}
    return [
        event("SessionStart", session, source="startup", model="a-model"),
        event("UserPromptSubmit", session, prompt=asked, prompt_id="p1"),
        event(
            "PostToolUseFailure",
            session,
            tool_name="Bash",
            tool_input={"command": "pytest tests/test_login.py"},
            tool_use_id="t1",
            error=error,
            is_interrupt=False,
        ),
        event(
            "PostToolUse",
            session,
            tool_name="Edit",
            tool_input=edit,
            tool_use_id="t2",
            tool_response={"filePath": path, "success": True},
        ),
        bash("t3", "pytest tests/test_login.py", "2 passed in 0.31s", session),
        event("Stop", session, last_assistant_message="Logins work again; the tests pass.", prompt_id="p1"),
        event("SessionEnd", session, reason="prompt_input_exit"),
    ]


DECISION = "Let's use argon2 instead of bcrypt for new passwords."
REPAIR = (
    "pytest tests/test_login.py failed: E   ValueError: invalid salt. "
    f"It worked after: in {ROOT}/auth/hashing.py: “bcrypt” became “argon2”."
)


def send(api, *events, client="claude-code"):
    """Send one event, or several as an array; return the response's text."""
    body = events[0] if len(events) == 1 else list(events)
    answer = api.post(f"{HOOK}?client={client}", body)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def told(answer: str) -> str:
    return json.loads(answer)["hookSpecificOutput"]["additionalContext"]


def messages(**fields):
    rows = Message.objects.all_versions().filter(**fields).order_by("uid")
    return [(row.sequence_num, row.role, row.content) for row in rows]


def learn(key="s1") -> int:
    return SessionManager().consolidate_session(Session.objects.get(key=key).pk)
