"""Repeated merges over MCP: planned before the locks, done once for one key."""

from typing import Any

import pytest

from day1site.mcp import dispatch
from day1site.mcp.call_context import Caller
from day1site.mcp.tools import ALL
from memory.actors import local_actor
from memory.models import Branch, IdempotencyRecord, Project, TaskObjective
from tests.mcp.conftest import Agent
from tests.memory.api.client import nothing_left
from tests.memory.api.test_api_repeated_merges import refusing_answers, watch_checks

pytestmark = pytest.mark.django_db(transaction=True)
TASK = "task/tokens"


@pytest.fixture
def checks(settings: Any) -> list[bool]:
    return watch_checks(settings)


def test_a_merge(agent: Agent, checks: list[bool]) -> None:
    agent.call("branch_create", name=TASK)
    fact = agent.call("memory_write", fact_text="Tokens live for an hour.", branch=TASK)["fact"]["id"]
    agent.call("verify_fact", fact_id=fact, verdict="verified", reason="Read.", branch=TASK)
    call = {"name": TASK, "dry_run": False, "idempotency_key": "k1"}
    first = agent.call("branch_merge", **call)
    assert (first["commit"] is not None, first["mergeable"], checks) == (True, True, [False])
    with nothing_left():
        assert agent.call("branch_merge", **call) == first
    agent.refused("branch_merge", "conflict", **call, message="Other.")


def test_the_end_of_a_part(agent: Agent, checks: list[bool]) -> None:
    agent.call("task_create", name="Fix", slug="fix")
    agent.call("task_join", task="fix", agent_id="ann")
    agent.call("memory_write", fact_text="Tokens live for an hour.", branch="task/fix/ann")
    call = {"task": "fix", "complete": "part", "agent_id": "ann", "idempotency_key": "k1"}
    first = agent.call("task_update", **call)
    assert first["task"]["agents"][0]["state"] == "completed"
    head = Branch.objects.get(name="task/fix").head
    with nothing_left():
        assert agent.call("task_update", **call) == first
    assert (head, True in checks) == (Branch.objects.get(name="task/fix").head, False)


def test_a_step_is_stored_with_its_answer_or_not_at_all(project: Project, main: Branch) -> None:
    caller = Caller(local_actor(project.pk))

    def call(tool: str, **arguments: Any) -> Any:
        return dispatch.run(ALL[tool], caller, arguments)

    call("task_create", name="Fix", slug="fix", objectives=["Look."])
    step = {"task": "fix", "objective": 1, "state": "active", "agent_id": "ann", "idempotency_key": "k1"}
    with refusing_answers(), pytest.raises(dispatch.ToolRefusal):
        call("task_update", **step)
    assert TaskObjective.objects.get().state == "todo"
    call("task_update", **step)
    assert (TaskObjective.objects.get().state, IdempotencyRecord.objects.count()) == ("active", 1)
    with nothing_left():
        call("task_update", **step)
