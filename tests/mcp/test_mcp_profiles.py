"""What a connection lists: what it weighs, what a day of work needs, and how the rest is reached."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from day1site.mcp.server import INSTRUCTIONS
from day1site.mcp.tools import ALL
from day1site.mcp_profiles import CORE_TOOLS, MORE_TOOL
from memory.models import AuditEntry, Branch, Project
from tests.mcp.conftest import URL, Agent, agent_for, read_data

DAY = json.loads((Path(__file__).parent / "day.json").read_text())
MOST_TOKENS = 3000
PREFIX = "mcp__day1__"  # of a tool's name in Claude Code


def count_tokens(value: Any) -> int:
    """Count four characters as one token: o200k counts 2 % fewer for these schemas, see docs/mcp.md."""
    return len(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) // 4


def test_the_list_costs_little(agent: Agent) -> None:
    listed = agent.tools()
    assert [tool.name for tool in listed] == [name for name in ALL if name in CORE_TOOLS]
    assert 8 <= len(listed) <= 10
    assert count_tokens([tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]) <= MOST_TOKENS
    sent = [
        {"name": PREFIX + tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in listed
    ]
    assert count_tokens(sent) + count_tokens(INSTRUCTIONS) <= MOST_TOKENS
    about = Counter(
        (name, field["description"])
        for tool in listed
        for name, field in tool.input_schema["properties"].items()
        if "description" in field
    )
    assert [key for key, times in about.items() if times > 1] == []
    assert all(tool.output_schema is None for tool in listed)


def fill(value: Any, known: dict[str, str]) -> Any:
    """Return arguments with what earlier calls gave in the place of $name."""
    text = json.dumps(value)
    for name, found in known.items():
        text = text.replace(f"${name}", found)
    return json.loads(text)


@pytest.mark.slow
def test_a_day_of_work_needs_no_other_tool(agent: Agent) -> None:
    async def work(client: Any) -> None:
        known: dict[str, str] = {}
        for row in DAY:
            data = read_data(await client.call_tool(row["tool"], fill(row["with"], known)))
            for name, place in row.get("keep", {}).items():
                found = data
                for part in place.split("."):
                    found = found[part]
                known[name] = str(found)

    agent.run(work)
    assert {row["tool"] for row in DAY} == set(CORE_TOOLS)
    others = sum(row["tool"] == MORE_TOOL for row in DAY)
    assert others / len(DAY) <= 0.05
    found = agent.call("memory_search", query="invoices", tags="tests")["results"]
    assert "The test of the invoices passes at any hour." in [row["line"] for row in found]


def test_every_tool_is_listed_or_run_by_more(agent: Agent, viewer: Agent) -> None:
    for key in (agent, viewer):
        every = {tool.name for tool in key.at(f"{URL}?profile=all").tools()}
        for profile in ("", "?profile=memory"):
            listed = {tool.name: tool for tool in key.at(f"{URL}{profile}").tools()}
            enum = listed.pop(MORE_TOOL).input_schema["properties"]["tool"]["enum"]
            assert every == {*listed, *enum}
            assert not listed.keys() & set(enum)
            more = key.at(f"{URL}{profile}").call(MORE_TOOL)["tools"]
            assert [row["tool"] for row in more] == enum


def test_more_describes_a_tool_and_runs_it(agent: Agent, project: Project) -> None:
    (told,) = agent.call(MORE_TOOL, tool="branch_create")["tools"]
    tool = ALL["branch_create"]
    assert told == {"tool": tool.name, "does": tool.about, "takes": tool.input, "gives": tool.output}
    arguments = {"name": "task/a", "idempotency_key": "k"}
    made = agent.call_more("branch_create", **arguments)
    assert made["created"]["name"] == "task/a"
    assert agent.call("branch_create", **arguments) == made  # the same call
    assert AuditEntry.objects.filter(project=project, surface="mcp", action="branch.create").count() == 1
    names = {row["name"] for row in agent.call_more("branch_list")["branches"]}
    assert names == {"main", "task/a"}
    for odd in ({"arguments": '{"name": "task/b"}'}, {"name": "task/c"}, {"arguments": {}, "name": "task/d"}):
        data = agent.run(
            lambda client, odd=odd: client.call_tool(MORE_TOOL, {"tool": "mcp__day1__branch_create", **odd})
        )
        assert read_data(data)["created"]["name"].startswith("task/")
    assert agent.refused(MORE_TOOL, "invalid", tool="branch_destroy", arguments={}) == (
        "invalid: There is no tool named branch_destroy. Correct the argument and call again."
    )
    assert agent.refused(MORE_TOOL, "unknown_field", tool="branch_list", arguments={"colour": 1})


@pytest.mark.parametrize("profile", ["core", "all"])
def test_more_gives_no_rights(profile: str, agent: Agent, viewer: Agent, project: Project) -> None:
    """Whatever a connection lists, a call through it is refused as the call by name is."""
    fact = agent.call("memory_write", fact_text="One.")["fact"]["id"]
    bound = agent_for(project, scopes=["write"], branch_patterns=["task/*"])
    calls: list[tuple[Agent, str, dict[str, Any]]] = [
        (viewer, "memory_write", {"fact_text": "Two."}),
        (viewer, "branch_create", {"name": "task/x"}),
        (viewer, "branch_merge", {"name": "main", "into": "main", "dry_run": False}),
        (viewer, "verify_fact", {"fact_id": fact, "verdict": "verified"}),
        (viewer, "snapshot_create", {"name": "x"}),
        (bound, "memory_write", {"fact_text": "Two.", "branch": "main"}),
        (bound, "snapshot_create", {"name": "x", "branch": "main"}),
    ]
    for key, tool, arguments in calls:
        at = key.at(f"{URL}?profile={profile}")
        named = at.run(lambda client, a=(tool, arguments): client.call_tool(*a))
        through = at.run(
            lambda client, a={"tool": tool, "arguments": arguments}: client.call_tool(MORE_TOOL, a)
        )
        assert (named.is_error, through.is_error) == (True, True)
        assert named.content[0].text == through.content[0].text
        assert named.content[0].text.split(":")[0] in ("scope_missing", "branch_forbidden")
    assert set(Branch.objects.filter(project=project).values_list("name", flat=True)) == {"main"}
    assert agent.call("memory_search", query="two")["results"] == []


def test_a_client_that_knows_the_whole_list_calls_by_name(agent: Agent) -> None:
    """Its list is of before: names and arguments are those of then."""
    uid = agent.call("memory_write", fact_text="One.", session_id="s", priority="P1", propose=False)["fact"][
        "id"
    ]
    made = agent.call("branch_create", name="task/a", parent="main", purpose="")
    assert made["created"]["purpose"] == ""
    handle = agent.call("branch_switch", name="task/a")["handle"]
    assert agent.call("memory_timeline", work=handle)["results"] == []
    assert agent.call("memory_search", query="one", search_type="keyword", min_confidence=0.1)["count"] == 1
    assert (
        agent.call("verify_fact", fact_id=uid, verdict="verified")["fact"]["verification_status"]
        == "verified"
    )


def test_chatgpt_reads_by_its_own_two_tools(agent: Agent, project: Project) -> None:
    at = agent.at(f"{URL}/{project.slug}?profile=chatgpt")
    assert {tool.name for tool in at.tools()} == {*CORE_TOOLS, "search", "fetch"}
    assert not {"search", "fetch"} & {tool.name for tool in agent.at(f"{URL}?profile=all").tools()}
    uid = agent.call("memory_write", fact_text="Deploys run from main.", source="ci")["fact"]["id"]
    hit = {"id": uid, "title": "Deploys run from main.", "url": f"http://localhost/p/test/facts/{uid}"}
    assert at.call("search", query="Where do deploys run from?")["results"] == [hit]
    assert at.call("search", query="zebra")["results"] == []
    found = at.call("fetch", id=uid)
    assert (hit.items() <= found.items(), found["text"]) == (True, "Deploys run from main.")
    assert (found["metadata"]["source"], found["metadata"]["verified"]) == ("ci", "unverified")
    at.refused("fetch", "not_found", id="01890000-0000-7000-8000-000000000000")
