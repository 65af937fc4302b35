"""Client-side latency: searches, single writes, bulk writes and many mixed clients over HTTP."""

import copy
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from http.client import HTTPException
from itertools import count
from typing import Any

import numpy as np

from bench.baseline_sqlite import BareRows, Taken
from bench.corpus import Vocabulary
from bench.engine_search import Query
from bench.memory_usage import cpu_seconds, pss
from bench.report import Figure, p50, p95, timed, times
from bench.server import Client, Refused, Running
from bench.store_builder import BATCH

EXTRA = 15.0  # ms that HTTP may add
CLIENTS = 20
ONE, EACH = 100, 30  # writes of the single client, and of each of the twenty
BULKS = 10
MIXED = 50  # clients of a mixed load
SEARCHES, WRITES = 0.70, 0.25  # shares of their calls; the rest are those of branches, up to the merge
MIN_RATE, MAX_P95, MAX_LOG, MAX_GROWTH = 200, 400, 64, 1.1  # calls/s, ms, MB, times
LOOK_SECONDS = 5.0  # between two looks at memory and log
Call = tuple[str, Any]  # path and body of a POST


def searches(client: Client, actor: Any, warm: Sequence[Query], counted: Sequence[Query]) -> Iterator[Figure]:
    """Measure keyword searches, since a vector cannot be sent: over HTTP, and the same in the engine."""
    from memory.engines.search.engine import SearchEngine

    def engine(query: Query) -> Any:
        return SearchEngine().search(query=query.text, actor=actor, search_type="keyword")

    def http(query: Query) -> Any:
        return client.ask("POST", "/facts/search", {"query": query.text, "search_type": "keyword"})

    for query in warm:
        engine(query), http(query)
    took: dict[str, list[float]] = {"engine": [], "http": []}
    for query in counted:
        took["engine"].append(timed(lambda query=query: engine(query)))
        took["http"].append(timed(lambda query=query: http(query)))
    inside, outside = p50(took["engine"]), p50(took["http"])
    name, says = "keyword search over HTTP, p50", "≤ engine + 15 ms"
    yield Figure(name, outside, "ms", inside + EXTRA, says, inside, "engine")


# ---- writes ----------------------------------------------------------------------------------------


def writes(url: str, key: str, rows: BareRows, vocabulary: Vocabulary) -> Iterator[Figure]:
    texts = vocabulary.texts(10 + ONE + CLIENTS * EACH)
    alone = writer(url, key, [next(texts) for _ in range(10 + ONE)])[10:]
    bare = [timed(lambda one=one: rows.insert(one)) for one in rows.take().each()][10:]
    says = "one insert and commit"
    yield Figure("single write over HTTP, one client, p50", p50(alone), "ms", 20, "≤ 20 ms", p50(bare), says)
    crowd = together(url, key, [[next(texts) for _ in range(EACH)] for _ in range(CLIENTS)])
    yield Figure(f"single write over HTTP, {CLIENTS} clients, p95", p95(crowd), "ms", 500, "≤ 500 ms")
    rows.insert(rows.take())


def writer(url: str, key: str, texts: Sequence[str]) -> list[float]:
    client = Client(url, key)
    took = [timed(lambda text=text: client.ask("POST", "/facts", {"fact_text": text})) for text in texts]
    client.close()
    return took


def together(url: str, key: str, shares: Sequence[Sequence[str]]) -> list[float]:
    """Write with all clients concurrently, each on its own connection."""
    took: list[float] = []
    failed: list[Exception] = []

    def work(texts: Sequence[str]) -> None:
        try:
            took.extend(writer(url, key, texts))
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(texts,)) for texts in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    return took


def bulk(client: Client, rows: BareRows, vocabulary: Vocabulary) -> Iterator[Figure]:
    """Measure bulk writes of a thousand over HTTP; after each, copy its rows into the baseline."""
    http, bare = [], []
    for _ in range(BULKS):
        facts = [
            {"fact_text": text, "category": "pattern", "session_id": "s-bulk", "tags": ["bulk"]}
            for text in vocabulary.texts(BATCH)
        ]
        started = time.perf_counter()
        answer = client.ask("POST", "/facts/bulk", {"facts": facts})
        http.append(time.perf_counter() - started)
        if sum(row["created"] for row in answer["results"]) != BATCH:
            raise RuntimeError("a bulk write stored fewer facts than it was given")
        taken: Taken = rows.take()
        bare.append(timed(lambda taken=taken: rows.insert(taken)) / 1000)
    rate = BATCH * BULKS / sum(http)
    yield Figure("bulk over HTTP, in thousands", rate, "facts/s", 2000, "≥ 2,000 facts/s", least=True)
    yield times(
        "the same, a thousand, p50", p50(http) * 1000, p50(bare) * 1000, 6, "executemany of the same rows"
    )


# ---- many mixed clients ----------------------------------------------------------------------------


class MixedClient(threading.Thread):
    """Client that searches, writes, and changes and merges branches of its own, until a time."""

    def __init__(self, running: Running, number: int, vocabulary: Vocabulary, until: float) -> None:
        super().__init__()
        self.client, self.until = running.client(), until
        self.words = copy.copy(vocabulary)
        self.words.rng = np.random.default_rng(number)
        self.took: dict[str, list[float]] = {"search": [], "write": [], "branch": []}
        self.errors: list[str] = []
        self.written: list[str] = []  # ids that were acknowledged
        self.calls = branch_calls(f"task/mixed-{number}", endless_texts(self.words))
        self.next_call, self.texts = next(self.calls), endless_texts(self.words)

    def run(self) -> None:
        while time.monotonic() < self.until:
            chance = self.words.rng.random()
            if chance < SEARCHES:
                self.post("search", "/facts/search", {"query": self.words.query()})
            elif chance < SEARCHES + WRITES:
                written = self.post("write", "/facts", {"fact_text": next(self.texts)})
                self.written += [written["id"]] if written else []
            elif answer := self.post("branch", *self.next_call):
                self.next_call = self.calls.send(answer)
        self.client.close()

    def post(self, kind: str, path: str, body: Any) -> Any:
        """Send one timed call; return its answer, or None where it failed."""
        started = time.perf_counter()
        try:
            return self.client.ask("POST", path, body)
        except (Refused, OSError, HTTPException) as error:
            self.errors.append(f"{path}: {error}")
            self.client.close()
            return None
        finally:
            self.took[kind].append((time.perf_counter() - started) * 1000)


def endless_texts(words: Vocabulary) -> Iterator[str]:
    while True:
        yield from words.texts(50)


def branch_calls(prefix: str, texts: Iterator[str]) -> Generator[Call, Any, None]:
    """Yield the calls of one branch after the other, from the fork to the merge, and take their answers."""
    for number in count():
        branch = {"branch": f"{prefix}-{number}"}
        yield "/branches", {"name": branch["branch"]}
        fact = yield "/facts", {"fact_text": next(texts), **branch}
        yield f"/facts/{fact['id']}/verify", {"verdict": "verified", **branch}
        request = yield "/merge-requests", {"source": branch["branch"]}
        yield f"/merge-requests/{request['number']}/merge", {}


def mixed(running: Running, vocabulary: Vocabulary, minutes: float) -> Iterator[Figure]:
    """Measure fifty clients at once; the clients' own work is done on the same machine."""
    until, process = time.monotonic() + minutes * 60, running.process.pid
    clients = [MixedClient(running, number, vocabulary, until) for number in range(MIXED)]
    busy, own = cpu_seconds(process), time.process_time()
    for client in clients:
        client.start()
    looks = list(watch(running, until))
    busy, own = cpu_seconds(process) - busy, time.process_time() - own
    for client in clients:
        client.join()
    every = print_calls(clients)
    each = f"server {busy / len(every) * 1000:.1f} ms, clients {own / len(every) * 1000:.1f} ms"
    print(f"processor time of a call: {each}; {(busy + own) / minutes / 60:.2f} cores in all")
    rate, errors = len(every) / minutes / 60, [error for client in clients for error in client.errors]
    errors += [error for client in clients for error in find_lost(running, client)]
    for error in errors[:10]:
        print(error[:300])
    yield Figure(f"{MIXED} mixed clients", rate, "calls/s", MIN_RATE, f"≥ {MIN_RATE}", least=True)
    yield Figure("the same, p95", p95(every), "ms", MAX_P95, f"≤ {MAX_P95} ms")
    yield Figure("the same, calls that failed, and facts lost", len(errors), "", 0, "0")
    yield from steadiness(looks)


def print_calls(clients: Sequence[MixedClient]) -> list[float]:
    """Print number and latency of each kind of calls; return the milliseconds of all."""
    took = {kind: [one for client in clients for one in client.took[kind]] for kind in clients[0].took}
    for kind, part in took.items():
        print(f"{kind}: {len(part)} calls, p50 {p50(part):.0f} ms, p95 {p95(part):.0f} ms")
    return [one for part in took.values() for one in part]


def watch(running: Running, until: float) -> Iterator[tuple[float, float]]:
    """Yield the memory of the server's processes and the size of its log, in MB, until a time."""
    log = running.folder / "day1.sqlite3-wal"
    while time.monotonic() < until:
        time.sleep(LOOK_SECONDS)
        yield pss(running.process.pid), log.stat().st_size / 10**6 if log.exists() else 0.0


def steadiness(looks: Sequence[tuple[float, float]]) -> Iterator[Figure]:
    """Yield the largest log, and the memory of the last quarter beside that of the second."""
    quarter = max(1, len(looks) // 4)
    memory, logs = [one for one, _ in looks], [one for _, one in looks]
    early, late = p50(memory[quarter : 2 * quarter] or memory), p50(memory[-quarter:])
    yield Figure("the same, write-ahead log at its largest", max(logs), "MB", MAX_LOG, f"≤ {MAX_LOG} MB")
    yield times("the same, memory in the last quarter (Pss)", late, early, MAX_GROWTH, "second quarter", "MB")


def find_lost(running: Running, client: MixedClient) -> Iterator[str]:
    """Yield an error for each of a client's last facts that cannot be read."""
    reader = running.client()
    for uid in client.written[-5:]:
        try:
            reader.ask("GET", f"/facts/{uid}")
        except Refused as error:
            yield f"{uid} is lost: {error}"
    reader.close()
