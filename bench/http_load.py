"""Client-side latency: searches, single writes and bulk writes over HTTP."""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from bench.baseline_sqlite import BareRows, Taken
from bench.corpus import Vocabulary
from bench.engine_search import Query
from bench.report import Figure, p50, p95, timed, times
from bench.server import Client
from bench.store_builder import BATCH

EXTRA = 15.0  # ms that HTTP may add
CLIENTS = 20
ONE, EACH = 100, 30  # writes of the single client, and of each of the twenty
BULKS = 10


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
