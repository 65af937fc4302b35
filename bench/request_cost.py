"""Processor time of the six requests that agents make most, over REST in this process.

.venv/bin/python -m bench.request_cost [--runs 40]

What follows an answer is counted, but for the embedding of what was written: that is the worker's.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import local_engine

FACTS = 400
TOPICS = "deploys backups logins invoices search caches queues tokens themes mails".split()
DETAILS = ("run on Friday", "need two people", "stay for a month", "are written in Rust", "fail at night")
HOOK = "/ingest/hook?client=claude-code"


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time of six requests.")
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        local_engine.set_up(Path(folder), "minilm")
        requests = Requests()
        requests.fill()
        times = requests.measure(options.runs)
    for name, found in times.items():
        print(f"{name:8} {statistics.median(found):7.2f} ms")
    print(f"in all   {sum(map(statistics.median, times.values())):7.2f} ms")


class Requests:
    """A client of a small store, and the requests that it sends: each another text."""

    def __init__(self) -> None:
        from django.conf import settings
        from django.test import Client

        from memory.engines.access.keys import KeyEngine

        settings.ALLOWED_HOSTS = ["*"]
        local_engine.freeze_gc()
        self.actor, self.client, self.number = local_engine.local(), Client(), 0
        rights = {"label": "bench", "scopes": ["admin"], "rate_per_minute": 1_000_000}
        _, token = KeyEngine().create_key(actor=self.actor, **rights)
        self.headers = {"Authorization": f"Bearer {token}"}
        self.open: list[int] = []  # merge requests

    def send(self, method: str, path: str, body: Any = None) -> Any:
        data, kind = (b"", "") if body is None else (json.dumps(body).encode(), "application/json")
        answer = self.client.generic(method, f"/api/v1{path}", data, content_type=kind, headers=self.headers)
        assert answer.status_code < 300, answer.content
        return json.loads(answer.content) if answer.content else None

    def fill(self) -> None:
        from memory.engines.embedding.engine import EmbeddingEngine

        texts = (f"{TOPICS[i % 10]} of team {i // 50} {DETAILS[i // 10 % 5]}, {i}." for i in range(FACTS))
        self.send("POST", "/facts/bulk", {"facts": [{"fact_text": text} for text in texts]})
        while EmbeddingEngine().embed_pending(self.actor.project_id):
            pass
        self.start("long")

    def measure(self, runs: int) -> dict[str, list[float]]:
        """Return the milliseconds of each request, with its share of what is written behind answers."""
        for _ in range(runs + 1):
            self.open_request()
        kinds = (self.search, self.prompt, self.start, self.tool, self.write, self.merge)
        return {kind.__name__: self.time_all(kind, runs) for kind in kinds}

    def time_all(self, request: Callable[[], None], runs: int) -> list[float]:
        from memory.engines.support.write_buffer import buffer

        request()
        found = []
        for _ in range(runs):
            started = time.process_time()
            request()
            found.append((time.process_time() - started) * 1000)
        started = time.process_time()
        buffer.flush()
        behind = (time.process_time() - started) * 1000 / runs
        return [one + behind for one in found]

    # ---- the six ---------------------------------------------------------------------------------

    def count(self) -> tuple[int, str, str]:
        self.number += 1
        return self.number, TOPICS[self.number % 10], TOPICS[self.number // 10 % 10]

    def search(self) -> None:
        number, one, other = self.count()
        self.send("GET", f"/facts/search?q=who+has+{one}+of+{other}+number+{number}")

    def write(self) -> None:
        number, topic, _ = self.count()
        self.send("POST", "/facts", {"fact_text": f"Statement {number} waits for {topic}."})

    def hook(self, name: str, session: str, **fields: Any) -> None:
        where = {"client": "claude-code", "root": "github.com/acme/shop"}
        event = {"session_id": session, "cwd": "/srv/shop", "hook_event_name": name, "day1": where}
        self.send("POST", HOOK, {**event, **fields})

    def start(self, session: str = "") -> None:
        number, *_ = self.count()
        self.hook("SessionStart", session or f"s{number}", source="startup", model="m")

    def prompt(self) -> None:
        number, one, other = self.count()
        text = f"Who has {one} of the {other} of team {number % 7}?"
        self.hook("UserPromptSubmit", "long", prompt=text, prompt_id=f"p{number}")

    def tool(self) -> None:
        number, *_ = self.count()
        call = {"tool_name": "Bash", "tool_input": {"command": f"make {number}"}, "tool_use_id": f"t{number}"}
        self.hook("PostToolUse", "long", **call, tool_response={"stdout": f"{number} passed", "stderr": ""})

    def open_request(self) -> None:
        number, topic, _ = self.count()
        branch = f"task/t{number}"
        self.send("POST", "/branches", {"name": branch})
        for word in ("One", "Another"):
            text = f"{word} rule of {topic} arrives with {number}."
            fact = self.send("POST", "/facts", {"fact_text": text, "branch": branch})
            verdict = {"verdict": "verified", "branch": branch}
            self.send("POST", f"/facts/{fact['id']}/verify", verdict)
        self.open.append(self.send("POST", "/merge-requests", {"source": branch})["number"])

    def merge(self) -> None:
        self.send("POST", f"/merge-requests/{self.open.pop()}/merge")


if __name__ == "__main__":
    main()
