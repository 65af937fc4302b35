"""Search over REST, and explanations."""

import pytest

from memory.engines.facts.filters import FactFilter
from memory.filters import FactFilterSet
from memory.models import Fact, Project
from memory.ranking import token_cost
from tests.memory.api.client import UNKNOWN, Api, refused

pytestmark = pytest.mark.django_db(transaction=True)


def texts(answer) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [hit["fact"]["fact_text"] for hit in answer.json()["results"]]


@pytest.fixture
def filled(api: Api) -> Api:
    api.fact(
        "Tokens expire after 15 minutes.",
        category="security",
        tags=["auth", "jwt"],
        confidence=0.9,
        session_id="s1",
    )
    api.fact(
        "Tokens are kept in memory.", category="architecture", tags=["auth"], confidence=0.4, kind="NOTE"
    )
    api.fact("Old tokens were opaque.", category="security", valid_until="2020-01-01", created_cycle=1)
    api.fact("Tokens on paper.", category="security", expires_at="2020-01-01")
    return api


def test_query_and_body_say_the_same(filled: Api) -> None:
    by_query = filled.get("/facts/search?q=tokens&category=security,architecture&limit=5&min_confidence=0.5")
    body = {"query": "tokens", "category": ["security", "architecture"], "limit": 5, "min_confidence": 0.5}
    assert texts(by_query) == texts(filled.post("/facts/search", body)) == ["Tokens expire after 15 minutes."]


@pytest.mark.parametrize(
    ("wish", "count"),
    [
        ({}, 2),
        ({"tags": ["auth"]}, 2),
        ({"tags": ["auth", "jwt"]}, 1),
        ({"tags": "auth,jwt"}, 1),
        ({"kind": "NOTE"}, 1),
        ({"session_id": "s1"}, 1),
        ({"include": ["outdated"]}, 3),
        ({"include": ["outdated", "expired"]}, 4),
        ({"include": "expired"}, 3),
        ({"max_confidence": 0.5}, 1),
        ({"time_range": {"start": "2020-01-01"}}, 2),
        ({"time_range": {"end": "2020-01-01", "field": "created"}}, 0),
        ({"time_range": {"start": "2020-06-01", "field": "valid"}, "include": ["outdated"]}, 2),
        ({"search_type": "keyword", "recipe": "seed"}, 2),
        ({"search_type": "vector"}, 2),  # no embedder: the keywords alone decide
        ({"at": 1}, 1),
        ({"at": "2020-01-01T00:00:00Z"}, 0),
        ({"limit": 1}, 1),
        ({"verification_status": "verified"}, 0),
        ({"pinned": False}, 2),
    ],
)
def test_wishes(filled: Api, wish: dict, count: int) -> None:
    assert len(texts(filled.post("/facts/search", {"query": "tokens", **wish}))) == count


def test_tags_by_their_beginning_and_their_counts(api: Api) -> None:
    for text, tags in (
        ("one", ["team:red", "open"]),
        ("two", ["team:blue", "open"]),
        ("three", ["team:red", 'a "quoted" tag', "日本"]),
        ("four", []),
    ):
        api.fact(text, tags=tags, category="a" if text == "one" else "b")

    def found(query: str) -> list[str]:
        return sorted(row["fact_text"] for row in api.get(f"/facts?{query}").json()["results"])

    assert found("tag_prefix=team:") == ["one", "three", "two"]
    assert found("tag_prefix=team:b") == ["two"]
    assert found('tag_prefix=a "q') == ["three"]
    assert found("tag_prefix=日") == ["three"]
    assert found("tag_prefix=eam") == []
    assert found("tag_prefix=team:&tags=open&category=a") == ["one"]

    def counts(query: str = "") -> tuple[dict[str, int], bool]:
        answer = api.get(f"/facts/tags?{query}").json()
        return {row["tag"]: row["count"] for row in answer["tags"]}, answer["more"]

    every = {"open": 2, "team:red": 2, 'a "quoted" tag': 1, "team:blue": 1, "日本": 1}
    assert counts() == (every, False)
    assert list(counts()[0]) == list(every)
    assert counts("prefix=team:") == ({"team:red": 2, "team:blue": 1}, False)
    assert counts("limit=2") == ({"open": 2, "team:red": 2}, True)
    assert counts("category=a") == ({"open": 1, "team:red": 1}, False)
    assert counts("at=1") == ({"open": 1, "team:red": 1}, False)
    api.delete(f"/facts/{api.get('/facts?category=a').json()['results'][0]['id']}")
    assert counts("prefix=open") == ({"open": 1}, False)
    refused(api.get("/facts/tags?limit=1001"), 400, "invalid", "limit")


def test_facts_by_their_id_at_the_source(api: Api) -> None:
    for n in range(3):
        api.fact(f"Ticket {n} is open.", source_id=f"JIRA-{n}", source="jira")
    api.fact("No ticket.")
    listed = api.get("/facts?source_id=JIRA-0,JIRA-2").json()["results"]
    assert sorted(row["source_id"] for row in listed) == ["JIRA-0", "JIRA-2"]
    hits = api.post("/facts/search", {"query": "ticket", "source_id": ["JIRA-1"]}).json()["results"]
    assert [hit["fact"]["source_id"] for hit in hits] == ["JIRA-1"]
    assert api.get("/facts?source_id=jira-1").json()["results"] == []
    assert len(api.get("/facts?source_id=").json()["results"]) == 4


def test_several_branches_by_name_and_pattern(api: Api) -> None:
    api.fact("Tokens expire.")
    for name in ("task/a", "task/b", "experiment/c"):
        api.post("/branches", {"name": name})
    api.fact("Tokens are long.", branch="task/b")
    for told in (
        api.post("/facts/search", {"query": "tokens", "branches": ["main", "task/*"]}),
        api.get("/facts/search?q=tokens&branches=main,task/*"),
        api.get("/facts/search?q=tokens&branches=main&branches=task/*"),
        api.post("/facts/search", {"query": "tokens", "branch_names": ["main", "task/*"]}),
        api.get("/facts/search?q=tokens&branch_names=main,task/*"),
    ):
        hits = {hit["fact"]["fact_text"]: hit for hit in told.json()["results"]}
        assert hits["Tokens expire."]["branches"] == ["main", "task/a", "task/b"]
        assert hits["Tokens are long."]["branches"] == ["task/b"]
        assert hits["Tokens are long."]["fact"]["branch"] == "task/b"
        assert told.json()["branches"] == ["main", "task/a", "task/b"]
    both = {"query": "tokens", "branches": ["main"], "branch_names": ["task/a"]}
    refused(api.post("/facts/search", both), 400, "invalid", "branches")
    refused(api.get("/facts/search?q=tokens&branch_names=main&branch=main"), 400, "invalid", "branch")


def test_explanations(filled: Api) -> None:
    ids = {fact.fact_text: str(fact.uid) for fact in Fact.objects.all_versions()}
    reasons = {
        "Tokens expire after 15 minutes.": ("found", {}),
        "Old tokens were opaque.": ("outdated", {}),
        "Tokens on paper.": ("expired", {}),
        "Tokens are kept in memory.": ("filtered", {"filters": ["category"]}),
    }
    for text, (reason, details) in reasons.items():
        told = filled.get(f"/facts/{ids[text]}/explain?q=tokens&category=security").json()
        assert (told["reason"], told["details"], told["found"]) == (reason, details, reason == "found")
        assert told["fact"]["fact_text"] == text
    told = filled.get(f"/facts/{UNKNOWN}/explain?q=tokens").json()
    assert (told["found"], told["reason"], told["fact"]) == (False, "absent", None)


def test_the_filter_set_and_the_engine_know_the_same_filters() -> None:
    assert FactFilterSet.base_filters.keys() == FactFilter.CHECKS.keys()


def test_a_search_says_what_is_known(filled: Api, project) -> None:
    told = filled.get("/facts/search?q=tokens+expire").json()
    best = max(hit["evidence"] for hit in told["results"])
    assert (told["known"], told["evidence"]) == (True, best)
    assert 0.02 < best < 1
    poor = filled.get("/facts/search?q=nothing+like+it").json()
    assert (poor["results"], poor["evidence"], poor["known"]) == ([], 0.0, False)
    assert poor["note"] == "Nothing is known here on this."


def test_evidence_is_of_all_that_is_found_not_of_the_page(api: Api) -> None:
    short = "Tokens expire, tokens expire, tokens expire."
    long = f"Gateway {'of the old house and of others ' * 40} tokens expire."
    for text in (short, long, *(f"The gateway {number} is here." for number in range(8))):
        api.fact(text)
        api.post("/observations", {"session_id": "s1", "observation_type": "insight", "summary": text})
    api.post("/branches", {"name": "task/x"})
    options = [{"limit": limit} for limit in (1, 2, 100)]
    options += [{"max_tokens": 1}, {"limit": 1, "max_tokens": 5}, {"limit": 1, "branches": ["*"]}]
    options += [{"limit": limit, "recipe": "seed"} for limit in (1, 100)]
    query = "gateway tokens expire"
    told = [api.post("/facts/search", {"query": query, **one}).json() for one in options]
    first, second = told[1]["results"]
    assert first["evidence"] < second["evidence"]
    assert [(one["evidence"], one["known"]) for one in told] == [(second["evidence"], True)] * len(options)
    for limit in (1, 100):
        seen = api.get(f"/observations/search?q={query}&limit={limit}").json()
        assert (seen["evidence"], seen["known"], seen["note"]) == (second["evidence"], True, "")


def test_a_project_sets_the_least_evidence(filled: Api, project) -> None:
    Project.objects.filter(pk=project.pk).update(least_evidence=0.99)
    told = filled.get("/facts/search?q=tokens").json()
    assert (len(told["results"]), told["known"]) == (2, False)
    nearest = max(told["results"], key=lambda hit: hit["evidence"])["fact"]["fact_text"]
    note = f"Nothing is known here on this; nearest: “{nearest}”"
    assert (told["note"], told["context"]) == (note, None)
    packed = filled.get("/facts/search?q=tokens&max_tokens=100").json()
    assert (packed["context"], packed["tokens"]) == (f"- {note}", token_cost(note))
    assert len(packed["results"]) == 2
    Project.objects.filter(pk=project.pk).update(least_evidence=0.0)
    told = filled.get("/facts/search?q=tokens").json()
    assert (told["known"], told["note"]) == (True, "")
