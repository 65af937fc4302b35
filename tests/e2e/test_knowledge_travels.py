"""From a task to another company: every step over REST, between two servers on two folders."""

import http.client
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from tests.up_process import Up, prepared
from tests.waiting import TIMEOUT_SECONDS

CLOCK, CAUSE, GUESS = "The clock is two minutes ahead.", "The cause is the battery.", "Perhaps the cable."
ADA, BOB = "task/fix-the-clock/ada", "task/fix-the-clock/bob"


class Instance:
    """A server, and the client of its first key."""

    def __init__(self, up: Up) -> None:
        self.up, self.url = up, urlsplit(up.first["url"])

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(
            self.url.hostname or "", self.url.port, timeout=TIMEOUT_SECONDS
        )
        sent = {
            "Authorization": f"Bearer {self.up.first['key']}",
            "Content-Type": "application/json",
            **headers,
        }
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, f"/api/v1{path}", data, sent)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, json.loads(content) if content else None

    def post(self, path: str, body: Any = None, status: int = 201) -> Any:
        code, answer = self.send("POST", path, body or {})
        assert code == status, answer
        return answer

    def get(self, path: str) -> Any:
        code, answer = self.send("GET", path)
        assert code == 200, answer
        return answer

    def facts(self, branch: str) -> dict[str, str]:
        """Return the texts of a branch with their verdicts."""
        rows = self.get(f"/facts?branch={quote(branch)}")["results"]
        return {row["fact_text"]: row["verification_status"] for row in rows}


@pytest.fixture(scope="module")
def instances(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Instance, Instance]]:
    folders: list[Path] = [tmp_path_factory.mktemp(name) / "data" for name in ("acme", "globex")]
    with (
        Up(prepared(folders[0]), "--no-worker") as acme,
        Up(prepared(folders[1]), "--no-worker") as globex,
    ):
        yield Instance(acme), Instance(globex)


def test_knowledge_travels(instances: tuple[Instance, Instance]) -> None:
    acme, globex = instances
    ids = work_on_a_task(acme)
    hand_over(acme, ids)
    merge_what_is_verified(acme, ids)
    begin_from_a_template(acme)
    document = make_a_bundle(acme)
    import_elsewhere(acme, globex, document)


def work_on_a_task(acme: Instance) -> dict[str, str]:
    task = acme.post("/tasks", {"name": "Fix the clock", "task_type": "bug_fix"})
    assert task["suggested_template"] is None
    for agent in ("ada", "bob"):
        acme.post("/tasks/fix-the-clock/join", {"agent_id": agent}, 201)
    who = {"branch": ADA, "session_id": "s1", "agent_id": "ada"}
    ids = {text: acme.post("/facts", {"fact_text": text, **who})["id"] for text in (CLOCK, CAUSE, GUESS)}
    talk = acme.post("/conversations", {"title": "Debug", **who})
    message = {"role": "user", "content": "Why is the clock wrong?", "branch": ADA}
    acme.post(f"/conversations/{talk['id']}/messages", message)
    edge = {"source_entity": "gateway", "relation_type": "uses", "target_entity": "clock", "branch": ADA}
    acme.post("/relations", edge)
    return ids


def hand_over(acme: Instance, ids: dict[str, str]) -> None:
    body = {"session_id": "s1", "agent_id": "ada", "target_branch": BOB, "to_agent": "bob"}
    packet = acme.post("/handoffs", {**body, "include_unverified": True, "instructions": "Mend it."})
    assert {fact["fact_text"] for fact in packet["facts"]} == set(ids)
    done = acme.post(f"/handoffs/{packet['id']}/accept", {"agent_id": "bob"}, 200)
    assert done["state"] == "accepted"
    assert acme.send("POST", f"/handoffs/{packet['id']}/accept", {})[0] == 409


def merge_what_is_verified(acme: Instance, ids: dict[str, str]) -> None:
    for text in (CLOCK, CAUSE):
        body = {"branch": ADA, "verdict": "verified", "reason": "Measured."}
        acme.post(f"/facts/{ids[text]}/verify", body, 200)
    path = f"/branches/{quote(ADA, safe='')}/merge"
    code, problem = acme.send("POST", path, {"target": "main"})
    assert (code, problem["code"]) == (409, "conflict")
    assert "require_verified" in problem["detail"]
    acme.post(path, {"target": "main", "strategy": "cherry_pick", "ids": [ids[CLOCK], ids[CAUSE]]}, 200)
    assert acme.facts("main") == {CLOCK: "verified", CAUSE: "verified"}


def begin_from_a_template(acme: Instance) -> None:
    made = acme.post("/templates", {"name": "clocks", "task_types": ["bug_fix"], "description": "Clocks."})
    assert made["branch"] == "template/clocks/v1"
    task = acme.post("/tasks", {"name": "Fix the other clock", "task_type": "bug_fix"})
    assert task["suggested_template"] == "clocks"
    begun = acme.post("/templates/clocks/instantiate", {"target_branch": "task/fix-the-other-clock/start"})
    assert acme.facts(begun["branch"]) == {CLOCK: "verified", CAUSE: "verified"}
    assert acme.send("POST", "/templates/clocks/instantiate", {"target_branch": "main"})[0] == 409
    acme.post("/tasks/fix-the-other-clock/complete", {"result": "Mended."}, 200)
    assert acme.get("/templates/clocks")["succeeded"] == 1


def make_a_bundle(acme: Instance) -> Any:
    acme.post("/signing-key")
    whole = acme.post("/bundles", {"name": "all", "branch": ADA, "only_verified": False})
    counts = {"facts": 3, "conversations": 1, "messages": 1, "links": 0, "relations": 1}
    assert whole["counts"] == counts
    made = acme.post("/bundles", {"name": "clocks", "branch": "template/clocks/v1"})
    assert (made["counts"]["facts"], bool(made["signature"])) == (2, True)
    return acme.get(f"/bundles/{made['id']}/export")


def import_elsewhere(acme: Instance, globex: Instance, document: Any) -> None:
    told = globex.post("/bundles/upload?dry_run=true", document, 200)["report"]
    assert (told["trust"], told["reset"], globex.get("/branches")["results"][0]["name"]) == (
        "unknown_signature",
        2,
        "main",
    )
    globex.post("/bundles/upload?import=true", document)
    assert globex.facts("bundle/clocks/v1") == {CLOCK: "unverified", CAUSE: "unverified"}
    code, problem = globex.send("POST", "/bundles/upload?branch=main&require_trusted=true", document)
    assert (code, problem["field"]) == (409, "signature")
    key = acme.get("/signing-key")["public_key"]
    globex.post("/trusted-keys", {"name": "Acme", "public_key": key})
    globex.post("/bundles/upload?branch=main&require_trusted=true", document)
    assert globex.facts("main") == {CLOCK: "verified", CAUSE: "verified"}


def test_two_hundred_megabytes_are_refused(instances: tuple[Instance, Instance]) -> None:
    """Send a body of which the server drops what is over its limit, so that the answer is read."""
    url, key = instances[1].url, instances[1].up.first["key"]
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=TIMEOUT_SECONDS)
    connection.putrequest("POST", "/api/v1/bundles/upload")
    for name, value in (("Authorization", f"Bearer {key}"), ("Content-Type", "application/json")):
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(200 * 1024 * 1024))
    connection.endheaders()
    connection.send(b'{"format": "')
    with suppress(OSError):  # it may close before all was sent
        for _ in range(200):
            connection.send(b"x" * (1024 * 1024))
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())["code"]) == (413, "too_large")
    connection.close()
