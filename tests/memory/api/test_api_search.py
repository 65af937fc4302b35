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


def test_a_hit_tells_the_parts_of_its_score(filled: Api) -> None:
    told = filled.get("/facts/search?q=tokens+expire&limit=1").json()
    (hit,) = told["results"]
    assert hit["fact"]["fact_text"] == "Tokens expire after 15 minutes."
    assert (hit["branches"], hit["fact"]["branch"]) == (["main"], "main")
    assert {"keyword", "vector", "recency"} <= hit["signals"].keys()
    assert (told["signals_used"], told["recipe"], told["branches"]) == (["keyword"], "default", ["main"])
    assert (told["context"], told["tokens"]) == (None, None)
    assert told["took_ms"] > 0


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


def test_a_budget_packs_the_essences(filled: Api) -> None:
    told = filled.post("/facts/search", {"query": "tokens", "max_tokens": 10}).json()
    assert told["tokens"] <= 10
    assert told["context"].count("\n") == len(told["results"]) - 1


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


@pytest.mark.parametrize(
    "query", ["", " ", "\u0000", '"', "AND OR NOT", "a* ^b c:d (e", "🙂", "half \ud83d", "x" * 8000]
)
def test_no_query_fails(filled: Api, query: str) -> None:
    assert filled.post("/facts/search", {"query": query}).status_code == 200


def test_a_search_is_counted_for_the_facts_that_it_found(filled: Api) -> None:
    from memory.engines.support.write_buffer import buffer

    found = filled.get("/facts/search?q=expire").json()["results"][0]["fact"]
    buffer.flush()
    seen = filled.get(f"/facts/{found['id']}").json()
    assert seen["access_count"] == found["access_count"] + 1
    assert seen["last_accessed_at"]


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
