"""REST on a real server: the guide's examples, slashes in names, the body limit, many clients."""

import http.client
import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.up_process import ROOT, Up, provisioned
from tests.waiting import TIMEOUT_SECONDS, wait_until

MIB = 1024 * 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with Up(provisioned(tmp_path_factory.mktemp("api") / "data")) as up:
        yield up


def ask(
    server: Up, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, Any, Any]:
    """Send one request with its path as it is; return status, headers and JSON."""
    link = http.client.HTTPConnection(urlsplit(server.first["url"]).netloc, timeout=TIMEOUT_SECONDS)
    sent = {"Authorization": f"Bearer {server.first['key']}", "Content-Type": "application/json"}
    link.request(method, f"/api/v1{path}", body, sent | {n.replace("_", "-"): v for n, v in headers.items()})
    answer = link.getresponse()
    text = answer.read()
    link.close()
    return answer.status, answer.headers, json.loads(text) if text else None


def post(server: Up, path: str, body: Any, **headers: str) -> tuple[int, Any, Any]:
    return ask(server, "POST", path, json.dumps(body).encode(), **headers)


@pytest.mark.slow
def test_every_example_of_the_guide_works(server: Up) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "api.md").read_text(), re.S)
    assert len(blocks) >= 7
    # curl is silent about refusals by default.
    script = "set -eu\n" + "\n".join(blocks).replace("curl -s", "curl -sS --fail-with-body")
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=server.folder.parent,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert '"created":true' in done.stdout
    assert '"token":"day1_' in done.stdout


def test_slashes_and_letters_in_paths(server: Up) -> None:
    assert post(server, "/branches", {"name": "task/paths/x"})[0] == 201
    for path in ("/branches/task/paths/x", "/branches/task%2Fpaths%2Fx", "/branches/task%2fpaths/x/"):
        status, _, branch = ask(server, "GET", path)
        assert (status, branch["name"]) == (200, "task/paths/x")
        assert ask(server, "GET", f"{path.rstrip('/')}/log")[0] == 200
    for path in (
        "/branches/%E6%9D%B1",
        "/branches/%FF%FE",
        "/branches/a%00b",
        "/branches/..%2F..%2Fetc",
        "/nothing",
    ):
        status, headers, problem = ask(server, "GET", path)
        assert (status, problem["code"]) == (404, "not_found"), path
        assert headers["Content-Type"] == "application/problem+json"


def test_a_body_over_the_limit(server: Up) -> None:
    status, headers, problem = ask(server, "POST", "/facts", b" " * (8 * MIB + 1))
    assert (status, problem["code"], headers["Content-Type"]) == (
        413,
        "too_large",
        "application/problem+json",
    )
    facts = [{"fact_text": f"{i} " + "x" * 8000} for i in range(1000)]
    assert len(json.dumps({"facts": facts})) < 8 * MIB
    assert post(server, "/facts/bulk", {"facts": facts})[0] == 201


@pytest.mark.slow
def test_twenty_clients_write_and_repeat_at_once(server: Up) -> None:
    def write(number: int) -> list[tuple[int, str]]:
        told = []
        for i in range(5):
            for _ in range(2):  # each is sent twice under its key
                body = {"fact_text": f"client {number} fact {i}"}
                status, _, row = post(server, "/facts", body, Idempotency_Key=f"{number}-{i}")
                told.append((status, row["id"]))
        return told

    with ThreadPoolExecutor(20) as pool:
        told = [one for some in pool.map(write, range(20)) for one in some]
    assert {status for status, _ in told} == {201}
    assert len({uid for _, uid in told}) == 100
    status, _, page = ask(server, "GET", "/facts/search?q=client&limit=100&search_type=keyword")
    assert (status, bool(page["results"])) == (200, True)


def test_health_knows_that_the_worker_runs(server: Up) -> None:
    wait_until(lambda: ask(server, "GET", "/health")[2]["status"] == "ok")
    assert ask(server, "GET", "/health")[2]["worker"] == "running"
    assert ask(server, "GET", "/health", Authorization="")[2] == {"status": "ok"}


def test_the_guide_names_no_path_of_a_machine() -> None:
    assert not re.search(r"/(home|root|work|tmp|Users)/", Path(ROOT / "docs" / "api.md").read_text())
