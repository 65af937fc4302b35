"""Time of a person's prompt with recall: on the server, and as the agent's program sees it; of starts too.

.venv/bin/python -m bench.prompt_recall [--facts 100000] [--decisions 10000] [--runs 100] [--stores FOLDER]

A store of so many facts gets sessions of five repositories with what persons said in them, and so many
decisions of one of these, in which the starts are. Then prompts come, each another text in a session of its
own that has started: with recall, and of one word, for which nothing is looked up (the reference). Between
two prompts the server has the time to embed what was said.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.hook_ingest import bare, hook
from bench.report import Figure, p50, p95, table, timed
from bench.server import Client, Running, serving
from bench.store_builder import Size, store

MAX_SERVER_MS, MAX_CLIENT_MS, MAX_START_MS = 60.0, 150.0, 300.0
BATCH_SIZE = 1000  # decisions that are written at once
REST = 0.2  # seconds between two prompts
REPOSITORIES, SESSIONS, PROMPTS = 5, 20, 20  # sessions of a repository, prompts of a session
PATH = "/ingest/hook?client=claude-code"
THINGS = "invoice ledger harbour sensor login export webhook cache report migration".split()
SAID = (
    "The {0} keeps its {1} in minor units, never floats, since the audit of {2}.",
    "Retries of the {0} stop after {2} attempts; the {1} is told then.",
    "Anna signs off every change of the {0} that touches the {1}, ticket {2}.",
    "The {0} runs on host h{2}, beside the {1}.",
)
ASKED = (
    "Add a field to the {0} and the {1} behind it, as in ticket {2}.",
    "Why does the {0} fail when the {1} has {2} rows?",
    "Who has to look at change {2} of the {0} before the {1} is deployed?",
)


def event(name: str, session: str, repository: int, **fields: Any) -> dict[str, Any]:
    own = {"client": "claude-code", "root": f"git.example.org/team/shop-{repository}"}
    return {"hook_event_name": name, "session_id": session, "cwd": "/srv/shop", "day1": own, **fields}


def fill(client: Client, decisions: int) -> None:
    """Write the decisions of a repository, send what persons said, and wait until it is embedded."""
    for first in range(0, decisions, BATCH_SIZE):
        where = {"repository": "git.example.org/team/shop-0", "category": "decision"}
        batch = range(first, min(first + BATCH_SIZE, decisions))
        texts = [f"{write_text(SAID, number)} ({number})" for number in batch]
        client.ask("POST", "/facts/bulk", {"facts": [{"fact_text": text, **where} for text in texts]})
    for repository in range(REPOSITORIES):
        for session in range(SESSIONS):
            key = f"said-{repository}-{session}"
            numbers = [session * PROMPTS + at for at in range(PROMPTS)]
            prompts = [write_text(SAID, number) for number in numbers]
            events = [
                event("UserPromptSubmit", key, repository, prompt=text, prompt_id=str(number))
                for number, text in zip(numbers, prompts, strict=True)
            ]
            client.ask("POST", PATH, events)
    while client.ask("GET", "/health")["embedding"]["pending"]:
        time.sleep(0.2)


def write_text(forms: tuple[str, ...], number: int) -> str:
    first, second = THINGS[number % len(THINGS)], THINGS[(number // 3 + 1) % len(THINGS)]
    return forms[number % len(forms)].format(first, second, number)


def prompt(number: int, kind: str, text: str) -> dict[str, Any]:
    key = f"{kind}-{number}"
    return event("UserPromptSubmit", key, number % REPOSITORIES, prompt=text, prompt_id=key)


def begin(client: Client, one: dict[str, Any]) -> None:
    """Start the session of a prompt, as programs do before it, and rest."""
    start = event("SessionStart", one["session_id"], 0, source="startup")
    client.ask("POST", PATH, {**start, "day1": one["day1"]})
    time.sleep(REST)


def measure_server(client: Client, runs: int) -> tuple[list[float], list[float], int]:
    """Return the milliseconds of prompts of one word and of whole ones, and how many got something."""
    plain, recalled, known = [], [], 0
    for number in range(runs):
        one = prompt(number, "one", "continue")
        begin(client, one)
        plain.append(timed(lambda one=one: client.ask("POST", PATH, one)))
        whole = prompt(number, "whole", write_text(ASKED, number))
        answers: list[Any] = []
        begin(client, whole)
        recalled.append(timed(lambda whole=whole, got=answers: got.append(client.ask("POST", PATH, whole))))
        known += bool(answers[0])
    return plain, recalled, known


def measure_client(client: Client, config: Path, runs: int) -> tuple[list[float], list[float]]:
    """Return the milliseconds of bare starts of Python and of the hook client at a prompt."""
    starts, prompts = [], []
    for number in range(runs):
        one = prompt(number, "client", write_text(ASKED, number))
        payload = json.dumps(one).encode()
        starts.append(timed(bare))
        begin(client, one)
        prompts.append(timed(lambda payload=payload: hook(config, payload)))
    return starts, prompts


def measure_starts(client: Client, runs: int) -> list[float]:
    """Return the milliseconds of starts in the repository with the decisions."""
    times = []
    for number in range(runs):
        one = event("SessionStart", f"start-{number}", 0, source="startup")
        times.append(timed(lambda one=one: client.ask("POST", PATH, one)))
        time.sleep(REST)
    return times


def measure(server: Running, folder: Path, runs: int, decisions: int) -> list[Figure]:
    client = server.client()
    fill(client, decisions)
    measure_server(client, 10)
    plain, recalled, known = measure_server(client, runs)
    begun = measure_starts(client, runs // 2)
    config = folder / "hooks.json"
    config.write_text(json.dumps({"url": server.url, "key": server.key}))
    starts, prompts = measure_client(client, config, runs // 2)
    print(f"{known} of {runs} prompts got something.")
    pairs = (("p50", p50), ("p95", p95))
    return [
        *(
            bounded(f"server, {name}", of(recalled), MAX_SERVER_MS, of(plain), "one word")
            for name, of in pairs
        ),
        *(bounded(f"start, {name}", of(begun), MAX_START_MS, of(plain), "one word") for name, of in pairs),
        *(
            bounded(f"program, {name}", of(prompts), MAX_CLIENT_MS, of(starts), "bare start")
            for name, of in pairs
        ),
    ]


def bounded(name: str, value: float, most: float, reference: float, says: str) -> Figure:
    return Figure(name, value, "ms", most, f"≤ {most:g} ms", reference, says)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--facts", type=int, default=100_000)
    options.add_argument("--decisions", type=int, default=10_000, help="of one repository")
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--stores", type=Path, help="where built stores are kept")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="day1-bench-") as name:
        folder = Path(name)
        built = store(chosen.stores or folder, Size(chosen.facts))
        shutil.copytree(built, folder / "data")
        with serving(folder / "data") as server:
            figures = measure(server, folder, chosen.runs, chosen.decisions)
    print(
        f"{chosen.facts} facts, {REPOSITORIES * SESSIONS * PROMPTS} messages, load {os.getloadavg()[0]:.1f}"
    )
    print(table(figures))
    return 0 if all(figure.kept for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
