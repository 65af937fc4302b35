"""Latency of memory_search over MCP, compared with the same search over REST, in one run.

  .venv/bin/python -m bench.mcp_latency [--facts 2000] [--queries 200]

Exit status 1 when the bound is missed.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from mcp import Client as Agent
from mcp.client.streamable_http import streamable_http_client

from bench.corpus import Vocabulary
from bench.report import Figure, p50, table, timed
from bench.server import Client, Running, serving

MAX_EXTRA_MS = 10.0  # ms that MCP may take beyond REST
WARM = 10
LIMIT = 10
MODES = {"auto": "2026-07-28", "legacy": "initialize"}


def main() -> None:
    options = arguments()
    words = Vocabulary(np.random.default_rng(7))
    texts = words.texts(options.facts)
    queries = [words.query() for _ in range(WARM + options.queries)]
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        serving(Path(folder) / "data", embedder="off") as running,
    ):
        fill(running.client(), [next(texts) for _ in range(options.facts)])
        figures = list(measured(running, queries))
    print(table(figures))
    if options.json:
        options.json.write_text(json.dumps([figure.as_dict() for figure in figures], indent=2) + "\n")
    sys.exit(0 if all(figure.kept for figure in figures) else 1)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="memory_search over MCP, beside REST.")
    parser.add_argument("--facts", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--json", type=Path, metavar="FILE")
    return parser.parse_args()


def fill(client: Client, texts: Sequence[str]) -> None:
    for start in range(0, len(texts), 1000):
        facts = [{"fact_text": text} for text in texts[start : start + 1000]]
        client.ask("POST", "/facts/bulk", {"facts": facts, "deduplicate": False})


def measured(running: Running, queries: Sequence[str]) -> Iterator[Figure]:
    """Measure each query over REST and then over MCP, by the official client, in both protocol modes."""
    rest = running.client()
    for mode, says in MODES.items():
        took = asyncio.run(both(running, rest, queries, mode))
        outside, inside = p50(took["mcp"]), p50(took["rest"])
        bound, limit = inside + MAX_EXTRA_MS, f"≤ REST + {MAX_EXTRA_MS:.0f} ms"
        yield Figure(f"memory_search over MCP ({says}), p50", outside, "ms", bound, limit, inside, "REST")


async def both(running: Running, rest: Client, queries: Sequence[str], mode: str) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {"rest": [], "mcp": []}
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {running.key}"}) as http:
        link = streamable_http_client(f"{running.url}/mcp", http_client=http)
        async with Agent(link, mode=mode) as agent:
            await agent.list_tools()
            for query in queries:
                took["rest"].append(timed(lambda query=query: search(rest, query)))
                started = time.perf_counter()
                found = await agent.call_tool("memory_search", {"query": query, "limit": LIMIT})
                took["mcp"].append((time.perf_counter() - started) * 1000)
                assert not found.is_error, found
    return {way: values[WARM:] for way, values in took.items()}


def search(rest: Client, query: str) -> Any:
    return rest.ask("POST", "/facts/search", {"query": query, "limit": LIMIT})


if __name__ == "__main__":
    main()
