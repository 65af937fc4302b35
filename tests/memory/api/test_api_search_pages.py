"""Pages of a search: each hit once, whatever is written meanwhile, up to a bound."""

from typing import Any

import pytest

from memory.actors import local_actor
from memory.engines.search import result_pages
from memory.models import Fact, Project
from tests.memory.api.client import Api, refused
from tests.memory.search.helpers import reflect

pytestmark = pytest.mark.django_db(transaction=True)


def write_many(api: Api, count: int, **fields: Any) -> None:
    facts = [{"fact_text": f"A heron stands in pond number {n}.", **fields} for n in range(count)]
    assert api.post("/facts/bulk", {"facts": facts}).status_code == 201


def read_pages(api: Api, body: dict[str, Any], between: Any = None) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        answer = api.post("/facts/search", {**body, **({"cursor": cursor} if cursor else {})})
        assert answer.status_code == 200, answer.content
        pages.append([hit["fact"]["id"] for hit in answer.json()["results"]])
        if (cursor := answer.json()["next"]) is None:
            return pages
        if between:
            between(len(pages))


def test_pages_go_on_past_a_hundred_and_stay_as_they_were(api: Api) -> None:
    write_many(api, 250)
    known = {str(uid) for uid in Fact._base_manager.values_list("uid", flat=True)}

    def meddle(page: int) -> None:
        api.fact(f"Another heron, and a heron, number {page}.", deduplicate=False)
        api.patch(f"/facts/{min(known)}", {"fact_text": f"No bird {page}."})

    for limit in (30, 100):
        pages = read_pages(api, {"query": "heron", "limit": limit, "category": "general", "at": 1}, meddle)
        shown = [uid for page in pages for uid in page]
        assert (len(shown), set(shown)) == (250, known)
        assert [len(page) for page in pages][:2] == [limit, limit]
        # Whoever asks for fewer at once gets them in the same order.
        first = api.post("/facts/search", {"query": "heron", "limit": 100, "at": 1}).json()["results"]
        assert [hit["fact"]["id"] for hit in first] == shown[:100]


def test_a_cursor_goes_with_its_search_and_keeps_point_and_limit(api: Api) -> None:
    write_many(api, 130)
    first = api.get("/facts/search?q=heron&limit=60").json()
    assert len(first["results"]) == 60
    api.fact("A heron heron heron.")
    second = api.get(f"/facts/search?q=heron&cursor={first['next']}").json()
    assert len(second["results"]) == 60
    last = api.get(f"/facts/search?q=heron&cursor={second['next']}&limit=5").json()
    assert (len(last["results"]), last["next"]) == (10, None)
    cursor = first["next"]
    for query in ("q=pond", "q=heron&category=a", "q=heron&recipe=seed", "q=heron&search_type=keyword"):
        refused(api.get(f"/facts/search?{query}&cursor={cursor}"), 400, "invalid", "cursor")
    refused(api.get(f"/facts/search?q=heron&max_tokens=9&cursor={cursor}"), 400, "invalid", "cursor")
    refused(
        api.get(f"/facts/search?q=heron&cursor={cursor}", Day1_Repository="github.com/a/b"),
        400,
        "invalid",
        "cursor",
    )
    for wrong in ("x", result_pages.write_cursor({"key": "1", "list": "x"})):
        refused(api.get(f"/facts/search?q=heron&cursor={wrong}"), 400, "invalid", "cursor")
    assert api.get("/facts/search?q=heron&max_tokens=90").json()["next"] is None
    assert api.get("/facts/search?q=nothing+of+this").json()["next"] is None


def test_pages_of_several_branches_have_each_text_once(api: Api) -> None:
    write_many(api, 120)
    assert api.post("/branches", {"name": "try/a"}).status_code == 201
    facts = [{"fact_text": f"A heron stands in pond number {n}."} for n in range(100, 160)]
    api.post("/facts/bulk", {"facts": facts, "branch": "try/a"})
    pages = read_pages(api, {"query": "heron", "limit": 50, "branches": ["main", "try/*"]})
    shown = [uid for page in pages for uid in page]
    assert (len(shown), len(set(shown))) == (160, 160)


def test_pages_end_at_a_bound(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    write_many(api, 130)
    monkeypatch.setattr(result_pages, "MAX_HITS", 120)
    assert [len(page) for page in read_pages(api, {"query": "heron", "limit": 40})] == [40, 40, 40]


def test_reflections_follow_behind_the_others(api: Api, project: Project) -> None:
    write_many(api, 8)
    actor = local_actor(project.pk)
    for n in range(6):
        reflect(actor, f"Herons, taken together, stand in ponds {n}.")
    told = {str(uid) for uid in Fact._base_manager.filter(kind="REFLECTION").values_list("uid", flat=True)}
    pages = read_pages(api, {"query": "heron ponds", "limit": 5})
    counts = [len(told.intersection(page)) for page in pages]
    assert ([len(page) for page in pages], counts) == ([5, 5, 4], [1, 1, 4])
