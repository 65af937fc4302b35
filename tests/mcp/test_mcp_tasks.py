"""Tasks as tools: made, joined with a work handle, updated, completed; and what is refused."""

from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import AgentTask, Project, TaskAgent
from tests.mcp.conftest import Agent, agent_for


@pytest.fixture
def task(agent: Agent) -> dict[str, Any]:
    return agent.call("task_create", name="Fix the login", objectives=["Find it.", "Mend it."])["task"]


def test_an_agent_makes_a_task_and_works_on_it(agent: Agent, actor: Actor) -> None:
    made = agent.call("task_create", name="Fix the login", objectives=["Find it."], task_type="bug_fix")
    assert (made["branch"], made["suggested_template"]) == ("task/fix-the-login", None)
    assert made["next"] == 'task_join {"task": "fix-the-login"}'
    joined = agent.call("task_join", task="fix-the-login", agent_id="ada")
    work = joined["handle"]
    assert (joined["branch"], joined["idle_hours"]) == ("task/fix-the-login/ada", 24)
    assert joined["joined"]["agents"][0]["agent_id"] == "ada"
    assert joined["next"] == 'task_update {"task": "fix-the-login", "objective": 1, "state": "active"}'
    step = {"task": "fix-the-login", "objective": 1, "agent_id": "ada"}
    begun = agent.call("task_update", **step, state="active")
    assert begun["task"]["objectives"][0]["state"] == "active"
    fact = agent.call(
        "memory_write", fact_text="Clocks differ.", confidence=0.9, category="bug_fix", work=work
    )["fact"]
    assert agent.call("memory_search", query="clocks")["count"] == 0
    agent.call("task_update", **step, state="done", note="It was the clock.")
    again = agent.call("task_join", task="fix-the-login", agent_id="bob")
    assert [line["line"] for line in again["learned"]] == ["Clocks differ."]
    done = agent.call("task_update", task="fix-the-login", complete="part", agent_id="ada")
    assert (done["conflicts"], done["task"]["agents"][0]["state"]) == ([], "completed")
    ended = agent.call("task_update", task="fix-the-login", complete="task", result="Mended.")
    assert (ended["durable"], ended["left"]) == ([fact["id"]], ["bob"])
    assert (ended["task"]["state"], ended["task"]["result"]) == ("completed", "Mended.")
    assert FactEngine().get_fact(fact_id=fact["id"], branch_name="task/fix-the-login", actor=actor)


def test_a_conflict_is_named(agent: Agent, actor: Actor, task: dict[str, Any]) -> None:
    fact = agent.call("memory_write", fact_text="Tokens last an hour.", branch=task["branch"])["fact"]
    for name, text in (("ada", "Tokens last two hours."), ("bob", "Tokens last a day.")):
        work = agent.call("task_join", task=task["slug"], agent_id=name)["handle"]
        agent.call("memory_update", fact_id=fact["id"], fact_text=text, work=work)
    agent.call("task_update", task=task["slug"], complete="part", agent_id="ada")
    told = agent.call("task_update", task=task["slug"], complete="part", agent_id="bob")
    (conflict,) = told["conflicts"]
    assert (conflict["id"], conflict["line"], conflict["branch"]) == (
        fact["id"],
        "Tokens last a day.",
        "task/fix-the-login/bob",
    )
    assert agent.call("task_join", task=task["slug"], agent_id="eve")["conflicts"] == [conflict]


def test_tasks_in_progress_are_listed(agent: Agent, viewer: Agent) -> None:
    empty = agent.call("task_join")
    assert (empty["joined"], empty["tasks"], empty["handle"]) == (None, [], "")
    assert empty["next"].startswith("task_create")
    agent.call("task_create", name="Fix the login", objectives=["Find it."])
    found = agent.call("task_join")
    assert found["tasks"] == [{"slug": "fix-the-login", "name": "Fix the login", "open": 1}]
    assert TaskAgent.objects.count() == 0


def test_joining_again_gives_the_same_branch(agent: Agent, task: dict[str, Any]) -> None:
    found = [agent.call("task_join", task=task["id"], agent_id="ada") for _ in range(2)]
    assert found[0]["branch"] == found[1]["branch"] == "task/fix-the-login/ada"
    assert {agent.call("branch_list", work=one["handle"])["branch"] for one in found} == {found[0]["branch"]}


def test_refusals_say_what_to_do(agent: Agent, project: Project, task: dict[str, Any]) -> None:
    agent.refused("task_create", "exists", name="Fix the login")
    agent.refused("task_create", "invalid", name="x", slug="No Good")
    agent.refused("task_join", "not_found", task="nothing", agent_id="ada")
    agent.refused("task_join", "invalid", task=task["slug"])
    agent.refused("task_update", "invalid", task=task["slug"], state="active")
    agent.refused("task_update", "invalid", task=task["slug"])
    agent.refused("task_update", "illegal_transition", task=task["slug"], objective=1, state="done")
    agent.refused("task_update", "not_found", task=task["slug"], objective=9, state="active")
    agent.refused("task_update", "not_found", task=task["slug"], complete="part", agent_id="ada")
    bound = agent_for(project, agent_id="ada")
    bound.refused("task_join", "scope_missing", task=task["slug"], agent_id="bob")
    assert bound.call("task_join", task=task["slug"])["branch"] == "task/fix-the-login/ada"
    bound.call("task_update", task=task["slug"], complete="part")
    bound.refused("task_update", "illegal_transition", task=task["slug"], complete="part")
    bound.call("task_update", task=task["slug"], complete="task")
    told = agent.refused("task_join", "illegal_transition", task=task["slug"], agent_id="eve")
    assert "memory_get" not in told  # which reads facts
    assert AgentTask.objects.count() == 1
