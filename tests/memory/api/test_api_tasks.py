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


def test_a_task_is_made_and_read(api: Api, task: dict[str, Any]) -> None:
    assert task["suggested_template"] is None
    assert (task["slug"], task["branch"], task["parent"]) == ("fix-the-login", "task/fix-the-login", "main")
    assert (task["state"], task["agents"], task["merge_request_id"]) == ("active", [], None)
    assert task["objectives"][1]["text"] == "Mend it."
    del task["suggested_template"]
    assert api.get(f"/tasks/{task['id']}").json() == task
    assert api.get("/tasks/fix-the-login").json() == task
    assert api.get("/tasks?state=active").json()["results"] == [task]
    assert api.get("/tasks?state=completed").json()["results"] == []
    assert api.get("/tasks?agent_id=ada").json()["results"] == []
    assert api.get("/branches/task%2Ffix-the-login").json()["purpose"] == "Fix the login"


def test_a_task_from_its_start_to_its_end(api: Api, task: dict[str, Any]) -> None:
    joined = api.post("/tasks/fix-the-login/join", {"agent_id": "ada"})
    again = api.post("/tasks/fix-the-login/join", {"agent_id": "ada"})
    assert (joined.status_code, again.status_code) == (201, 200)
    part = joined.json()
    assert (part["created"], again.json()["created"]) == (True, False)
    assert part["work"].startswith("work_")
    assert part["agent"]["branch"] == "task/fix-the-login/ada"
    step = {"state": "active", "agent_id": "ada"}
    done = api.patch("/tasks/fix-the-login/objectives/1", step)
    assert (done.status_code, done.json()["state"], done.json()["agent_id"]) == (200, "active", "ada")
    fact = api.fact("Clocks differ.", branch=part["agent"]["branch"], confidence=0.9, category="bug_fix")
    context = api.get(f"/tasks/{task['id']}/context").json()
    assert [one["id"] for one in context["agents"][0]["facts"]] == [fact["id"]]
    merged = api.post("/tasks/fix-the-login/agents/ada/complete")
    assert merged.status_code == 200
    assert (merged.json()["conflicts"], merged.json()["agent"]["state"]) == ([], "completed")
    assert merged.json()["agent"]["merge_counts"] == {"fact": {"applied": 1}}
    ended = api.post("/tasks/fix-the-login/complete", {"result": "Mended."})
    assert (ended.status_code, ended.json()["durable"], ended.json()["left"]) == (200, [fact["id"]], [])
    assert (ended.json()["task"]["state"], ended.json()["task"]["result"]) == ("completed", "Mended.")
    assert api.get(f"/facts/{fact['id']}").status_code == 404  # main waits for the request


def test_conflicts_are_named_with_how_to_settle_them(api: Api, task: dict[str, Any]) -> None:
    fact = api.fact("Tokens last an hour.", branch=task["branch"])
    for agent, text in (("ada", "Tokens last two hours."), ("bob", "Tokens last a day.")):
        api.post("/tasks/fix-the-login/join", {"agent_id": agent})
        changed = {"fact_text": text, "branch": f"{task['branch']}/{agent}"}
        assert api.patch(f"/facts/{fact['id']}", changed).status_code == 200
    assert api.post("/tasks/fix-the-login/agents/ada/complete").json()["conflicts"] == []
    (conflict,) = api.post("/tasks/fix-the-login/agents/bob/complete").json()["conflicts"]
    assert {name: conflict[name] for name in ("id", "type", "reason", "branch", "into", "line")} == {
        "id": fact["id"],
        "type": "fact",
        "reason": "edited",
        "branch": "task/fix-the-login/bob",
        "into": "task/fix-the-login",
        "line": "Tokens last a day.",
    }
    assert len(conflict["token"]) == 16
    assert api.get("/tasks/fix-the-login/context").json()["conflicts"] == [conflict]
    assert api.post("/tasks/fix-the-login/complete").json()["conflicting"] == ["bob"]


def test_a_cancelled_task(api: Api, task: dict[str, Any]) -> None:
    api.post("/tasks/fix-the-login/join", {"agent_id": "ada"})
    row = api.post("/tasks/fix-the-login/cancel", {"result": "Not needed."}).json()
    assert (row["state"], row["agents"][0]["state"]) == ("cancelled", "left")
    refused(api.post("/facts", {"fact_text": "x", "branch": task["branch"]}), 409, "branch_archived")


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
