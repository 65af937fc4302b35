"""What of a session's decisions the next session in the same repository is told.

.venv/bin/python -m bench.decisions bench/data/decisions_open.json [--show]

The file is a list of sessions; each turn is a prompt with its answer, and is a decision or idle. A session is
sent as hook events and ended; then the next session of its repository starts. A decision is remembered when
all of its words stand in the start context, or in what the prompt that needs it gets. An idle turn is
mistaken for a decision when a line that was learned from it stands in the start context.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.local_engine import local, set_up

MIN_REMEMBERED, MAX_MISTAKEN = 0.85, 0.05  # shares of decisions, and of idle turns
MAX_TOKENS = 1000


def events(session: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the hook events of a session, as Claude Code sends them."""
    yield start(session, session["id"])
    for number, turn in enumerate(session["turns"]):
        prompt = f"{session['id']}-{number}"
        yield event(session, session["id"], "UserPromptSubmit", prompt=turn["user"], prompt_id=prompt)
        yield event(
            session, session["id"], "Stop", last_assistant_message=turn["assistant"], prompt_id=prompt
        )
    yield event(session, session["id"], "SessionEnd", reason="other")


def start(session: dict[str, Any], key: str) -> dict[str, Any]:
    return event(session, key, "SessionStart", source="startup")


def event(session: dict[str, Any], key: str, name: str, **fields: Any) -> dict[str, Any]:
    root = f"git@example.org:{session['repository']}.git"
    own = {"root": root, "client": "claude-code"}
    return {"hook_event_name": name, "session_id": key, "cwd": "/srv/work", "day1": own, **fields}


def ask(actor: Any, one: dict[str, Any]) -> str:
    """Send an event that is answered; return the context that comes back."""
    from conversations.capture.engine import IngestEngine

    answer = IngestEngine().ingest(events=[one], actor=actor, client="claude-code", answered=True) or {}
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def play(actor: Any, session: dict[str, Any]) -> None:
    from conversations.capture.engine import IngestEngine
    from conversations.engines.consolidation.session import SessionConsolidation
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.models import Session

    for one in events(session):
        IngestEngine().ingest(events=[one], actor=actor, client="claude-code")
    played = Session.objects.select_related("branch").get(key=session["id"])
    SessionConsolidation().consolidate_session(session=played, actor=actor)
    while EmbeddingEngine().embed_pending(actor.project_id):
        pass  # as the worker does meanwhile


def measure(actor: Any, session: dict[str, Any], show: bool) -> Counter[str]:
    """Count what the next session is told of a session."""
    from memory.ranking import count_tokens

    play(actor, session)
    told = ask(actor, start(session, f"{session['id']}-next"))
    counts: Counter[str] = Counter(sessions=1)
    counts["tokens over the limit"] += count_tokens(told) > MAX_TOKENS
    for number, turn in enumerate(session["turns"]):
        for name in judge(actor, session, turn, told, number):
            counts[name] += 1
            if show and name in ("forgotten", "mistaken"):
                print(f"{name}: {turn['user']}")
    return counts


def judge(actor: Any, session: dict[str, Any], turn: dict[str, Any], told: str, number: int) -> Iterator[str]:
    """Yield the counts that a turn adds to."""
    if turn.get("overruled"):
        return
    yield turn["kind"]
    if turn["kind"] == "idle":
        if any(is_of_turn(line, turn["user"]) for line in learned_lines(told)):
            yield "mistaken"
    elif holds(told, turn):
        yield "told at the start"
    elif holds(ask(actor, later(session, turn, number)), turn):
        yield "told with the prompt"
    else:
        yield "forgotten"


def later(session: dict[str, Any], turn: dict[str, Any], number: int) -> dict[str, Any]:
    key = f"{session['id']}-next"
    return event(session, key, "UserPromptSubmit", prompt=turn["later"], prompt_id=f"{key}-{number}")


def learned_lines(told: str) -> list[str]:
    """Return the texts of the lines of a start context that are facts."""
    lines = [line.removeprefix("- ").rpartition(" [")[0] for line in told.splitlines() if line[:2] == "- "]
    return [line for line in lines if line]


def is_of_turn(line: str, text: str) -> bool:
    """Return whether a line was learned from a turn's text; the question that it answers may stand behind."""
    said = line.partition(" (to: ")[0]
    return " ".join(said.split()) in " ".join(text.split())


def holds(told: str, turn: dict[str, Any]) -> bool:
    return all(word.lower() in told.lower() for word in turn["words"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--show", action="store_true", help="print what was forgotten or mistaken")
    parser.add_argument("--embedder", default="minilm")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder), chosen.embedder)
        actor = local()
        total: Counter[str] = Counter()
        for session in json.loads(chosen.file.read_text()):
            total += measure(actor, session, chosen.show)
    report(total)


def report(total: Counter[str]) -> None:
    remembered = total["decision"] - total["forgotten"]
    for name in ("sessions", "decision", "told at the start", "told with the prompt", "forgotten"):
        print(f"{name}: {total[name]}")
    print(f"remembered: {remembered / total['decision']:.0%} (at least {MIN_REMEMBERED:.0%})")
    print(f"idle turns mistaken: {total['mistaken']} of {total['idle']} (at most {MAX_MISTAKEN:.0%})")
    print(f"start contexts over {MAX_TOKENS} tokens: {total['tokens over the limit']}")


if __name__ == "__main__":
    main()
