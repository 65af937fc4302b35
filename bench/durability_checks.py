"""Durability checks after a server was killed: each returns its violations as sentences."""

import http.client
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any
from urllib.parse import urlencode

from bench.killable_server import TIMEOUT_SECONDS, Server
from bench.server import Client, in_path
from bench.write_load import BRANCHES, LETTERS, Request, Round, Written, post, written

Stored = dict[str, list[dict[str, Any]]]  # rows of facts by branch


def pages(client: Client, path: str, **query: Any) -> Iterator[dict[str, Any]]:
    """Yield every row of a list."""
    cursor: str | None = ""
    while cursor is not None:
        answer = client.ask("GET", f"{path}?{urlencode({**query, 'limit': 100, 'cursor': cursor})}")
        yield from answer["results"]
        cursor = answer["next"]


def stored(client: Client) -> Stored:
    """Return all facts by branch. The branches were forked from an empty main, so each has only its own."""
    return {branch: list(pages(client, "/facts", branch=branch)) for branch in BRANCHES}


def lost(facts: Stored, promised: Sequence[Written]) -> list[str]:
    """Return acknowledged facts that are missing on their branch or have lost their word."""
    present = {
        (row["id"], branch, *split_words(row["fact_text"])) for branch, rows in facts.items() for row in rows
    }
    return [
        f"LOST: {one.id} on {one.branch} ({one.word})"
        for one in promised
        if (one.id, one.branch, one.word) not in present
    ]


def halves(facts: Stored, cut: Sequence[Request]) -> list[str]:
    """Return unanswered bulk writes that were stored in part, and facts that were stored twice."""
    seen = all_words(facts)
    trouble = [f"{one} is stored {times} times" for one, times in seen.items() if times > 1]
    for request in cut:
        present = sum(one in seen for one in request.words)
        if present not in (0, len(request.words)):
            trouble.append(f"HALF: {present} of {len(request.words)} facts of a bulk on {request.branch}")
        if request.key and not present:
            trouble.append(f"LOST: sent again with its key, and not there: {request.words[0]}")
    return trouble


def all_words(facts: Stored) -> Counter[str]:
    """Count the unique words in the stored facts; each should occur once."""
    return Counter(one for rows in facts.values() for row in rows for one in split_words(row["fact_text"]))


def split_words(text: str) -> list[str]:
    """Return the unique words of a text; there should be one."""
    parts = (part.strip(".,:") for part in text.split())
    return [part for part in parts if len(part) == 8 and part[0] == "x" and set(part[1:-1]) <= set(LETTERS)]


def send_again(server: Server, cut: Sequence[Request]) -> Round:
    """Send every unanswered request with a key twice more: the second response repeats the first."""
    round = Round()
    headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)) as link:
        for request in (one for one in cut if one.key):
            answers = [post(link, request, headers) for _ in range(2)]
            if answers[0] != answers[1] or answers[0][0] != 201:
                round.trouble.append(f"sent again, {request.key} got {answers}")
            else:
                round.written.extend(written(request, answers[0][1]))
    return round


def unfound(client: Client, facts: Sequence[Written], texts: dict[str, str] | None = None) -> list[str]:
    """Return facts that neither a keyword search for their word nor a vector search for their text finds."""
    search_type = "vector" if texts else "keyword"
    trouble = []
    for one in facts:
        query = texts[one.id] if texts else one.word
        payload = {"query": query, "search_type": search_type, "branch": one.branch}
        hits = client.ask("POST", "/facts/search", payload)["results"]
        if one.id not in [hit["fact"]["id"] for hit in hits]:
            trouble.append(f"NOT FOUND by {search_type}: {one.id} on {one.branch} ({query})")
    return trouble


def wait_for_vectors(client: Client) -> None:
    """Wait until no text waits for its vector."""
    began = time.monotonic()
    while (state := client.ask("GET", "/health")["embedding"])["pending"]:
        if time.monotonic() - began > TIMEOUT_SECONDS:
            raise RuntimeError(f"Vectors are still missing after {TIMEOUT_SECONDS:.0f} s: {state}")
        time.sleep(0.2)


def without_vector(facts: Stored) -> list[str]:
    rows = [row for batch in facts.values() for row in batch]
    return [
        f"NO VECTOR: {row['id']} is {row['embedding_state']}"
        for row in rows
        if row["embedding_state"] != "ready"
    ]


def gaps(client: Client, facts: Stored) -> list[str]:
    """Return branches whose log is not 1 to head, or counts other facts than are stored."""
    trouble = []
    for branch, rows in facts.items():
        head = client.ask("GET", f"/branches/{in_path(branch)}")["head"]
        commits = list(pages(client, f"/branches/{in_path(branch)}/log"))
        if [commit["seq"] for commit in commits] != list(range(head, 0, -1)):
            trouble.append(f"LOG of {branch}: not 1 to {head}, in order")
        if (answer := sum(commit["added"] for commit in commits)) != len(rows):
            trouble.append(f"LOG of {branch}: {answer} facts added, {len(rows)} there")
    return trouble
