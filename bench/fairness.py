"""One project's flood beside another's requests: p95 of these alone, and beside it.

.venv/bin/python -m bench.fairness [--seconds 10] [--clients 20] [--processes 1 4] [--rounds 3]

Project B sends about ten requests a second over one connection: a write, a search, a list, in turns. The
clients of project A are processes of their own, which send the same as fast as the answers come. Rounds take
turns: alone, beside, alone; the ratio is of one run, so other work on the machine is in both.
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from multiprocessing import Event, Process, Queue
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

from bench.server import ROOT, Client, Running, serving

PAUSE_SECONDS = 0.1
BOUND = 1.5
WORDS = "deploy release branch memory agent search index vector commit merge session key".split()


def manage(folder: Path, *words: str) -> str:
    """Run manage.py on the data folder; return what it prints."""
    environment = {**os.environ, "DAY1_DATA_DIR": str(folder), "DAY1_NO_BOOTSTRAP": "1"}
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def make_request(number: int) -> tuple[str, str, Any]:
    """Return the next request of a client: method, path and body."""
    word, other = WORDS[number % 12], WORDS[number * 5 % 12]
    match number % 3:
        case 0:
            return "POST", "/facts", {"fact_text": f"The {word} of {other} is {uuid4().hex}."}
        case 1:
            return "GET", f"/facts/search?query={word}%20{other}", None
    return "GET", "/facts?limit=20", None


def flood(url: str, key: str, clients: int, start: Any, stop: Any, answers: Any) -> None:
    """Send requests over several connections as fast as the answers come."""
    counted = Counter[int]()

    def work(first: int) -> None:
        client = Client(url, key)
        for number in count(first):
            if stop.is_set():
                return
            method, path, body = make_request(number)
            try:
                packed = json.dumps(body).encode() if body else None
                counted[client.raw(method, path, packed)[0]] += 1
            except (OSError, http.client.HTTPException):
                client = Client(url, key)

    start.wait()
    threads = [Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answers.put(dict(counted))


def ask_calmly(url: str, key: str, seconds: float) -> list[float]:
    """Send a request after a pause each; return the milliseconds of each."""
    client, took, until = Client(url, key), [], time.monotonic() + seconds
    for number in count():
        if time.monotonic() > until:
            return took
        began = time.perf_counter()
        client.ask(*make_request(number))
        took.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE_SECONDS)
    raise AssertionError("it counts on")


def ask_beside(server: Running, own: str, options: argparse.Namespace) -> tuple[list[float], Counter]:
    """Measure the requests of B while A floods."""
    start, stop, answers = Event(), Event(), Queue()
    crowd = [
        Process(target=flood, args=(server.url, server.key, options.clients // 2, start, stop, answers))
        for _ in range(2)
    ]
    for one in crowd:
        one.start()
    start.set()
    time.sleep(1)
    took = ask_calmly(server.url, own, options.seconds)
    stop.set()
    counted = Counter[int]()
    for _ in crowd:
        counted.update(answers.get(timeout=120))
    for one in crowd:
        one.join()
    return took, counted


def p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


def measure(processes: int, options: argparse.Namespace) -> float:
    """Return the ratio of p95 with a number of processes."""
    os.environ["DAY1_PROCESSES"] = str(processes)
    alone: list[float] = []
    beside: list[float] = []
    answered = Counter[int]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(folder, "off") as server:
            own = manage(folder, "day1", "project", "create", "other", "--key-scope", "write").split()[-1]
            for client, key in ((server.client(), server.key), (Client(server.url, own), own)):
                texts = [{"fact_text": make_request(3 * n)[2]["fact_text"]} for n in range(300)]
                client.ask("POST", "/facts/bulk", {"facts": texts})
                ask_calmly(server.url, key, 1)
            for _ in range(options.rounds):
                alone += ask_calmly(server.url, own, options.seconds / 2)
                took, counted = ask_beside(server, own, options)
                beside, answered = beside + took, answered + counted
                time.sleep(1)
                alone += ask_calmly(server.url, own, options.seconds / 2)
    ratio = p95(beside) / p95(alone)
    rate = sum(answered.values()) / options.rounds / (options.seconds + 1)
    print(
        f"{processes} processes: p50 {statistics.median(alone):.0f} → {statistics.median(beside):.0f} ms,"
        f" p95 {p95(alone):.0f} → {p95(beside):.0f} ms, ratio {ratio:.2f}; A: {rate:.0f} requests/s"
        f" {dict(answered)}",
        flush=True,
    )
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 4])
    options = parser.parse_args()
    ratios = [measure(number, options) for number in options.processes]
    raise SystemExit(max(ratios) > BOUND)


if __name__ == "__main__":
    main()
