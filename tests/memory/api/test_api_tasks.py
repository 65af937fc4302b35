"""/tasks: create, list, read, join, objectives, complete, cancel, context, and what is refused."""

from typing import Any

import pytest

from memory.models import AgentTask, TaskAgent
from tests.memory.api.client import Api, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
TASK = {"name": "Fix the login", "objectives": ["Find the cause.", "Mend it."], "task_type": "bug_fix"}


@pytest.fixture
def task(api: Api) -> dict[str, Any]:
    answer = api.post("/tasks", TASK)
    assert answer.status_code == 201, answer.content
    return answer.json()


def test_a_request_that_is_sent_twice_is_done_once(api: Api) -> None:
    made = [api.post("/tasks", TASK, Idempotency_Key="k").json()["id"] for _ in range(2)]
    assert made[0] == made[1]
    join = [api.post("/tasks/fix-the-login/join", {"agent_id": "a/b"}, Idempotency_Key="j") for _ in range(2)]
    assert [one.status_code for one in join] == [201, 201]
    assert [bool(one.json()["work"]) for one in join] == [True, False]  # a handle is told once
    done = [api.post("/tasks/fix-the-login/agents/a%2Fb/complete", Idempotency_Key="c") for _ in range(2)]
    assert [one.status_code for one in done] == [200, 200]
    assert done[0].json() == done[1].json()
    ends = [api.post("/tasks/fix-the-login/complete", Idempotency_Key="e").json() for _ in range(2)]
    assert ends[0] == ends[1]
    assert (AgentTask.objects.count(), TaskAgent.objects.count()) == (1, 1)


def test_names_and_notes_have_a_length(api: Api, task: Any) -> None:
    with nothing_left():
        joined = api.post("/tasks/fix-the-login/join", {"agent_id": "x" * 201})
        refused(joined, 400, "invalid", "agent_id")
        noted = api.patch("/tasks/fix-the-login/objectives/1", {"note": "x" * 1001})
        refused(noted, 400, "invalid", "note")


def test_what_is_over_stays_over(api: Api, task: dict[str, Any]) -> None:
    api.post("/tasks/fix-the-login/join", {"agent_id": "ada"})
    api.post("/tasks/fix-the-login/agents/ada/complete")
    with nothing_left():
        refused(api.post("/tasks/fix-the-login/agents/ada/complete"), 409, "illegal_transition")
    api.post("/tasks/fix-the-login/complete")
    with nothing_left():
        for path, body in (
            ("complete", None),
            ("cancel", None),
            ("join", {"agent_id": "bob"}),
            ("agents/ada/complete", None),
        ):
            refused(api.post(f"/tasks/fix-the-login/{path}", body), 409, "illegal_transition")
        step = {"state": "active"}
        refused(api.patch("/tasks/fix-the-login/objectives/1", step), 409, "illegal_transition")
