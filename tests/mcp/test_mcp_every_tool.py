"""Every tool through the official client over standard input and output, in one scenario."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from mcp import Client, StdioServerParameters

from day1site.mcp.call_context import Caller
from day1site.mcp.dispatch import NEXT_STEPS, ToolRefusal, run
from day1site.mcp.tools import ALL
from memory.actors import local_actor
from memory.answers.problems import AWAY, BROKEN, BUSY, LOST
from memory.db.errors import CommitLost, DatabaseAway, StorageRefused
from memory.models import Fact, Project
from tests import databases
from tests.mcp.conftest import read_data
from tests.mcp.test_mcp_stdio import command, environment


async def day(client: Client) -> dict[str, Any]:
    """Run the scenario; return each tool's result by name."""
    said: dict[str, Any] = {}

    async def call(tool: str, **given: Any) -> Any:
        answer = await client.call_tool(tool, given)
        assert not answer.is_error, (tool, answer.content)
        said[tool] = read_data(answer)
        return said[tool]

    fact = (await call("memory_write", fact_text="Deploys run from main.", session_id="s"))["fact"]["id"]
    await call("log_message", role="user", content="How do we deploy?", session_id="s")
    await call("memory_remember", messages=["I live in Berlin."], session_id="s")
    talk = (await call("conversation_get"))["conversations"][0]["id"]
    fork = (await call("conversation_fork", conversation_id=talk))["conversation"]["id"]
    await call("conversation_compare", first=talk, second=fork)
    await call("conversation_score", conversation_id=talk)
    await call("record_delete", kind="conversation", id=fork)
    assert (await call("record_delete", kind="conversation", id=fork, restore=True))["deleted"] is False
    replay = (await call("replay_create", conversation_id=talk))["replay"]["id"]
    await call("replay_update", replay_id=replay, do="complete")
    await call("replay_get", replay_id=replay, context=True)
    place = {"namespace": "users/ada", "key": "theme"}
    await call("item_put", **place, value={"color": "dark"})
    assert (await call("item_get", **place))["item"]["value"] == {"color": "dark"}
    assert [row["key"] for row in (await call("item_list", prefix="users"))["items"]] == ["theme"]
    await call("item_delete", **place)
    await call("memory_search", query="deploys")
    await call("memory_explain", query="deploys", fact_id=fact)
    await call("memory_update", fact_id=fact, category="decision")
    await call("verify_fact", fact_id=fact, verdict="verified", reason="seen")
    snapshot = await call("snapshot_create", name="before")
    await call("branch_create", name="task/tags")
    await call("branch_switch", name="task/tags")
    await call("task_create", name="Tidy up", objectives=["Look."])
    await call("task_join", task="tidy-up", agent_id="ada")
    await call("task_update", task="tidy-up", complete="part", agent_id="ada")
    handed = await call("handoff_create", source_branch="task/tags", instructions="Go on.")
    await call("handoff_get", handoff_id=handed["handoff"]["id"])
    await call("memory_supersede", fact_id=fact, new_fact_text="Deploys run from tags.", branch="task/tags")
    await call("branch_diff", name="task/tags")
    await call("branch_merge", name="task/tags")
    await call("branch_list")
    await call("memory_get", fact_ids=[fact])
    await call("memory_context", session_id="s")
    await call("memory_timeline")
    await call("memory_graph_query", entity="main")
    await call("snapshot_restore", snapshot_id=snapshot["snapshot_id"], dry_run=True)
    return said | {"names": {tool.name for tool in (await client.list_tools()).tools}}


@pytest.mark.slow
def test_every_tool_answers_over_stdio(tmp_path: Path) -> None:
    words = command("--profile", "all", "--data-dir", str(tmp_path / "data"))
    env = environment(**databases.of(tmp_path / "data"))
    parameters = StdioServerParameters(command=sys.executable, args=words, env=env)

    async def told() -> dict[str, Any]:
        async with Client(parameters, mode="auto") as client:
            return await day(client)

    said = asyncio.run(told())
    assert said.keys() - {"names"} == said["names"]
    assert said["memory_get"]["facts"][0]["category"] == "decision"
    assert said["memory_get"]["facts"][0]["verification_status"] == "verified"
    assert said["memory_search"]["results"][0]["id"] == said["memory_write"]["fact"]["id"]
    assert said["branch_switch"]["branch"] == "task/tags"
    assert {said[tool]["branch"] for tool in ("memory_supersede", "memory_write")} == {"task/tags", "main"}


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (DatabaseAway(2003), f"unavailable: {AWAY[2]} {NEXT_STEPS['unavailable']}"),
        (OperationalError("database is locked"), f"unavailable: {BUSY[2]} {NEXT_STEPS['unavailable']}"),
        (CommitLost(), f"outcome_unknown: {LOST[2]} {NEXT_STEPS['outcome_unknown']}"),
        (StorageRefused(), f"unavailable: {StorageRefused().text} Tell the people who run the server."),
        (OperationalError("a secret"), f"error: {BROKEN[2]}"),
    ],
)
def test_a_fault_of_the_database_is_told_as_over_rest(project: Project, error: Exception, told: str) -> None:
    def fail(*_: Any) -> Any:
        raise error

    caller = Caller(local_actor(project.pk))
    with connection.execute_wrapper(fail), pytest.raises(ToolRefusal) as refusal:
        run(ALL["memory_write"], caller, {"fact_text": "Retries are capped at five."})
    assert str(refusal.value) == told
    assert not Fact.objects.all_versions().exists()
