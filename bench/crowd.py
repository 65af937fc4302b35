"""What an agent is told where a repository has many decisions: at a session's start, and with its prompts.

.venv/bin/python -m bench.crowd [--data bench/data/crowd_languages.json] [--half each] [--show]

crowd.json has 75 decisions of 15 sessions in one repository, four of which later ones replace, and 60 later
prompts: 30 need one of the decisions, 30 need none. The sessions are sent as hook events and ended. Then a
session starts, and each prompt comes in two sessions of its own: one that was told something at its start,
and one that was not, where all that it needs has to come with the prompt. Of ``each`` half are 71 further
prompts, one for each decision that holds.
"""

import argparse
import json
import re
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.decisions import ask, event, holds, play, start
from bench.local_engine import local, set_up

DATA = Path(__file__).with_name("data") / "crowd.json"
MAX_LINES, MAX_TOKENS = 5, 1000
MIN_STANDING, MIN_NEEDED, MAX_UNRELATED, MAX_BRACKETS = 0.8, 0.9, 0.05, 0.15
HALVES = {"both": ("open", "sealed")}
BRACKETS = re.compile(r"\[[^\]]*\]")


def prompt(session: Mapping[str, Any], key: str, text: str) -> dict[str, Any]:
    return event(dict(session), key, "UserPromptSubmit", prompt=text, prompt_id=f"{key}-1")


def list_lines(told: str) -> list[str]:
    return [line for line in told.splitlines() if line.startswith("- ")]


def judge_start(told: str, turns: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the counts of a start context."""
    from memory.ranking import count_tokens

    for turn in turns:
        if turn["kind"] == "decision" and not turn.get("overruled"):
            yield "standing"
            yield "standing and told" if holds(told, turn) else "standing and missing"
        elif turn["kind"] == "idle" and any(line[2:].startswith(turn["user"]) for line in list_lines(told)):
            yield "idle and told"
    if count_tokens(told) > MAX_TOKENS:
        yield "over the limit"


def judge_prompt(one: Mapping[str, Any], kind: str, told: str, before: str) -> Iterator[str]:
    """Yield the counts of a prompt's answer; ``before`` is what the session was told at its start."""
    lines = list_lines(told)
    if len(lines) > MAX_LINES:
        yield f"{kind}: too many lines"
    if not one["words"]:
        yield f"{kind}: unrelated"
        if lines:
            yield f"{kind}: unrelated with a line"
    else:
        yield f"{kind}: needed"
        yield f"{kind}: lines with needed ones" if lines else f"{kind}: needed without a line"
        if any(holds(line, dict(one)) for line in [*lines[:MAX_LINES], before]):
            yield f"{kind}: needed and told"


def share_of_brackets(texts: list[str]) -> float:
    whole = sum(map(len, texts))
    return sum(len(found) for text in texts for found in BRACKETS.findall(text)) / whole if whole else 0.0


def measure(data: Mapping[str, Any], half: str, show: bool) -> tuple[Counter[str], list[str], list[float]]:
    actor, sessions, total = local(), data["sessions"], Counter[str]()
    for session in sessions:
        play(actor, session)
    where, answers, times = sessions[-1], list[str](), list[float]()
    told = ask(actor, start(where, "next"))
    total.update(judge_start(told, [turn for session in sessions for turn in session["turns"]]))
    if show:
        print(told, *missing(told, sessions), sep="\n")
    for number, one in enumerate(data["prompts"]):
        if one["half"] not in HALVES.get(half, (half,)):
            continue
        for kind in ("without a start", "with a start"):
            key = f"{kind}-{number}"
            before = ask(actor, start(where, key)) if kind == "with a start" else ""
            began = time.perf_counter()
            answer = ask(actor, prompt(where, key, one["prompt"]))
            times.append((time.perf_counter() - began) * 1000)
            answers += [answer] if answer else []
            total.update(judge_prompt(one, kind, answer, before))
            if show and kind == "without a start":
                is_right = (
                    any(holds(line, one) for line in list_lines(answer)) if one["words"] else not answer
                )
                print(f"\n{'ok' if is_right else 'WRONG'}: {one['prompt']} {one['words']}", answer, sep="\n")
    return total, [told, *answers], times


def missing(told: str, sessions: list[dict[str, Any]]) -> list[str]:
    turns = [turn for session in sessions for turn in session["turns"] if turn["kind"] == "decision"]
    return [f"missing: {turn['user']}" for turn in turns if not holds(told, turn)]


def report(total: Counter[str], texts: list[str], times: list[float]) -> None:
    def share(part: str, whole: str) -> str:
        return f"{part}: {total[part]} of {total[whole]}, {total[part] / max(1, total[whole]):.0%}"

    print(share("standing and told", "standing"), f"(at least {MIN_STANDING:.0%})")
    print(f"idle and told: {total['idle and told']}, starts over the limit: {total['over the limit']}")
    for kind in ("without a start", "with a start"):
        print(share(f"{kind}: needed and told", f"{kind}: needed"), f"(at least {MIN_NEEDED:.0%})")
        print(share(f"{kind}: unrelated with a line", f"{kind}: unrelated"), f"(at most {MAX_UNRELATED:.0%})")
        print(f"{kind}: answers of more than {MAX_LINES} lines: {total[f'{kind}: too many lines']}")
    print(f"in brackets: {share_of_brackets(texts[:1]):.0%} of the start, ", end="")
    print(f"{share_of_brackets(texts[1:]):.0%} of the answers (at most {MAX_BRACKETS:.0%})")
    print(f"a prompt with what it brings: p50 {statistics.median(times):.0f} ms, most {max(times):.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("both", "open", "sealed", "each"), default="both")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", action="store_true", help="print what is told")
    parser.add_argument("--embedder", default="minilm")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        set_up(Path(folder), chosen.embedder)
        report(*measure(json.loads(chosen.data.read_text()), chosen.half, chosen.show))


if __name__ == "__main__":
    main()
