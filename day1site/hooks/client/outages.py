"""What a program and its person are told while no server takes events: once in each session."""

import json
import os

MAX_SESSIONS = 500  # of one outage that are remembered
TAKEN = (200, 400, 413)  # a refused event is no outage
NO_MESSAGE = ("cursor", "copilot")  # they show a person nothing, and tell a model nothing at a prompt
NAMES = ("hook_event_name", "hookEventName", "event", "event_name", "hook")
SESSIONS = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId")
FAILED = "the server fails with status {}"
KEY_REFUSED = "the server refuses its key"
REASONS = {0: "the server does not answer", 401: KEY_REFUSED, 403: KEY_REFUSED}
CONTEXT = "<day1-memory>Day1: memory is off, {}. Nothing is known of earlier sessions.</day1-memory>"
MESSAGE = (
    "Day1: memory is off, {} ({}). What happens meanwhile is kept and sent later; `day1 doctor` says more."
)


def tell_outage(spool, event, server):
    """Return the output for the event's program, b"" where there is nothing to tell."""
    session = first(event.value, SESSIONS)
    if server.status in TAKEN or server.is_full or not session:
        return b""
    path, sessions = spool.path("off"), []
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            sessions = file.read().splitlines()
    if session in sessions:
        return b""
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write("\n".join([*sessions[-MAX_SESSIONS:], session]))
    return format_outage(event, REASONS.get(server.status, FAILED.format(server.status)), server.url)


def format_outage(event, reason, url):
    context = CONTEXT.format(reason)
    if event.client in NO_MESSAGE:
        return b"" if event.is_prompt else json.dumps({"additional_context": context}).encode()
    own = {"hookEventName": first(event.value, NAMES), "additionalContext": context}
    return json.dumps({"systemMessage": MESSAGE.format(reason, url), "hookSpecificOutput": own}).encode()


def first(value, names):
    """Return the first text that a value has under one of the names, as one line."""
    return next((" ".join(value[name].split()) for name in names if isinstance(value.get(name), str)), "")
