"""What a program and its person are told while no server takes events: once in each session; and the end of
a wait for one.
"""

import json
import os
import signal

MAX_SESSIONS = 500  # of one outage that are remembered
MAX_OPEN = 64  # files that this process may have open
TAKEN = (200, 400, 413)  # a refused event is no outage
NO_MESSAGE = ("cursor", "copilot")  # they show a person nothing, and tell a model nothing at a prompt
SESSIONS = ("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId")
FAILED = "the server fails with status {}"
KEY_REFUSED = "the server refuses its key"
LATE = "the server did not answer in time"  # it may only be busy
REASONS = {0: "the server does not answer", 401: KEY_REFUSED, 403: KEY_REFUSED}
CONTEXT = "<day1-memory>Day1: memory is off, {}. {}</day1-memory>"
AT_START, AT_PROMPT = "Nothing is known of earlier sessions.", "Nothing is looked up for this prompt."
MESSAGE = (
    "Day1: memory is off, {} ({}). What happens meanwhile is kept and sent later; `day1 doctor` says more."
)
UNKEPT = "the server does not answer, and nothing can be kept for it: {}"
LOST = "Day1: memory is off, {} ({}). What happens meanwhile is lost; `day1 doctor` says more."


def give_up_after(seconds, spool, event, server):
    """End this process when so many seconds have passed, where the system can do that."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, lambda *_: give_up(spool, event, server))
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def stop_clock():
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def give_up(spool, event, server):
    """End without an answer; the next prompts and starts do not wait. What waits is sent behind it."""
    try:
        spool.set_silent()
        if not server.has_answered:  # else it is only busy with what waited
            tell_outage(spool, event, server)
        if hasattr(os, "fork"):
            os.closerange(3, MAX_OPEN)  # the locks of what was interrupted
        spool.send_later()
    finally:
        os._exit(0)


def tell_outage(spool, event, server):
    """Print that memory is off, unless the session was told so, or an event was taken."""
    session = find_session(event.value)
    if server.status in TAKEN or server.is_full or not session:
        return
    reason = find_reason(server)
    # A busy server takes events behind the answers, which ends each outage: of that a session hears once.
    if reason == LATE and is_noted(spool.path("late"), session):
        return
    if not is_noted(spool.path("off"), session):
        os.write(1, format_outage(event, reason, server.url))


def is_noted(path, session):
    """Return whether a file has the session already; add it where it has not."""
    sessions = []
    if os.path.exists(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            sessions = file.read().splitlines()
    if session in sessions:
        return True
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write("\n".join([*sessions[-MAX_SESSIONS:], session]))
    return False


def find_reason(server):
    if not server.status and not server.is_broken:
        return LATE
    return REASONS.get(server.status, FAILED.format(server.status))


def send_at_once(spool, event, sending, error):
    """Send an event that the spool does not take, and print the response, or that the event is lost."""
    body = sending.ask(event.line)
    if not (event.answered or event.is_prompt):
        return
    if not body and sending.server.status not in TAKEN:
        body = format_outage(event, UNKEPT.format(error.strerror), spool.folder, LOST)
    os.write(1, body or b"")


def format_outage(event, reason, place, message=MESSAGE):
    context = CONTEXT.format(reason, AT_PROMPT if event.is_prompt else AT_START)
    if event.client in NO_MESSAGE:
        return b"" if event.is_prompt else json.dumps({"additional_context": context}).encode()
    own = {"hookEventName": join_words(event.name), "additionalContext": context}
    return json.dumps({"systemMessage": message.format(reason, place), "hookSpecificOutput": own}).encode()


def find_session(value):
    """Return the session that an event names, as one line; "" where it names none."""
    return next((join_words(value[name]) for name in SESSIONS if isinstance(value.get(name), str)), "")


def join_words(text):
    return " ".join(text.split())
