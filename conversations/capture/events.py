"""Parsing of hook events: each program's own spelling is read into one form.

Nothing is refused: unknown fields are ignored, values of another type are read as text.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from conversations.capture import text_cleaning
from conversations.capture.record_forms import name_kind
from conversations.capture.text_cleaning import parse_json
from memory.engines.sessions.tool_calls import as_text
from memory.engines.support.validation import without_secrets
from memory.redaction import limit_depth

# Event names in lower case without hyphens and underscores, and the event of each.
EVENT_NAMES = {
    "sessionstart": "SessionStart",
    "subagentstart": "SubagentStart",
    "userpromptsubmit": "UserPromptSubmit",
    "userpromptsubmitted": "UserPromptSubmit",
    "userprompt": "UserPromptSubmit",
    "beforesubmitprompt": "UserPromptSubmit",
    "beforeagent": "UserPromptSubmit",
    "posttooluse": "PostToolUse",
    "aftertool": "PostToolUse",
    "posttoolusefailure": "PostToolUseFailure",
    "stop": "Stop",
    "assistantresponse": "Stop",
    "afteragentresponse": "Stop",
    "afteragent": "Stop",
    "subagentstop": "SubagentStop",
    "stopfailure": "StopFailure",
    "precompact": "PreCompact",
    "precompress": "PreCompact",
    "postcompact": "PostCompact",
    "sessionend": "SessionEnd",
    "day1test": "Test",  # of `day1 doctor`: nobody's words
    "day1transcript": "Transcript",  # of the hook client: what a program wrote of a session
}
STARTS = ("SessionStart", "SubagentStart")
FIELD_NAMES = {  # field -> its names in the programs' events; the first present one counts
    "name": ("hook_event_name", "hookEventName", "event", "event_name", "hook"),
    "session": ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId"),
    "agent": ("agent_id", "agentId", "subagent_id", "subagentId"),
    "agent_type": ("agent_type", "agentType", "subagent_type"),
    "call": ("tool_use_id", "toolUseId", "tool_call_id", "toolCallId", "call_id", "callId"),
    "prompt_id": ("prompt_id", "promptId", "turn_id", "turnId", "generation_id", "generationId"),
    "tool": ("tool_name", "toolName", "tool"),
    "model": ("model",),
    "source": ("source",),
    "prompt": ("prompt", "user_prompt", "userPrompt"),
    "answer": (
        "last_assistant_message",
        "lastAssistantMessage",
        "prompt_response",
        "promptResponse",
        "response",
        "text",
        "message",
        "assistant_message",
    ),
    "error": ("error", "error_message", "errorMessage"),
    "details": ("error_details", "errorDetails"),
    "summary": ("compact_summary", "compactSummary", "summary"),
    "cwd": ("cwd", "workspace_root"),
    "root": ("project_root", "projectRoot"),
}
INPUT_NAMES = ("tool_input", "toolInput", "toolArgs", "tool_args", "input", "arguments")
OUTPUT_NAMES = (
    "tool_response",
    "toolResponse",
    "tool_output",
    "toolOutput",
    "tool_result",
    "toolResult",
    "result_json",
    "output",
    "result",
)
CLAUDE_CODE = "claude-code"
MAX_ID_LENGTH = 200
MAX_DURATION_MS = 2**31
CLEAN = partial(without_secrets, "event")
OWN_FIELDS = "day1"  # key of the fields that Day1's own client adds: client, root, at, nonce


@dataclass(frozen=True)
class HookEvent:
    """Hook event. Ids have at most 200 characters; ``input`` and ``output`` are as the program sent them."""

    name: str
    spelled: str
    client: str
    session: str
    agent: str = ""
    agent_type: str = ""
    call: str = ""
    prompt_id: str = ""
    tool: str = ""
    model: str = ""
    source: str = ""
    prompt: str = ""
    answer: str = ""
    error: str = ""
    details: str = ""
    summary: str = ""
    cwd: str = ""
    root: str = ""
    nonce: str = ""
    interrupted: bool = False
    input: Any = None
    output: Any = None
    said_at: datetime | None = None
    duration_ms: int | None = None
    transcript: list[Any] = field(default_factory=list)
    records: list[Any] = field(default_factory=list)

    def key(self, project_id: Any) -> str:
        """Return a key that is equal for repetitions of an event; "" where events cannot be told apart."""
        own = self.call or self.prompt_id or self.nonce
        if not own or self.name in (*STARTS, "Transcript"):
            return ""
        # One prompt may end in several answers: the texts are part of the key.
        content = "" if self.call else self.prompt + self.answer + self.error + self.summary
        digest = hashlib.sha256(content.encode()).hexdigest()
        parts = (str(project_id), self.client, self.session, self.agent, self.name, own, digest)
        return hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).hexdigest()


def read_event(raw: Any, client: str = "") -> HookEvent | None:
    """Parse an event; return None for an unknown one, or one without a session."""
    if not isinstance(raw, Mapping):
        return None
    raw = limit_depth(raw)
    added: Mapping[str, Any] = raw[OWN_FIELDS] if isinstance(raw.get(OWN_FIELDS), Mapping) else {}
    values = {name: as_text(_get_first(raw, words)) for name, words in FIELD_NAMES.items()}
    spelled = values.pop("name")
    name = EVENT_NAMES.get(_normalise_name(spelled))
    stated = as_text(added.get("client")) or client
    if name is None or not values["session"].strip() or _is_compaction(name, raw, stated):
        return None
    for short in ("session", "agent", "agent_type", "call", "prompt_id", "tool", "model", "source"):
        values[short] = values[short].strip()[:MAX_ID_LENGTH]
    for shown in ("agent_type", "tool", "model"):
        values[shown] = clean_text(values[shown])
    values["root"] = as_text(added.get("root")) or values["root"] or _get_workspace(raw)
    return HookEvent(
        name=name,
        spelled=spelled,
        client=_get_client(raw, stated),
        nonce=as_text(added.get("nonce"))[:MAX_ID_LENGTH],
        interrupted=raw.get("is_interrupt") is True,
        input=parse_json(_get_first(raw, INPUT_NAMES)),
        output=parse_json(_get_first(raw, OUTPUT_NAMES)),
        said_at=_parse_timestamp(added.get("at")),
        duration_ms=_parse_duration(raw.get("duration_ms")),
        transcript=_as_list(raw.get("transcript")),
        records=_as_list(raw.get("records")),
        **values,
    )


def find_event_fault(raw: Any) -> str:
    """Return why an event says nothing, though it is none that is left out by its name; "" where it does."""
    if not isinstance(raw, Mapping):
        return f"is {name_kind(raw)}, not an event"
    spelled = _get_first(raw, FIELD_NAMES["name"])
    if not isinstance(spelled, str):
        return "has no name of an event"
    is_known = _normalise_name(spelled) in EVENT_NAMES
    has_session = bool(as_text(_get_first(raw, FIELD_NAMES["session"])).strip())
    return "has no session" if is_known and not has_session else ""


def _normalise_name(spelled: str) -> str:
    return spelled.casefold().replace("_", "").replace("-", "")


def clean_text(value: Any) -> Any:
    """Return a JSON value without private parts and secrets, which are counted for the response."""
    return value and text_cleaning.clean(value, CLEAN)


def clean_id(value: Any) -> str:
    """Return the id of a call or a prompt as it is stored, and compared; "" where it is none."""
    cleaned: str = clean_text(text_cleaning.read_id(value).strip()[:MAX_ID_LENGTH])
    return cleaned[:MAX_ID_LENGTH]


def _get_first(raw: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((raw[name] for name in names if raw.get(name) not in (None, "")), None)


def _get_client(raw: Mapping[str, Any], stated: str) -> str:
    """Return the program's name; Cursor, which also runs other programs' hooks, identifies itself."""
    if "cursor_version" in raw:
        return "cursor"
    return stated.strip()[:50] or "agent"


def _get_workspace(raw: Mapping[str, Any]) -> str:
    roots = raw.get("workspace_roots")
    return as_text(roots[0]) if isinstance(roots, list) and roots else ""


def _is_compaction(name: str, raw: Mapping[str, Any], client: str) -> bool:
    """Return whether it is the end of the agent with which Claude Code compacts, whose type is empty.

    Nobody started it, and its answer is the summary, which PostCompact brings.
    """
    return name == "SubagentStop" and client == CLAUDE_CODE and raw.get("agent_type") == ""


def _parse_timestamp(value: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(float(value), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _parse_duration(value: Any) -> int | None:
    """Return whole milliseconds; None for what is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return round(value) if is_number and 0 <= value < MAX_DURATION_MS else None


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
