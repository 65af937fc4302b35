"""Peak memory of the server's process tree while it embeds and searches."""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.corpus import Vocabulary
from bench.engine_search import Query
from bench.report import Figure
from bench.server import Client

TEXTS = 2000
MAX_MEGABYTES = 700  # MB
TIMEOUT_SECONDS = 600  # seconds
KB = 1024 / 10**6  # a kibibyte in MB


class Peak(threading.Thread):
    """Sampler of a process tree's memory, ten times a second; Linux only."""

    def __init__(self, root: int) -> None:
        super().__init__(daemon=True)
        self.root, self.done = root, threading.Event()
        self.rss = self.own = self.pss = 0.0

    def run(self) -> None:
        while not self.done.wait(0.1):
            self.measure_once()

    def measure_once(self) -> None:
        processes = tree(self.root)
        self.rss = max(self.rss, sum(kib(pid, "status", "VmRSS") for pid in processes) * KB)
        self.own = max(self.own, sum(kib(pid, "smaps_rollup", "Pss_Anon") for pid in processes) * KB)
        self.pss = max(self.pss, pss(self.root))

    def stop(self) -> None:
        self.done.set()
        self.join()


def footprint(
    client: Client, process: int, queries: Sequence[Query], vocabulary: Vocabulary
) -> Iterator[Figure]:
    """Measure the memory while texts arrive in bulk, are embedded, and searches run."""
    peak = Peak(process)
    peak.start()
    for query in queries[:5]:
        client.ask("POST", "/facts/search", {"query": query.text})
    texts = list(vocabulary.texts(TEXTS))
    for start in range(0, TEXTS, 1000):
        facts = [{"fact_text": text} for text in texts[start : start + 1000]]
        client.ask("POST", "/facts/bulk", {"facts": facts})
    count, seconds = _search_while_pending(client, queries)
    peak.stop()
    highest = sum(kib(pid, "status", "VmHWM") for pid in tree(process)) * KB
    print(f"embedded {TEXTS} texts in {seconds:.0f} s, with {count} searches meanwhile")
    yield Figure("process tree at its peak, Pss", peak.pss, "MB", MAX_MEGABYTES, "≤ 700 MB")
    # No bound: what the processes share counts once for each of them.
    print(f"highest resident sets of all processes (VmHWM): {max(peak.rss, highest):.0f} MB")
    yield Figure("of it not a mapped file (Pss_Anon)", peak.own, "MB", MAX_MEGABYTES, "≤ 700 MB")


def _search_while_pending(client: Client, queries: Sequence[Query]) -> tuple[int, float]:
    started, count = time.monotonic(), 0
    while client.ask("GET", "/health")["embedding"]["pending"]:
        client.ask("POST", "/facts/search", {"query": queries[count % len(queries)].text})
        count += 1
        if time.monotonic() - started > TIMEOUT_SECONDS:
            raise SystemExit("The texts are still not embedded.")
    return count, time.monotonic() - started


def pss(root: int) -> float:
    """Return the megabytes of a process and its descendants, what they share counted once."""
    return sum(kib(pid, "smaps_rollup", "Pss") for pid in tree(root)) * KB


def cpu_seconds(root: int) -> float:
    """Return the processor time that a process and its running descendants have taken."""
    ticks = 0
    for pid in tree(root):
        fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def tree(root: int) -> list[int]:
    """Return a process and all its descendants."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found


def kib(pid: int, file: str, name: str) -> int:
    try:
        text = (Path("/proc") / str(pid) / file).read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name}:")), 0)
