"""Pagination: nothing twice, nothing missed, also with writes in between."""

import pytest

from tests.memory.api.client import Api, api_for

pytestmark = pytest.mark.django_db(transaction=True)


def walk(api: Api, path: str) -> list[list[dict]]:
    """Return all pages of a list, by ``next``."""
    pages, cursor = [], ""
    while cursor is not None:
        told = api.get(f"{path}{'&' if '?' in path else '?'}cursor={cursor}").json()
        pages.append(told["results"])
        cursor = told["next"]
    return pages


def texts(rows: list[dict]) -> list[str]:
    return [row["fact_text"] for row in rows]


def test_a_list_is_read_as_its_first_page_saw_it(api: Api) -> None:
    rows = [api.fact(f"fact {i}") for i in range(7)]
    first = api.get("/facts?limit=3").json()
    assert texts(first["results"]) == ["fact 6", "fact 5", "fact 4"]
    assert first["previous"] is None
    api.fact("late")
    api.delete(f"/facts/{rows[3]['id']}")
    api.patch(f"/facts/{rows[2]['id']}", {"fact_text": "changed"})
    second = api.get(f"/facts?limit=3&cursor={first['next']}").json()
    assert texts(second["results"]) == ["fact 3", "fact 2", "fact 1"]
    third = api.get(f"/facts?limit=3&cursor={second['next']}").json()
    assert (texts(third["results"]), third["next"]) == (["fact 0"], None)
    back = api.get(f"/facts?limit=3&cursor={third['previous']}").json()
    assert texts(back["results"]) == texts(second["results"])
    assert texts(api.get("/facts?limit=3").json()["results"]) == ["late", "fact 6", "fact 5"]


def test_a_child_shows_its_own_and_its_parents_facts_in_one_order(api: Api) -> None:
    for i in range(4):
        api.fact(f"main {i}")
    api.post("/branches", {"name": "task/x"})
    for i in range(3):
        api.fact(f"task {i}", branch="task/x")
    pages = walk(api, "/facts?branch=task/x&limit=2")
    assert [texts(page) for page in pages] == [
        ["task 2", "task 1"],
        ["task 0", "main 3"],
        ["main 2", "main 1"],
        ["main 0"],
    ]


def test_filters_hold_on_every_page(api: Api) -> None:
    facts = [{"fact_text": f"fact {i}", "category": "insight" if i % 2 else "error"} for i in range(20)]
    api.post("/facts/bulk", {"facts": facts})
    pages = walk(api, "/facts?category=insight&limit=4")
    assert [len(page) for page in pages] == [4, 4, 2]
    assert {row["category"] for page in pages for row in page} == {"insight"}


def test_branches_commits_and_keys_come_in_pages(api: Api, project) -> None:
    for i in range(5):
        api.post("/branches", {"name": f"task/{i}"})
        api.fact(f"fact {i}")
        api_for(project, label=f"key {i}")
    assert [[b["name"] for b in page] for page in walk(api, "/branches?limit=4")] == [
        ["main", "task/0", "task/1", "task/2"],
        ["task/3", "task/4"],
    ]
    assert [c["seq"] for page in walk(api, "/branches/main/log?limit=2") for c in page] == [5, 4, 3, 2, 1]
    labels = [k["label"] for page in walk(api, "/keys?limit=2") for k in page]
    assert labels == ["key 4", "key 3", "key 2", "key 1", "key 0", "tester"]


def test_the_links_of_a_fact_come_in_pages(api: Api) -> None:
    hub = api.fact("hub")["id"]
    ends = [api.fact(f"end {i}")["id"] for i in range(5)]
    for end in ends:
        api.post(f"/facts/{hub}/links", {"to_id": end, "link_type": "ASSOCIATED"})
    pages = walk(api, f"/facts/{hub}/links?limit=2")
    assert [len(page) for page in pages] == [2, 2, 1]
    assert [link["to_id"] for page in pages for link in page] == ends[::-1]
