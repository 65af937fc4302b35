"""Figures over REST, as CSV, and on the command line."""

import csv
import json
from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Project
from tests.command_line import Day1
from tests.memory.api.client import UNKNOWN, Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def written(settings: Any, actor: Actor, main: Any, say: Any, did: Any) -> None:
    settings.DAY1 = {**settings.DAY1, "embedder": "off"}
    who = actor.with_origin(agent_id="ada", session_id="s1")
    facts = [{"fact_text": "The portcullis opens.", "category": "=1+1"}, {"fact_text": "It shuts."}]
    FactEngine().write_facts(facts=facts, actor=who)
    say("Why is it shut?", role="user")
    did("Bash", "make")


def read_lines(answer: Any) -> list[list[str]]:
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.reader(b"".join(answer.streaming_content).decode().splitlines()))


def test_every_route_answers_figures_and_no_text(api: Api) -> None:
    talk = api.get("/conversations").json()["results"][0]["id"]
    paths = ["overview", "trends", "curation", "sessions/s1", "agents/ada", f"conversations/{talk}"]
    with nothing_left():
        answers = {path: api.get(f"/analytics/{path}") for path in paths}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert b"portcullis" not in b"".join(answer.content for answer in answers.values())
    assert b"shut" not in b"".join(answer.content for answer in answers.values())
    overview = answers["overview"].json()
    assert overview["counts"]["facts"] == 2
    assert overview["consolidation"] == {
        "runs": 0,
        "processed": 0,
        "created": 0,
        "rate": None,
        "healthy": None,
    }
    assert answers["agents/ada"].json()["facts_by_category"] == {"=1+1": 1, "general": 1}
    assert answers["sessions/s1"].json()["tools"] == [{"tool": "Bash", "calls": 1, "failed": 0}]
    assert answers[f"conversations/{talk}"].json()["messages_by_role"]["user"] == 1
    assert len(answers["trends"].json()["points"]) == 30
    assert answers["curation"].json()["junk"]["shares"]["stale"] == 0.0


def test_an_agent_and_a_conversation_of_another_branch(api: Api, project: Project, say: Any) -> None:
    for name in ("task/a", "task/b", "secret/c"):
        api.post("/branches", {"name": name})
    for name, agent in (("task/a", "bob"), ("task/b", "bob"), ("secret/c", "eve")):
        api.post("/facts", {"branch": name, "fact_text": f"On {name}.", "agent_id": agent})
    talk = say("Hello.", branch="secret/c").conversation_id
    found = {agent: api.get(f"/analytics/agents/{agent}").json() for agent in ("ada", "bob", "eve")}
    assert {agent: one["branch"] for agent, one in found.items()} == {
        "ada": "main",
        "bob": "task/b",
        "eve": "secret/c",
    }
    assert found["bob"]["facts"] == 1
    assert api.get("/analytics/agents/bob?branch=task/a").json()["branch"] == "task/a"
    refused(api.get("/analytics/agents/bob?branch=main"), 404, "not_found")
    assert api.get(f"/analytics/conversations/{talk}").json()["branch"] == "secret/c"
    refused(api.get(f"/analytics/conversations/{talk}?branch=task/a"), 404, "not_found")
    bound = api_for(project, scopes=["read"], branch_patterns=["task/*"])
    assert bound.get("/analytics/agents/bob").json()["branch"] == "task/b"
    unknown = refused(bound.get("/analytics/agents/nobody"), 404, "not_found")
    assert refused(bound.get("/analytics/agents/eve"), 404, "not_found") == unknown
    assert refused(bound.get(f"/analytics/conversations/{talk}"), 404, "not_found")


def test_csv_by_name_or_by_what_is_accepted(api: Api) -> None:
    lines = read_lines(api.get("/analytics/trends?days=2&format=csv"))
    assert lines[0] == ["start", "facts", "messages", "conversations", "observations", "recalls", "misses"]
    assert [line[1:4] for line in lines[1:]] == [["0", "0", "0"], ["2", "1", "1"]]
    lines = read_lines(api.get("/analytics/agents/ada", Accept="text/csv"))
    assert lines[0] == ["figure", "of", "value"]
    assert ["facts_by_category", "'=1+1", "1"] in lines
    lines = read_lines(api.get("/analytics/sessions/s1?format=csv"))
    assert ["tools", "Bash.calls", "1"] in lines
    answer = api.get("/analytics/overview", Accept="application/json, text/csv")
    assert answer["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("path", "status", "code", "field"),
    [
        ("overview?days=0", 400, "invalid", "days"),
        ("overview?days=x", 400, "invalid", "days"),
        ("overview?format=xml", 400, "invalid", "format"),
        ("overview?colour=red", 400, "unknown_field", "colour"),
        ("overview?branch=none", 404, "not_found", None),
        ("trends?granularity=week", 400, "invalid", "granularity"),
        ("trends?since=2999-01-01", 400, "invalid", "since"),
        ("trends?since=2020-01-02&until=2020-01-01", 400, "invalid", "until"),
        ("sessions/nobody", 404, "not_found", None),
        ("agents/nobody", 404, "not_found", None),
        (f"conversations/{UNKNOWN}", 404, "not_found", None),
        ("conversations/x", 400, "invalid", "conversation_id"),
    ],
)
def test_refusals(api: Api, path: str, status: int, code: str, field: str | None) -> None:
    with nothing_left():
        refused(api.get(f"/analytics/{path}"), status, code, field)


def test_ten_years_work_and_are_bounded(api: Api) -> None:
    found = api.get("/analytics/trends?since=2016-11-26&granularity=hour").json()
    assert (len(found["points"]) <= 400, sum(point["facts"] for point in found["points"])) == (True, 2)


def test_a_key_of_another_project_or_branch_counts_nothing(stranger: Api, project: Project) -> None:
    refused(stranger.get("/analytics/sessions/s1"), 404, "not_found")
    assert stranger.get("/analytics/overview").json()["counts"]["facts"] == 0
    bound = api_for(project, scopes=["read"], branch_patterns=["task/*"])
    refused(bound.get("/analytics/overview"), 403, "branch_forbidden")
    refused(bound.get("/analytics/sessions/s1"), 403, "branch_forbidden")


def test_the_command_line(day1: Day1) -> None:
    status, out, _ = day1("analytics")
    assert (status, "counts: facts 2, conversations 1" in out) == (0, True)
    lines = day1("analytics", "trends", "--days", "2")[1].splitlines()
    assert (lines[0].split("\t")[:2], lines[2].split("\t")[1:3]) == (["from", "facts"], ["2", "1"])
    assert "tool\tcalls\tfailed\nBash\t1\t0" in day1("analytics", "session", "s1")[1]
    row = json.loads(day1("--format", "json", "analytics", "agent", "ada")[1])
    assert (row["facts"], row["rejected"]) == (2, 0)
    assert "junk: in_use 2" in day1("analytics", "curation", "--days", "7")[1]
    assert day1("analytics", "agent", "nobody")[0] == 1
