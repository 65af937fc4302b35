"""Two servers on one database and one branch, under load over HTTP: no lost update, no seq twice, no error.

.venv/bin/python -m bench.concurrent_servers --url matrixone://user:password@127.0.0.1:6001/day1_rivals \\
    [--seconds 30]

The database must be new: the first server makes the tables and the key.
"""

import argparse
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.server import Client, Refused, serving

RATE = 1_000_000
PAGE = 100
CHANGED = 412  # another client was first: the fact is read again


class Load:
    """Load on both servers, with the clients' results."""

    def __init__(self, urls: list[str], key: str, seconds: float) -> None:
        self.urls, self.key, self.until = urls, key, time.monotonic() + seconds
        self.counted = Counter[str]()
        self.ids: list[str] = []
        self.errors: list[str] = []
        self.took: list[float] = []
        self._adding = threading.Lock()

    def run(self, work: Callable[[Client], str], url: str) -> None:
        client = Client(url, self.key)
        while time.monotonic() < self.until:
            began = time.perf_counter()
            try:
                outcome = work(client)
            except Refused as refusal:
                outcome = "changed" if refusal.status == CHANGED else "error"
                if outcome == "error":
                    self.errors.append(str(refusal))
            except OSError as error:
                outcome = "error"
                self.errors.append(repr(error))
            with self._adding:
                self.counted[outcome] += 1
                self.took.append(time.perf_counter() - began)
        client.close()

    def all(self, works: list[Callable[[Client], str]]) -> None:
        threads = [threading.Thread(target=self.run, args=(work, url)) for url in self.urls for work in works]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    # ---- client actions ------------------------------------------------------------------------

    def write(self, client: Client) -> str:
        made = client.ask("POST", "/facts", {"fact_text": f"rival {uuid4().hex}"})
        self.ids.append(made["id"])
        return "written"

    def search(self, client: Client) -> str:
        client.ask("GET", "/facts/search?query=rival")
        return "searched"


def counting(counter: str) -> Callable[[Client], str]:
    """Return a client action that reads a number and writes it back one higher, unless it changed
    meanwhile.
    """

    def count(client: Client) -> str:
        now = client.ask("GET", f"/facts/{counter}")
        client.headers["If-Match"] = client.answered["ETag"]
        try:
            client.ask("PATCH", f"/facts/{counter}", {"fact_text": str(int(now["fact_text"]) + 1)})
        finally:
            del client.headers["If-Match"]
        return "raised"

    return count


def read_log(client: Client) -> list[dict[str, Any]]:
    commits, cursor = [], ""
    while True:
        page = client.ask("GET", f"/branches/main/log?limit={PAGE}&cursor={cursor}")
        commits += page["results"]
        cursor = page["next"]
        if not cursor:
            return commits


def faults(load: Load, client: Client, counter: str) -> list[str]:
    """Return the violations found afterwards, as sentences."""
    seqs = sorted(commit["seq"] for commit in read_log(client))
    counted = int(client.ask("GET", f"/facts/{counter}")["fact_text"])
    found = [f"shown to a client: {error}" for error in load.errors]
    if counted != load.counted["raised"]:
        found.append(f"{load.counted['raised']} times raised, but the counter says {counted}")
    if seqs != list(range(1, len(seqs) + 1)):
        found.append("the seqs of the branch have a gap, or one comes twice")
    if len(seqs) != 1 + load.counted["raised"] + len(load.ids):
        found.append(f"{len(seqs)} commits for {1 + load.counted['raised'] + len(load.ids)} writes")
    found += [f"lost: {one}" for one in load.ids if client.ask("GET", f"/facts/{one}")["id"] != one]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--seconds", type=float, default=30)
    options = parser.parse_args()
    os.environ["DATABASE_URL"] = options.url
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        servers = [stack.enter_context(serving(folder, "off")) for folder in folders]
        first = servers[0].client()
        payload = {"label": "rivals", "scopes": ["read", "write"], "rate_per_minute": RATE}
        key = first.ask("POST", "/keys", payload)["token"]
        counter = first.ask("POST", "/facts", {"fact_text": "0"})["id"]
        load = Load([server.url for server in servers], key, options.seconds)
        load.all([load.write, load.write, counting(counter), load.search])
        found = faults(load, Client(servers[1].url, key), counter)
    took = sorted(load.took)
    print(dict(load.counted), f"p50 {took[len(took) // 2] * 1000:.0f} ms, longest {took[-1] * 1000:.0f} ms")
    print("\n".join(found) or "no lost update, no seq twice, no gap, no error")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
