"""kill -9 of a server of one process right behind its writes: what it had not indexed is told, then found."""

import json
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.up_process import Up, provisioned
from tests.waiting import TIMEOUT_SECONDS, wait_until

MODEL = {"DAY1_EMBEDDER": "minilm"}
TEXT = "The team ships its software to customers every Thursday afternoon."
QUESTION = "When do clients get a release?"  # has no word of it


def call(server: Up, path: str, **body: Any) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {server.first['key']}", "Content-Type": "application/json"}
    request = Request(server.first["url"] + "/api/v1" + path, json.dumps(body).encode(), headers)
    with urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        return dict(json.load(answer))


def test_a_search_after_a_kill_says_what_it_cannot_find_yet(tmp_path: Path) -> None:
    folder = provisioned(tmp_path / "data")
    with Up(folder, "--no-worker", **MODEL) as server:  # it is killed before it indexes what it acknowledged
        call(server, "/facts", fact_text=TEXT)
        found = call(server, "/facts/search", query=QUESTION)
        assert (found["results"], found["known"], found["incomplete"]) == ([], False, True)
        assert found["note"].endswith(
            "What was written last is still being indexed: it is found by its words alone."
        )
        server.process.kill()
    with Up(folder, **MODEL) as server:
        answers: list[dict[str, Any]] = []

        def is_complete() -> bool:
            answers.append(call(server, "/facts/search", query=QUESTION))
            return not answers[-1]["incomplete"]

        wait_until(is_complete)
        found = answers[-1]
        assert [hit["fact"]["fact_text"] for hit in found["results"]] == [TEXT]
        assert (found["known"], found["note"]) == (True, "")
