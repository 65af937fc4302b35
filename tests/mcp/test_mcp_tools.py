"""Every tool through the official client: its result, and its effect on the store."""

import re
from pathlib import Path
from typing import Any

import pytest

from day1site.mcp import schemas
from day1site.mcp.server import INSTRUCTIONS
from day1site.mcp.tools import ALL
from day1site.mcp.tools.base import TOOLS
from day1site.mcp_profiles import CONNECTOR_TOOLS, MORE_TOOL
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.models import AuditEntry, Commit, Fact, Project
from memory.ranking import count_tokens
from tests.mcp.conftest import URL, Agent, agent_for, read_data
from tests.mcp.test_mcp_http import ask

READ = [
    "memory_search",
    "memory_get",
    "memory_context",
    "memory_timeline",
    "memory_graph_query",
    "memory_explain",
    "branch_list",
    "branch_switch",
    "handoff_get",
    "item_get",
    "item_list",
    "conversation_get",
    "conversation_compare",
    "replay_get",
]


# ---- lists -------------------------------------------------------------------------------------------


def test_no_tool_is_forgotten_in_the_order() -> None:
    assert set(ALL) == set(TOOLS)


@pytest.mark.parametrize("name", ALL)
def test_a_tool_is_told_as_clients_want_it(name: str) -> None:
    one = ALL[name]
    assert len(name) <= 30
    assert len(one.about) < 2048
    for of in (one.input, one.output):
        assert of["type"] == "object"
        assert of["additionalProperties"] is False
        assert set(of.get("required", ())) <= set(of["properties"])
    assert all(field.get("description") for field in one.input["properties"].values())
    assert {"branch", "work"} <= set(one.input["properties"])
    assert ("idempotency_key" in one.input["properties"]) == one.writes
    assert {"branch", "next"} <= set(one.output["properties"])


OF_ROWS = {"history", "replaced_by", "length", "next_offset"}
OPTIONAL = {"job", "cut", "redacted", "redacted_fields", "left_out", "repository"}  # of answers


@pytest.mark.parametrize("name", ALL)
def test_a_schema_says_what_every_answer_has(name: str) -> None:
    """Clients refuse an answer without a required field: the calls of the other tests prove the lists."""
    schema = ALL[name].output
    assert set(schema["properties"]) - set(schema["required"]) <= OPTIONAL
    for part in list_objects(schema):
        assert set(part["properties"]) - set(part["required"]) <= OPTIONAL | OF_ROWS, part


def list_objects(schema: Any) -> list[dict[str, Any]]:
    """Return every object with named fields in a schema."""
    if isinstance(schema, list):
        return [part for one in schema for part in list_objects(one)]
    if not isinstance(schema, dict):
        return []
    below = [part for one in schema.values() for part in list_objects(one)]
    return [schema, *below] if isinstance(schema.get("properties"), dict) else below


def test_the_guide_has_every_tool_with_its_scope() -> None:
    guide = (Path(__file__).parent.parent.parent / "docs" / "mcp.md").read_text()
    told = re.findall(r"^\| `(\w+)` \| .* \| `(\w+)` \|$", guide, re.MULTILINE)
    assert told == [(name, one.scope) for name, one in ALL.items()]


WHOLE = [name for name in ALL if name not in (MORE_TOOL, *CONNECTOR_TOOLS)]


def test_the_instructions_fit_every_client() -> None:
    assert len(INSTRUCTIONS) < 2048


def test_the_list_depends_on_the_key_alone(agent: Agent, viewer: Agent) -> None:
    agent, viewer = agent.at(f"{URL}?profile=all"), viewer.at(f"{URL}?profile=all")
    told = agent.tools()
    assert [tool.name for tool in told] == WHOLE
    assert agent.at(agent.url, mode="legacy").tools() == told
    assert [tool.name for tool in viewer.tools()] == READ
    for tool in told:
        given = tool.annotations.model_dump(exclude_none=True)
        assert given.keys() == {
            "title",
            "read_only_hint",
            "destructive_hint",
            "idempotent_hint",
            "open_world_hint",
        }
        assert given["open_world_hint"] is False
        assert given["read_only_hint"] is (not ALL[tool.name].writes)


def test_a_connection_may_list_the_tools_of_memory_alone(agent: Agent, viewer: Agent) -> None:
    memory = [name for name in ALL if name.startswith("memory_")]
    for lean in (agent.at(f"{URL}?profile=memory"), agent.at(Day1_Profile="memory")):
        told = lean.tools()
        assert [tool.name for tool in told] == memory
        assert lean.at(lean.url, mode="legacy", **lean.headers).tools() == told
    both = agent.at(f"{URL}?branch=main&profile=all", Day1_Profile="memory")
    assert [tool.name for tool in both.tools()] == WHOLE
    assert [tool.name for tool in viewer.at(f"{URL}?profile=memory").tools()] == [
        *(name for name in READ if name in memory),
        MORE_TOOL,
    ]
    assert agent.at(f"{URL}?profile=memory").call("branch_list")["branch"] == "main"  # it only lists less


def test_a_profile_that_is_none_is_refused(agent: Agent) -> None:
    answer = ask(url=f"{URL}?profile=small", Authorization=f"Bearer {agent.token}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["detail"] == "profile must be one of all, chatgpt, core, memory."


# ---- facts -------------------------------------------------------------------------------------------


def test_a_fact_is_written_found_read_corrected_and_replaced(agent: Agent, project: Project) -> None:
    made = agent.call(
        "memory_write",
        fact_text="Deploys run from main.",
        category="decision",
        tags=["ops"],
        session_id="s-1",
    )
    uid = made["fact"]["id"]
    told = {
        "essence": "Deploys run from main.",
        "category": "decision",
        "version": 1,
        "parent_id": None,
        "status": "active",
        "verification_status": "unverified",
        "id": uid,
    }
    assert (made["created"], made["branch"], made["fact"]) == (True, "main", told)
    assert agent.call("memory_write", fact_text="Deploys run from  main.")["created"] is False

    found = agent.call("memory_search", query="where do deploys run from?", category=["decision"])
    fact = Fact.objects.all_versions().get(uid=uid)
    date = fact.created_at.date().isoformat()
    line = {"id": uid, "line": "Deploys run from main.", "date": date, "status": "active, unverified"}
    assert (found["count"], found["results"], found["branch"]) == (1, [line], "main")
    assert found["next"] == f'memory_get {{"fact_ids": ["{uid}"], "branch": "main"}}'
    assert agent.call("memory_search", query="deploys", tags=["web"])["results"] == []

    agent.call("memory_update", fact_id=uid, confidence=0.9, expected_version=1)
    (read,) = agent.call("memory_get", fact_ids=[uid], history=True)["facts"]
    assert (read["version"], read["confidence"], read["fact_text"]) == (2, 0.9, "Deploys run from main.")
    assert (read["session_id"], read["tags"]) == ("s-1", ["ops"])
    assert [one["version"] for one in read["history"]] == [2, 1]

    judged = agent.call("verify_fact", fact_id=uid, verdict="verified", reason="Read in the pipeline.")
    assert judged["fact"]["verification_status"] == "verified"

    new = agent.call("memory_supersede", fact_id=uid, new_fact_text="Deploys run from tags.")["fact"]
    assert (new["parent_id"], new["category"]) == (uid, "decision")
    why = agent.call("memory_explain", query="deploys main", fact_id=uid)
    assert (why["found"], why["reason"]) == (False, "superseded")
    assert why["next"] == 'memory_search with "include": ["superseded"]'
    again = agent.call("memory_search", query="deploys", include=["superseded"])
    assert {one["id"] for one in again["results"]} == {uid, new["id"]}
    surfaces = set(Commit.objects.filter(branch__project=project).values_list("surface", flat=True))
    assert surfaces == {"mcp"}
    assert AuditEntry.objects.filter(project=project, surface="mcp", action="fact.supersede").count() == 1


def test_a_fact_is_replaced_by_the_one_that_says_so_already(agent: Agent) -> None:
    old = agent.call("memory_write", fact_text="Deploys run from main.")["fact"]["id"]
    same = agent.call("memory_write", fact_text="Deploys run from tags.", tags=["ops"])["fact"]["id"]
    told = agent.call("memory_supersede", fact_id=old, new_fact_text="deploys run  from tags.", tags=["web"])
    assert (told["created"], told["fact"]["id"], told["fact"]["parent_id"]) == (False, same, old)
    assert told["fact"]["essence"] == "Deploys run from tags."
    (read,) = agent.call("memory_get", fact_ids=[same])["facts"]
    assert (read["tags"], read["status"]) == (["ops"], "active")
    assert agent.call("memory_get", fact_ids=[old])["facts"][0]["status"] == "superseded"
    assert [row["id"] for row in agent.call("memory_search", query="deploys")["results"]] == [same]


def test_the_writer_is_told_of_secrets(agent: Agent) -> None:
    made = agent.call("memory_write", fact_text="The login is https://me:hunter2@example.com/a", tags=["ops"])
    assert made["fact"]["essence"] == "The login is https://me:[redacted: password]@example.com/a"
    assert made["redacted"] == 1
    assert "redacted" not in agent.call("memory_write", fact_text="The login is on page 2.")


def test_what_is_not_stored_is_said_plainly(agent: Agent) -> None:
    found = agent.call("memory_search", query="anything")
    assert (found["count"], found["results"]) == (0, [])
    assert found["note"] == "Nothing is known here on this. Do not guess what memory might say."


def test_an_index_keeps_to_its_budget(agent: Agent) -> None:
    async def write(client: Any) -> Any:
        for number in range(40):
            text = f"Rule {number} of the deploys: " + "x7 " * 60
            await client.call_tool("memory_write", {"fact_text": text})
        return await client.call_tool("memory_search", {"query": "rule deploys", "limit": 40})

    answer = agent.run(write)
    found = read_data(answer)
    assert found["count"] == 40
    assert len(found["results"]) + found["left_out"] == 40
    assert len(found["results"]) >= 5
    assert count_tokens(answer.content[0].text) <= 1500


def test_ids_cost_more_than_words() -> None:
    assert schemas.cost("01a201eb-d97f-779a-817a-8738892a9b57") > schemas.cost(
        "a plain sentence of the same size."
    )


def test_a_key_that_may_propose_writes_proposals(project: Project, threads_closed: None) -> None:
    proposer = agent_for(project, scopes=["propose"])
    assert proposer.call("memory_write", fact_text="One.")["fact"]["status"] == "created"
    assert "memory_write" in [tool.name for tool in proposer.tools()]
    proposer.refused("memory_write", "scope_missing", fact_text="Two.", propose=False)


def test_a_call_with_the_same_key_is_done_once(agent: Agent, project: Project) -> None:
    def once(text: str) -> dict[str, Any]:
        return agent.call("memory_write", fact_text=text, deduplicate=False, idempotency_key="k1")

    assert once("One.") == once("One.")
    assert Fact.objects.all_versions().filter(branch__project=project).count() == 1
    agent.refused("memory_write", "conflict", fact_text="Other.", deduplicate=False, idempotency_key="k1")


# ---- sessions, relations, messages -------------------------------------------------------------------


def test_a_session_is_logged_and_told(agent: Agent) -> None:
    first = agent.call("log_message", role="user", content="Why does login fail?", session_id="run/1")
    second = agent.call("log_message", role="assistant", content="The clock.", session_id="run/1")
    assert (first["sequence_num"], second["sequence_num"]) == (1, 2)
    assert first["conversation_id"] == second["conversation_id"]
    agent.call("memory_write", fact_text="The clock was wrong.", session_id="run/1")
    told = agent.call("memory_context")
    assert told["session"]["id"] == "run/1"
    assert [one["content"] for one in told["messages"]] == ["Why does login fail?", "The clock."]
    assert [one["line"] for one in told["facts"]] == ["The clock was wrong."]
    assert agent.call("memory_context", session_id="run/1") == told
    agent.refused("log_message", "invalid", role="user", content="x")


def test_the_session_before_is_told_while_the_next_one_runs(agent: Agent, actor: Any) -> None:
    sessions = SessionManager()
    sessions.create_session(session_id="first", actor=actor)
    sessions.end_session(session_id="first", actor=actor, summary="The clock was wrong.")
    sessions.create_session(session_id="second", actor=actor)
    told = agent.call("memory_context")
    assert (told["session"]["id"], told["summary"]) == ("first", "The clock was wrong.")


def test_nothing_has_happened_yet(agent: Agent) -> None:
    told = agent.call("memory_context")
    assert (told["session"], told["facts"], told["newest_facts"]) == (None, [], [])
    assert agent.call("memory_timeline")["results"] == []
    graph = agent.call("memory_graph_query", entity="Redis")
    assert (graph["nodes"], graph["edges"]) == ([{"entity": "Redis", "distance": 0}], [])


def test_the_timeline_and_the_graph(agent: Agent, actor: Any) -> None:
    ObservationEngine().write_observation(
        actor=actor, session_id="s", tool_name="Bash", raw_input={"command": "make"}, raw_output="Exit code 2"
    )
    (row,) = agent.call("memory_timeline", outcome=["error"])["results"]
    assert (row["tool_name"], row["observation_type"], row["session_id"]) == ("Bash", "error", "s")
    for target in ("Redis", "MySQL"):
        RelationEngine().write_relation(
            actor=actor, source_entity="API", relation_type="uses", target_entity=target
        )
    graph = agent.call("memory_graph_query", entity="redis", depth=2, limit=1)
    assert (graph["entity"], graph["truncated"]) == ("Redis", True)
    assert {node["entity"]: node["distance"] for node in graph["nodes"]} == {"Redis": 0, "API": 1}
    agent.refused("memory_graph_query", "invalid", entity="Redis", depth=50)


def test_a_search_says_that_nothing_is_known(agent: Agent) -> None:
    agent.call("memory_write", fact_text="Deploys run from main.")
    found = agent.call("memory_search", query="deploys")
    assert found["known"] is True
    assert found["note"].startswith("Stored records")
    Project.objects.update(least_evidence=1.0)
    poor = agent.call("memory_search", query="deploys")
    assert (poor["count"], poor["known"], poor["evidence"]) == (1, False, found["evidence"])
    nearest = "Nothing is known here on this; nearest: “Deploys run from main.”"
    assert poor["note"] == f"{nearest} Do not guess what memory might say."
    assert agent.call("memory_search", query="penguins", category=["other"])["note"].startswith(
        "Nothing is known here on this. Do not"
    )
