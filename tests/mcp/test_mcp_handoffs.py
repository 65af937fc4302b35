"""Handoffs over MCP: made, found, read and answered; and what is refused."""

from typing import Any

import pytest

from tests.mcp.conftest import Agent

ADA, BOB = "task/login/ada", "task/login/bob"


@pytest.fixture
def handoff(agent: Agent) -> dict[str, Any]:
    for name in (ADA, BOB):
        agent.call("branch_create", name=name)
    agent.call("memory_write", fact_text="Clocks differ.", branch=ADA, session_id="s1", agent_id="ada")
    given = {"target_branch": BOB, "session_id": "s1", "agent_id": "ada", "include_unverified": True}
    return agent.call("handoff_create", instructions="Mend the clock.", **given)


def test_a_handoff_is_made_found_read_and_accepted(agent: Agent, handoff: dict[str, Any]) -> None:
    packet = handoff["handoff"]
    uid = packet["handoff_id"]
    assert (handoff["branch"], handoff["next"]) == (BOB, f'handoff_get {{"handoff_id": "{uid}"}}')
    assert (packet["source_branch"], packet["agent_id"], packet["state"]) == (ADA, "ada", "pending")
    assert [fact["fact_text"] for fact in packet["facts"]] == ["Clocks differ."]
    (waiting,) = agent.call("handoff_get", branch=BOB)["waiting"]
    assert waiting["handoff_id"] == uid
    assert waiting["line"].startswith(f"task_continuation from ada on {ADA}: - Clocks differ.")
    assert agent.call("handoff_get", branch=ADA) == {
        "handoff": None,
        "waiting": [],
        "branch": ADA,
        "next": "memory_search",
    }
    read = agent.call("handoff_get", handoff_id=uid)
    assert read["handoff"]["facts"] == packet["facts"]
    assert read["next"] == f'handoff_get {{"handoff_id": "{uid}", "answer": "accept"}}'
    taken = agent.call("handoff_get", handoff_id=uid, answer="accept", agent_id="bob")
    assert (taken["handoff"]["state"], taken["branch"]) == ("accepted", BOB)
    agent.refused("handoff_get", "illegal_transition", handoff_id=uid, answer="reject", reason="Late.")
