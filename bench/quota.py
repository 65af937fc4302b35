"""A hostile key at its quota beside another project's writes: p95 of those alone, and beside it.

.venv/bin/python -m bench.quota [--seconds 20] [--clients 20] [--body 200] [--idempotent]

The other project writes about ten facts a second over one connection, in rounds that take turns: alone,
beside the hostile clients, alone. Those are processes of their own and never wait: neither after a refusal,
nor when the server says that they send too much.
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
from multiprocessing import Event, Process, Queue
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

from bench.server import ROOT, Client, Running, serving

PAUSE_SECONDS = 0.1
ROUNDS = 3
BOUND = 1.5
MAKE_PROJECT = """
from memory.actors import local_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import create_main
from memory.models import Project
project = Project.objects.create(name="Other", slug="other")
create_main(project)
print(KeyEngine().create_key(actor=local_actor(project.pk), label="other", scopes=["write"])[1])
"""


def manage(folder: Path, *words: str) -> str:
    """Run manage.py on the data folder; return the last line that it prints."""
    environment = {**os.environ, "DAY1_DATA_DIR": str(folder), "DAY1_NO_BOOTSTRAP": "1"}
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def hammer(url: str, key: str, body: str, idempotent: bool, start: Any, stop: Any, found: Any) -> None:
    """Write with several connections as fast as the answers come, whatever they are."""
    counted = Counter[int]()

    def work() -> None:
        client = Client(url, key)
        while not stop.is_set():
            if idempotent:
                client.headers["Idempotency-Key"] = uuid4().hex
            try:
                counted[client.raw("POST", "/facts", body.encode())[0]] += 1
            except (OSError, http.client.HTTPException):
                client = Client(url, key)

    start.wait()
    threads = [Thread(target=work) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found.put(dict(counted))


def write_calmly(url: str, key: str, seconds: float) -> list[float]:
    """Write facts with a pause after each; return the milliseconds of each."""
    client, took, until = Client(url, key), [], time.monotonic() + seconds
    while time.monotonic() < until:
        began = time.perf_counter()
        client.ask("POST", "/facts", {"fact_text": f"calm {uuid4().hex}"})
        took.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE_SECONDS)
    return took


def measure_beside(
    server: Running, keys: list[str], options: argparse.Namespace
) -> tuple[list[float], Counter]:
    """Measure the writes of the other project while the hostile clients hammer."""
    start, stop, found = Event(), Event(), Queue()
    body = json.dumps({"fact_text": "x" * options.body})
    given = (server.url, keys[1], body, options.idempotent, start, stop, found)
    crowd = [Process(target=hammer, args=given, daemon=True) for _ in range(options.clients // 10)]
    for one in crowd:
        one.start()
    start.set()
    time.sleep(1)
    took = write_calmly(server.url, keys[0], options.seconds)
    stop.set()
    answers = Counter[int]()
    for _ in crowd:
        answers.update(found.get(timeout=60))
    return took, answers


def p95(took: list[float]) -> float:
    return statistics.quantiles(took, n=20)[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--body", type=int, default=200, help="characters of a refused fact")
    parser.add_argument(
        "--idempotent", action="store_true", help="the hostile writes have an Idempotency-Key"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(folder, "off") as server:
            hostile = server.key
            own = manage(folder, "shell", "-c", MAKE_PROJECT)
            server.client().ask("POST", "/facts", {"fact_text": "full"})
            manage(folder, "quota", "default", "rows=1", "--count")
            time.sleep(2)
            write_calmly(server.url, own, 2)
            alone: list[float] = []
            beside: list[float] = []
            for _ in range(ROUNDS):
                alone += write_calmly(server.url, own, options.seconds / 2)
                took, answers = measure_beside(server, [own, hostile], options)
                beside += took
                print(f"{dict(answers)} in {options.seconds + 1:.0f} s", flush=True)
                time.sleep(1)
                alone += write_calmly(server.url, own, options.seconds / 2)
    ratio = p95(beside) / p95(alone)
    print(f"p95 alone {p95(alone):.1f} ms of {len(alone)}, beside {p95(beside):.1f} ms of {len(beside)}")
    print(f"p50 alone {statistics.median(alone):.1f} ms, beside {statistics.median(beside):.1f} ms")
    print(f"ratio {ratio:.2f}, wanted ≤ {BOUND}")
    raise SystemExit(ratio > BOUND)


if __name__ == "__main__":
    main()
