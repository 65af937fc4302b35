"""What of the decisions of a repository's sessions the next one is told, and what of it holds no more.

.venv/bin/python -m bench.decisions bench/data/decisions_open.json bench/data/held_open.json [--show]

A file is a list of sessions; each turn is a prompt with its answer, and is a decision, idle, or a withdrawal.
The sessions of a repository are sent as hook events and ended, one after the other, each by the person that
it names; then the next one starts. A decision is remembered when all of its words stand in the start context,
or in what the prompt that needs it gets. One that was overruled is asserted when either has a line that was
learned from it, or that has all its words of ``gone``, as if it held. An idle turn is mistaken for a decision
when a line that was learned from it stands in the start context.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.local_engine import local, set_up
from memory.texts import WAS

MIN_REMEMBERED, MAX_MISTAKEN = 0.9, 0.02  # shares of decisions, and of idle turns
MAX_ASSERTED = 0  # decisions that hold no more and are told as if they did
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
    from conversations.engines.consolidation.engine import ConsolidationEngine
    from conversations.engines.consolidation.session import SessionConsolidation
    from conversations.models import ConsolidationRun
    from memory.engines.embedding.engine import EmbeddingEngine
    from memory.engines.sessions.learning import system_actor
    from memory.models import Session

    speaker = replace(actor, kind="key", label=session.get("who", "bench"), id=session.get("who", "bench"))
    for one in events(session):
        IngestEngine().ingest(events=[one], actor=speaker, client="claude-code")
    played = Session.objects.select_related("branch").get(key=session["id"])
    SessionConsolidation().consolidate_session(session=played, actor=system_actor(played))
    while EmbeddingEngine().embed_pending(actor.project_id):
        pass  # as the worker does meanwhile
    for run_id in list(ConsolidationRun.objects.filter(state="queued").values_list("pk", flat=True)):
        ConsolidationEngine().carry_out_queued(run_id=run_id)  # where DAY1_JUDGE_MODEL names a model


def measure(actor: Any, sessions: Sequence[dict[str, Any]], show: bool) -> Counter[str]:
    """Count what the next session is told of those of a repository."""
    from memory.ranking import count_tokens

    for session in sessions:
        play(actor, session)
    last = sessions[-1]
    told = ask(actor, start(last, f"{last['id']}-next"))
    counts: Counter[str] = Counter(sessions=len(sessions))
    counts["tokens over the limit"] += count_tokens(told) > MAX_TOKENS
    turns = (turn for session in sessions for turn in session["turns"])
    for number, turn in enumerate(turns):
        for name in judge(actor, last, turn, told, number):
            counts[name] += 1
            if show and name in ("forgotten", "mistaken", "asserted"):
                print(f"{name}: {turn['user']}")
    return counts


def judge(actor: Any, session: dict[str, Any], turn: dict[str, Any], told: str, number: int) -> Iterator[str]:
    """Yield the counts that a turn adds to."""
    if turn.get("overruled"):
        yield "overruled"
        answer = ask(actor, later(session, turn, number))
        if any(asserts(line, turn) for line in learned_lines(f"{told}\n{answer}")):
            yield "asserted"
        return
    yield turn["kind"]
    if turn["kind"] == "idle":
        if any(is_of_turn(line, turn["user"]) for line in learned_lines(told)):
            yield "mistaken"
    elif turn["kind"] == "decision":
        yield find_place(actor, session, turn, told, number)


def find_place(actor: Any, session: dict[str, Any], turn: dict[str, Any], told: str, number: int) -> str:
    """Return where a decision is told."""
    if holds(told, turn):
        return "told at the start"
    is_told = holds(ask(actor, later(session, turn, number)), turn)
    return "told with the prompt" if is_told else "forgotten"


def later(session: dict[str, Any], turn: dict[str, Any], number: int) -> dict[str, Any]:
    key = f"{session['id']}-next"
    return event(session, key, "UserPromptSubmit", prompt=turn["later"], prompt_id=f"{key}-{number}")


def learned_lines(told: str) -> list[str]:
    """Return the texts of the lines of a start context that are facts."""
    from memory.engines.sessions.lines import split_line

    return [text for line in told.splitlines() if (text := split_line(line)[0])]


def is_of_turn(line: str, text: str) -> bool:
    """Return whether a line was learned from a turn's text; the question that it answers may stand behind."""
    said = line.partition(" (to: ")[0]
    return " ".join(said.split()) in " ".join(text.split())


def asserts(line: str, turn: dict[str, Any]) -> bool:
    """Return whether a line tells what was overruled as if it held."""
    if line.startswith(WAS):
        return False
    gone = [word.lower() for word in turn.get("gone", ())]
    return is_of_turn(line, turn["user"]) or (bool(gone) and all(word in line.lower() for word in gone))


def holds(told: str, turn: dict[str, Any]) -> bool:
    return all(word.lower() in told.lower() for word in turn["words"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true", help="print what was forgotten, asserted or mistaken")
    parser.add_argument("--embedder", default="minilm")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder), chosen.embedder)
        for file in chosen.files:
            print(f"--- {file.name}")
            report(measure_file(file, chosen.show))


def measure_file(file: Path, show: bool) -> Counter[str]:
    """Count what is told of the sessions of a file, in a project of their own."""
    actor, total = local(file.stem.replace("_", "-")), Counter[str]()
    for _, sessions in groupby(json.loads(file.read_text()), lambda one: one["repository"]):
        total += measure(actor, list(sessions), show)
    return total


def report(total: Counter[str]) -> None:
    remembered = total["decision"] - total["forgotten"]
    for name in ("sessions", "decision", "told at the start", "told with the prompt", "forgotten"):
        print(f"{name}: {total[name]}")
    mistaken, idle = total["mistaken"], total["idle"]
    print(f"remembered: {remembered / total['decision']:.0%} (at least {MIN_REMEMBERED:.0%})")
    print(f"overruled but asserted: {total['asserted']} of {total['overruled']} (at most {MAX_ASSERTED})")
    print(f"idle turns mistaken: {mistaken} of {idle}, {mistaken / idle:.1%} (at most {MAX_MISTAKEN:.0%})")
    print(f"start contexts over {MAX_TOKENS} tokens: {total['tokens over the limit']}")


if __name__ == "__main__":
    main()
