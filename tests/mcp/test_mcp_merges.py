"""The tool that merges branches."""

from typing import Any

import pytest

from memory.models import Project
from tests.mcp.conftest import Agent, agent_for

TASK = "task/tokens"


@pytest.fixture
def learned(agent: Agent) -> str:
    agent.call("branch_create", name=TASK)
    fact = agent.call("memory_write", fact_text="Tokens live for an hour.", branch=TASK)["fact"]["id"]
    agent.call("verify_fact", fact_id=fact, verdict="verified", reason="Read.", branch=TASK)
    return fact


@pytest.fixture
def conflict(agent: Agent) -> str:
    fact = agent.call("memory_write", fact_text="Tokens live for a day.")["fact"]["id"]
    agent.call("branch_create", name=TASK)
    for branch, text in (("main", "Two days."), (TASK, "An hour.")):
        agent.call("memory_update", fact_id=fact, fact_text=text, branch=branch)
        agent.call("verify_fact", fact_id=fact, verdict="verified", reason="Read.", branch=branch)
    return fact


def texts(agent: Agent, *ids: str) -> list[str]:
    return [fact["fact_text"] for fact in agent.call("memory_get", fact_ids=list(ids))["facts"]]


def test_the_plan_comes_first_and_changes_nothing(agent: Agent, learned: str) -> None:
    plan = agent.call("branch_merge", name=TASK)
    assert (plan["dry_run"], plan["into"], plan["branch"], plan["commit"]) == (True, "main", TASK, None)
    assert plan["mergeable"] is True
    assert plan["counts"]["fact"] == {"applied": 1}
    assert [(row["id"], row["class"], row["source"]) for row in plan["results"] if row["type"] == "fact"] == [
        (learned, "applied", "Tokens live for an hour.")
    ]
    assert plan["next"] == f'branch_merge {{"name": "{TASK}", "into": "main", "dry_run": false}}'
    agent.refused("memory_get", "not_found", fact_ids=[learned])
    merged = agent.call("branch_merge", name=TASK, dry_run=False)
    assert (merged["dry_run"], merged["commit"] is None, merged["open_conflicts"]) == (False, False, 0)
    assert texts(agent, learned) == ["Tokens live for an hour."]


def test_the_branch_in_use_is_merged(agent: Agent, learned: str) -> None:
    work = agent.call("branch_switch", name=TASK)["handle"]
    assert agent.call("branch_merge", work=work)["branch"] == TASK


def test_conflicts_are_decided_with_their_tokens(agent: Agent, conflict: str) -> None:
    plan = agent.call("branch_merge", name=TASK)
    assert plan["mergeable"] is False
    assert plan["next"] == "tell the person which check fails, or decide the conflicts"
    (item,) = [row for row in plan["results"] if row["class"] == "conflict"]
    assert (item["id"], item["source"], item["target"]) == (conflict, "An hour.", "Two days.")
    assert item["conflicting"] == ["fact_text", "essence"]
    agent.refused("branch_merge", "conflict", name=TASK, dry_run=False)
    decision: dict[str, Any] = {"id": conflict, "choice": "source", "token": "old"}
    assert "Decide them again" in agent.refused(
        "branch_merge", "conflict", name=TASK, dry_run=False, decisions=[decision]
    )
    decision["token"] = item["token"]
    agent.call("branch_merge", name=TASK, dry_run=False, decisions=[decision])
    assert texts(agent, conflict) == ["An hour."]


def test_a_failing_check_is_told(agent: Agent, learned: str) -> None:
    agent.call("memory_write", fact_text="A guess.", branch=TASK)
    plan = agent.call("branch_merge", name=TASK)
    (failed,) = [check for check in plan["checks"] if check["state"] == "failed"]
    assert failed["name"] == "require_verified"
    text = agent.refused("branch_merge", "conflict", name=TASK, dry_run=False)
    assert "refused by require_verified: Unverified facts: 1." in text


def test_refusals(agent: Agent, learned: str, project: Project) -> None:
    agent.refused("branch_merge", "conflict", name=TASK, into=TASK)
    agent.refused("branch_merge", "not_found", name="task/none")
    agent.refused("branch_merge", "invalid", name=TASK, strategy="best")
    curator = agent_for(project, scopes=["curate"])
    assert "branch_merge" not in [tool.name for tool in curator.tools()]
    assert curator.call("branch_merge", name=TASK)["mergeable"] is True
    curator.refused("branch_merge", "scope_missing", name=TASK, dry_run=False)
