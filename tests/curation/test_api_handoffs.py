"""/handoffs over REST: create, list, read, accept, reject, and what is refused."""

from typing import Any

import pytest

from curation.models import Handoff
from memory.models import Project
from tests.memory.api.client import Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
ADA, BOB = "task/login/ada", "task/login/bob"
HANDOFF = {"source_branch": ADA, "target_branch": BOB, "instructions": "Mend the clock."}


@pytest.fixture
def stranger(other_project: Project) -> Api:
    """Return a client with all rights in another project."""
    return api_for(other_project)


@pytest.fixture
def handoff(api: Api) -> dict[str, Any]:
    for name in (ADA, BOB):
        assert api.post("/branches", {"name": name}).status_code == 201
    fact = api.fact("The clock is two minutes ahead.", branch=ADA)
    api.post(f"/facts/{fact['id']}/verify", {"branch": ADA, "verdict": "verified", "reason": "seen"})
    answer = api.post("/handoffs", HANDOFF)
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_handoff_is_made_read_and_listed(api: Api, handoff: dict[str, Any]) -> None:
    assert handoff["handoff_id"] == handoff["id"]
    assert (handoff["source_branch"], handoff["target_branch"], handoff["state"]) == (ADA, BOB, "pending")
    assert (handoff["verification_status"], handoff["fact_count"]) == ("verified", 1)
    assert handoff["facts"][0]["fact_text"] == "The clock is two minutes ahead."
    assert (handoff["completeness"], handoff["missing"]) == (0.8, ["conversations"])
    assert api.get(f"/handoffs/{handoff['id']}").json() == handoff
    (row,) = api.get("/handoffs?state=pending").json()["results"]
    packet = {"facts", "conversations", "handoff_id", "blockers"}
    assert row == {name: value for name, value in handoff.items() if name not in packet - {"blockers"}}
    assert api.get("/handoffs?state=accepted").json()["results"] == []
    assert api.get(f"/handoffs?target_branch={ADA}").json()["results"] == []


def test_it_is_accepted_or_rejected_once(api: Api, handoff: dict[str, Any]) -> None:
    path = f"/handoffs/{handoff['id']}"
    with nothing_left():
        refused(api.post(f"{path}/reject"), 400, "invalid", "reason")
    done = api.post(f"{path}/accept", {"agent_id": "bob"})
    assert (done.status_code, done.json()["state"]) == (200, "accepted")
    assert done.json()["facts"] == handoff["facts"]
    with nothing_left():
        refused(api.post(f"{path}/accept"), 409, "illegal_transition")
        refused(api.post(f"{path}/reject", {"reason": "Late."}), 409, "illegal_transition")
    other = api.post("/handoffs", HANDOFF).json()
    done = api.post(f"/handoffs/{other['id']}/reject", {"reason": "The cause is unknown."})
    assert (done.json()["state"], done.json()["reason"]) == ("rejected", "The cause is unknown.")


def test_a_request_that_is_sent_twice_is_done_once(api: Api, handoff: dict[str, Any]) -> None:
    made = [api.post("/handoffs", HANDOFF, Idempotency_Key="k").json()["id"] for _ in range(2)]
    assert made[0] == made[1]
    path = f"/handoffs/{made[0]}/accept"
    done = [api.post(path, Idempotency_Key="a").status_code for _ in range(2)]
    assert (done, Handoff.objects.count()) == ([200, 200], 2)


def test_a_session_is_named_in_the_body(api: Api, handoff: dict[str, Any]) -> None:
    api.post("/sessions", {"session_id": "s1", "branch": ADA})
    stated = {"session_id": "s1", "agent_id": "ada"}
    refused(api.post("/handoffs", stated), 400, "invalid", "instructions")
    made = api.post("/handoffs", {**stated, "instructions": "Go on."}).json()
    assert (made["session_id"], made["agent_id"], made["source_branch"]) == ("s1", "ada", ADA)
    with nothing_left():
        refused(api.post("/handoffs", {"session_id": "nobody"}), 404, "not_found")
