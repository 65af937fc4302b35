"""A newcomer's first steps: start, write, search, branch, stop, start again."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from tests.up_process import Up
from tests.waiting import TIMEOUT_SECONDS

BRANCH = "task/longer-tokens"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def started(folder: Path) -> Iterator[list[Up]]:
    """Collect the servers that the test starts; stop all at the end."""
    servers: list[Up] = []
    yield servers
    for one in servers:
        one.end()


def ask(folder: Path, method: str, path: str, body: Any = None) -> Any:
    """Send one request with the credentials of first-key.json, as with curl."""
    first = json.loads((folder / "first-key.json").read_text())
    headers = {"Authorization": f"Bearer {first['key']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = Request(f"{first['url']}/api/v1{path}", data, headers, method=method)
    with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        return json.loads(answer.read())


def texts(folder: Path, branch: str, status: str = "active") -> list[str]:
    rows = ask(folder, "GET", f"/facts?status={status}&branch={quote(branch, safe='')}")["results"]
    return [row["fact_text"] for row in rows]


OLD, NEW = "Access tokens expire after 15 minutes.", "Access tokens expire after 30 minutes."


def test_from_the_first_start_to_a_memory_that_is_still_there(folder: Path, started: list[Up]) -> None:
    started.append(Up(folder, DAY1_EMBEDDER="minilm").ready())
    fact = ask(folder, "POST", "/facts", {"fact_text": OLD, "category": "security"})
    assert (fact["created"], fact["version"], fact["branch"]) == (True, 1, "main")
    check_search(folder, fact["id"])
    check_branch(folder, fact["id"])

    assert started[0].stop(signal.SIGINT) == 0
    assert "Traceback" not in started[0].output()

    started.append(Up(folder, DAY1_EMBEDDER="minilm").ready())
    assert texts(folder, "main") == [OLD]
    assert texts(folder, BRANCH) == [NEW]
    check_search(folder, fact["id"])
    assert started[1].stop(signal.SIGINT) == 0


def check_search(folder: Path, fact_id: str) -> None:
    """Check that a fact is found by its words immediately, with the parts of its score."""
    told = ask(folder, "POST", "/facts/search", {"query": "How soon does an access token expire?"})
    [hit] = told["results"]
    assert (hit["fact"]["id"], hit["fact"]["fact_text"]) == (fact_id, OLD)
    assert hit["score"] > 0
    assert hit["signals"]["keyword"] > 0
    assert set(told["signals_used"]) <= set(hit["signals"])


def check_branch(folder: Path, fact_id: str) -> None:
    """Check that a branch starts with main's facts, and that its changes do not show on main."""
    branch = ask(folder, "POST", "/branches", {"name": BRANCH, "purpose": "Try longer tokens."})
    assert (branch["parent"], texts(folder, BRANCH)) == ("main", [OLD])
    where = {"branch": BRANCH, "new_fact_text": NEW}
    new = ask(folder, "POST", f"/facts/{fact_id}/supersede", where)
    assert new["parent_id"] == fact_id
    assert (texts(folder, "main"), texts(folder, BRANCH)) == ([OLD], [NEW])
    assert texts(folder, BRANCH, "superseded") == [OLD]
    both = ask(folder, "POST", "/facts/search", {"query": "token expiry", "branches": ["main", "task/*"]})
    found = {(hit["fact"]["fact_text"], *hit["branches"]) for hit in both["results"]}
    assert found == {(OLD, "main"), (NEW, BRANCH)}
