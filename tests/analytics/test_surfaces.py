"""Figures over REST, as CSV, and on the command line."""

import csv
from typing import Any

import pytest

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.models import Project
from tests.memory.api.client import Api, api_for, nothing_left, refused

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


def test_ten_years_work_and_are_bounded(api: Api) -> None:
    found = api.get("/analytics/trends?since=2016-11-26&granularity=hour").json()
    assert (len(found["points"]) <= 400, sum(point["facts"] for point in found["points"])) == (True, 2)
