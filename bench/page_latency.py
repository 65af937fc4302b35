r"""Time, size and queries of the web pages and the admin's lists at 100,000 facts.

  .venv/bin/python -m bench.page_latency [--facts 100000] [--only search,fact] [--cpu] \
    [--data-dir DIR] [--keep]

The store also has 10,000 rows of every other list. Every page of the URL conf is measured or excused by
name, so that a new one cannot be forgotten. No statement of a page may come more often than at 1,000 facts;
one that those give no reason for, such as that for the sources of verified facts, may come once. Exit status
1 when a bound is missed.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from bench import local_engine, many_rows, store_builder
from bench.page_urls import Page, Values, elsewhere, pages
from bench.report import p50, p95, timed
from bench.store_builder import CHILD, RARE, Size

SMALL = 1000  # facts of the other store: as many queries must suffice there
SLOWEST, HEAVIEST = 200, 300  # ms, kB
WARM = 2
NEVER = 9999.0  # ms of a page that does not open
PAST = 3  # a commit of every store
SEARCHES = (
    "search",
    "facts",
    "admin:search",
    "admin:facts",
)  # which are measured at points of the near past too
NOT_OURS = ("docs",)  # Swagger UI comes whole: 544 kB
# What main did not hold in the past, or what is refused there: the page says so, and is not measured there.
CONVERSATION = ("conversation", "message", "fork", "fork-tree", "pick", "replay-new", "compare")
OF_NOW = (*CONVERSATION, "score-conversation", "observation", "relation", "fact-edit")


@dataclass(frozen=True)
class Result:
    """Milliseconds on the server (``cpu``: processor time, p95), kB of the page and its files, and
    queries.
    """

    name: str
    p50: float
    p95: float
    cpu: float
    kb: float
    queries: int
    statements: dict[str, int] = field(default_factory=dict)  # how often each comes, by its digest

    def kept(self, by_cpu: bool) -> bool:
        light = self.kb <= HEAVIEST or self.name in NOT_OURS
        return (self.cpu if by_cpu else self.p95) <= SLOWEST and light

    def grows(self, small: dict[str, Any]) -> bool:
        """Return whether there are more statements than in a small store, since one comes more often."""
        few = small["statements"]
        more = any(count > max(few.get(sql, 0), 1) for sql, count in self.statements.items())
        return more and self.queries > small["queries"]


def main() -> None:
    options = arguments()
    large = measured(options, options.facts)
    small = {row["name"]: row for row in in_another_process(options, SMALL)}
    print(table(large, small, options.cpu))
    kept = all(row.kept(options.cpu) and not row.grows(small[row.name]) for row in large)
    sys.exit(0 if kept else 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The web pages and the admin's lists at 100,000 facts.")
    parser.add_argument("--facts", type=int, default=100_000, help="thousands; each with 3 old versions")
    parser.add_argument("--only", default="", help="names of pages, with commas")
    parser.add_argument("--cpu", action="store_true", help="judge processor time: others use the machine")
    parser.add_argument("--runs", type=int, default=20, help="requests of a page that are measured")
    parser.add_argument("--data-dir", type=Path, default=Path(tempfile.gettempdir()) / "day1-bench")
    parser.add_argument("--keep", action="store_true", help="leave the store for the next run")
    parser.add_argument("--json", action="store_true", help="measure this store alone and tell it as JSON")
    options = parser.parse_args()
    options.data_dir.mkdir(parents=True, exist_ok=True)
    if options.json:
        rows = measured(options, options.facts)
        print(json.dumps([asdict(row) for row in rows]))
        sys.exit(0)
    return options


def in_another_process(options: argparse.Namespace, facts: int) -> list[dict[str, Any]]:
    """Measure in another process, since Django takes one data folder per process."""
    command = [
        sys.executable,
        "-m",
        "bench.page_latency",
        "--json",
        "--facts",
        str(facts),
        "--only",
        options.only,
    ]
    command += ["--data-dir", str(options.data_dir), "--runs", str(options.runs)]
    done = subprocess.run(command, cwd=local_engine.ROOT, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured(options: argparse.Namespace, facts: int) -> list[Result]:
    made = store_builder.store(options.data_dir, Size(facts))
    with tempfile.TemporaryDirectory(dir=options.data_dir, ignore_cleanup_errors=True) as folder:
        local_engine.set_up(Path(shutil.copytree(made, Path(folder) / "work")), "off")
        many_rows.gather(facts // 10)
        update_tallies()
        local_engine.optimize()
        local_engine.freeze_gc()
        rows = [tell(measure(page, options.runs)) for page in places() if is_chosen(page, options.only)]
    if not options.keep and not options.json:
        shutil.rmtree(made)
    return rows


def update_tallies() -> None:
    """Store the figures of branches, as the task does that every server runs every five minutes."""
    from analytics.engines.stored import update_tallies

    while update_tallies():
        pass


def tell(row: Result) -> Result:
    """Write a row to stderr at once: a whole run takes a quarter of an hour."""
    print(f"{row.name}: {row.p95:.0f} ms, CPU {row.cpu:.0f} ms, {row.queries} queries", file=sys.stderr)
    return row


def is_chosen(page: Page, only: str) -> bool:
    return not only or page.route.name in only.split(",")


# ---- page variants -----------------------------------------------------------------------------------


def places() -> Iterator[Page]:
    """Yield each page; those of a project on the branch and in the past too."""
    own = {"fact_id": some_fact().uid, "words": some_words(), "entity": "hub"}
    own |= {"session": RARE["session_id"], "category": RARE["category"]}
    for page in pages(Values("default", ("main", CHILD), **own)):
        yield from in_three_places(page) if page.route.of_project and CHILD not in page.name else [page]


def in_three_places(page: Page) -> Iterator[Page]:
    yield page
    yield elsewhere(page, "branch", f"branch={CHILD}")
    if page.route.name.removeprefix("admin:") not in OF_NOW:
        yield elsewhere(page, "past", f"at={PAST}")
    if page.route.name in SEARCHES and "q=" in page.url:
        for name, at in near_past().items():
            yield elsewhere(page, name, f"at={at}")


def near_past() -> dict[str, int]:
    """Return points at which main had all facts, and most or none of their present versions."""
    from memory.models import Branch

    head = Branch.objects.get(project__slug="default", name="main").head
    return {"a commit ago": head - 1, "a tenth ago": head * 9 // 10, "half ago": head // 2}


def some_fact() -> Any:
    """Return a fact that is visible on main, on the branch and in the past."""
    from memory.models import Branch, Fact

    main, child = (Branch.objects.get(project__slug="default", name=name) for name in ("main", CHILD))
    old = {fact.uid for fact in Fact.objects.on(main, min(PAST, main.head)).newest(200)}
    shown = Fact.objects.on(child).filter(uid__in=old).fetch_all()
    return next(fact for fact in shown if Fact.objects.on(main).filter(uid=fact.uid).exists())


def some_words() -> str:
    """Return three words of a fact in the middle of the store."""
    from memory.models import Fact

    fact = Fact.objects.all_versions().filter(seq_to__gt=2**61).order_by("pk")[500]
    return "+".join(sorted(fact.fact_text.strip("?").split(), key=len)[-3:])


# ---- one page ----------------------------------------------------------------------------------------


def measure(page: Page, runs: int) -> Result:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from memory.engines.support.write_buffer import buffer

    client = logged_in() if page.name != "login" else anonymous()
    for _ in range(WARM):
        answer = client.get(page.url)
    if answer.status_code != 200:  # the others are measured all the same: its row misses every bound
        print(f"{page.name}: {page.url} answers {answer.status_code}", file=sys.stderr)
        return Result(page.name, NEVER, NEVER, NEVER, 0, 0)
    buffer.flush()  # buffered recalls are written now and then, which could fall into any request
    with CaptureQueriesContext(connection) as captured:
        client.get(page.url)
    # Before the next request, which empties the list.
    statements = Counter(digest_statement(query["sql"]) for query in captured.captured_queries)
    took, worked = zip(*(measured_once(lambda: client.get(page.url)) for _ in range(runs)), strict=True)
    carried = (len(answer.content) + sum(loaded(client, answer.content, page.url).values())) / 1000
    figures = (p50(took), p95(took), p95(worked), carried, statements.total())
    return Result(page.name, *figures, dict(statements))


def digest_statement(sql: str) -> str:
    """Return a digest of a statement without its values, so that the same one is known in another store."""
    bare = re.sub(r"\b\d+\b", "?", re.sub(r"'[^']*'", "?", sql))
    return hashlib.sha256(re.sub(r"\(\?(, \?)*\)", "(?)", bare).encode()).hexdigest()[:16]


def measured_once(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the milliseconds of elapsed time, and of this process's processor time."""
    started = time.process_time()
    took = timed(work)
    return took, (time.process_time() - started) * 1000


def anonymous() -> Any:
    from django.test import Client

    return Client(headers={"host": "localhost"})


def logged_in() -> Any:
    from django.contrib.auth import get_user_model

    client = anonymous()
    client.force_login(get_user_model().objects.get(username="admin"))
    return client


LOADED = re.compile(r"""(?:src=|href=|url\(|from |import )["']?([^"'() >]+\.(?:css|js|svg|woff2?|png))""")
weights: dict[str, tuple[int, bytes]] = {}  # of a file: the bytes sent, and its content


def loaded(client: Any, body: bytes, base: str) -> dict[str, int]:
    """Return the files that a browser loads with a page the first time, with the bytes sent."""
    found: dict[str, int] = {}
    todo = [(body, base)]
    while todo:
        text, at = todo.pop()
        for name in LOADED.findall(text.decode("utf-8", "ignore")):
            url = urljoin(at, name)
            if url.startswith("/static/") and url not in found:
                found[url], inside = weigh(client, url)
                todo += [(inside, url)] if url.endswith((".css", ".js")) else []
    return found


def weigh(client: Any, url: str) -> tuple[int, bytes]:
    if url not in weights:
        sent, body = (
            b"".join(client.get(url, headers={"accept-encoding": coding}).streaming_content)
            for coding in ("gzip", "identity")
        )
        weights[url] = len(sent), body
    return weights[url]


def table(rows: list[Result], small: dict[str, dict[str, Any]], by_cpu: bool) -> str:
    lines = ["| page | p50 ms | p95 ms | CPU ms | kB | queries |", "|---|---|---|---|---|---|"]
    for row in rows:
        less = small[row.name]
        same = f" (with {SMALL} facts: {less['queries']}) !" if row.grows(less) else ""
        late = "" if row.kept(by_cpu) else " !"
        cells = (row.name, f"{row.p50:.0f}", f"{row.p95:.0f}", f"{row.cpu:.0f}{late}", f"{row.kb:.0f}")
        lines.append(f"| {' | '.join(cells)} | {row.queries}{same} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
