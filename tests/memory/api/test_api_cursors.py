"""A cursor is valid for its own list only; for any other it is refused, never a wrong page."""

import pytest

from memory.engines.support.pagination import OTHER_LIST
from tests.memory.api.client import Api, api_for, refused

pytestmark = pytest.mark.django_db(transaction=True)


def cursor_of(api: Api, path: str) -> str:
    """Return the cursor of a list's second page."""
    cursor = api.get(f"{path}{'&' if '?' in path else '?'}limit=1").json()["next"]
    assert cursor
    return cursor


def with_cursor(path: str, cursor: str) -> str:
    return f"{path}{'&' if '?' in path else '?'}cursor={cursor}"


@pytest.fixture
def lists(api: Api, project) -> list[str]:
    """Return the URLs of different lists, each with more than one page of one row."""
    rows = [api.fact(f"fact {i}", category="insight", agent_id="a") for i in range(4)]
    for start, *ends in (rows, rows[1:]):
        for end in ends:
            api.post(f"/facts/{start['id']}/links", {"to_id": end["id"], "link_type": "BRIDGE"})
    api.patch(f"/facts/{rows[0]['id']}", {"fact_text": "corrected"})
    for name in ("task/a", "task/b"):
        api.post("/branches", {"name": name})
        api.fact(f"on {name}", branch=name)
        api.fact(f"more on {name}", branch=name)
    api_for(project, label="another")
    return [
        "/facts",
        "/facts?branch=task/a",
        "/facts?branch=task/b",
        "/facts?category=insight",
        "/facts?agent_id=a",
        "/facts?agent_id=a&category=insight",
        f"/facts/{rows[0]['id']}/history",
        f"/facts/{rows[0]['id']}/links",
        f"/facts/{rows[1]['id']}/links",
        "/branches",
        "/branches?archived=true",
        "/branches/main/log",
        "/branches/task/a/log",
        "/keys",
    ]


def test_a_cursor_opens_its_own_list_alone(api: Api, lists: list[str]) -> None:
    cursors = {path: cursor_of(api, path) for path in lists}
    for path in lists:
        for origin, cursor in cursors.items():
            answer = api.get(with_cursor(path, cursor))
            if origin == path:
                assert answer.status_code == 200, (path, origin)
                continue
            problem = refused(answer, 400, "invalid", "cursor")
            assert problem["detail"] == OTHER_LIST


def test_a_cursor_of_another_project_is_refused(api: Api, stranger: Api) -> None:
    for client in (api, stranger):
        for i in range(2):
            client.fact(f"fact {i}")
            client.post("/branches", {"name": f"task/{i}"})
    for path in ("/facts", "/branches", "/branches/main/log"):
        refused(stranger.get(with_cursor(path, cursor_of(api, path))), 400, "invalid", "cursor")


def test_the_point_may_be_left_out_or_repeated_but_not_changed(api: Api) -> None:
    for i in range(5):
        api.fact(f"fact {i}")
    cursor = cursor_of(api, "/facts?at=4")
    for path in ("/facts?limit=2", "/facts?limit=2&at=4"):
        texts = [row["fact_text"] for row in api.get(with_cursor(path, cursor)).json()["results"]]
        assert texts == ["fact 2", "fact 1"]
    refused(api.get(with_cursor("/facts?at=3", cursor)), 400, "invalid", "cursor")
    refused(api.get(with_cursor("/facts?at=5", cursor_of(api, "/facts"))), 400, "invalid", "cursor")


def test_where_a_branch_begins_is_a_point_as_any_other(api: Api) -> None:
    """Read at 0 what a branch started with."""
    for i in range(3):
        api.fact(f"fact {i}")
    api.post("/branches", {"name": "task/a"})
    api.fact("late", branch="task/a")
    path = "/facts?branch=task/a&at=0"
    for again in (path, "/facts?branch=task/a"):
        told = api.get(with_cursor(again, cursor_of(api, path))).json()
        assert [row["fact_text"] for row in told["results"]] == ["fact 1", "fact 0"]
    refused(api.get(with_cursor("/facts?branch=task/a&at=1", cursor_of(api, path))), 400, "invalid", "cursor")


def test_a_time_that_is_yet_to_come_reads_on_where_it_began(api: Api) -> None:
    for i in range(3):
        api.fact(f"fact {i}")
    cursor = cursor_of(api, "/facts?at=2990-01-01T00:00:00Z")
    api.fact("late")
    told = api.get(with_cursor("/facts?at=2990-01-01", cursor)).json()
    assert [row["fact_text"] for row in told["results"]] == ["fact 1", "fact 0"]


def test_a_branch_that_comes_or_goes_between_two_pages_spoils_no_cursor(api: Api, project) -> None:
    for i in range(4):
        api.post("/branches", {"name": f"task/{i}"})
    some = api_for(project, branch_patterns=["task/*"])
    cursor = cursor_of(some, "/branches")
    api.post("/branches", {"name": "task/1a"})
    api.delete("/branches/task/2")
    names = [row["name"] for row in some.get(with_cursor("/branches", cursor)).json()["results"]]
    assert names == ["task/1", "task/1a", "task/3"]
