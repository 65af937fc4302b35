"""Lists from their other end: the oldest first, page by page and as a file."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from memory.actors import Actor
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Branch
from tests.memory.api.client import api_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def facts(actor: Actor, main: Branch) -> None:
    FactEngine().write_facts(facts=[{"fact_text": f"fact {n:03}"} for n in range(120)], actor=actor)


def shown(viewer: Client, address: str) -> tuple[list[int], str, str]:
    """Return the numbers of the facts of a page, and the addresses of the next and the one before."""
    html = viewer.get(address).content.decode()
    numbers = [int(number) for number in re.findall(r">fact (\d{3})</a>", html)]
    links = dict(re.findall(r'rel="(next|prev)"\s+href="([^"]+)"', html))
    after, before = (links.get(name, "").replace("&amp;", "&") for name in ("next", "prev"))
    return numbers, after, before


@pytest.mark.usefixtures("facts")
def test_the_oldest_first_page_by_page_and_back(viewer: Client) -> None:
    first, after, before = shown(viewer, "/p/test/facts?ordering=created_at")
    assert (first, before) == (list(range(50)), "")
    second, after, before = shown(viewer, after)
    assert second == list(range(50, 100))
    assert shown(viewer, before)[0] == first
    last, after, _before = shown(viewer, after)
    assert (last, after) == (list(range(100, 120)), "")
    assert shown(viewer, "/p/test/facts")[0] == list(range(119, 69, -1))


@pytest.mark.usefixtures("facts")
def test_a_file_has_the_order_of_the_list(viewer: Client) -> None:
    answer = viewer.get("/p/test/facts?ordering=created_at&format=json")
    rows = json.loads(b"".join(answer.streaming_content))
    assert [row["fact_text"] for row in rows] == [f"fact {n:03}" for n in range(120)]


def test_other_lists_and_an_order_that_is_none(viewer: Client, actor: Actor, main: Branch) -> None:
    for name in ("first", "second"):
        ObservationEngine().write_observation(summary=name, actor=actor.with_origin(session_id=f"s-{name}"))
    seen = viewer.get("/p/test/observations?ordering=created_at").content.decode()
    assert seen.index("first") < seen.index("second")
    runs = viewer.get("/p/test/sessions?ordering=created_at").content.decode()
    assert runs.index("s-first") < runs.index("s-second")
    assert 'aria-current="true">Oldest first' in seen
    assert "ordering=" not in viewer.get("/p/test/activity").content.decode()
    best = viewer.get("/p/test/observations?q=first").content.decode()
    assert ("aria-sort" in seen, "aria-sort" in best) == (True, False)  # by relevance, not by a column


@pytest.mark.usefixtures("facts")
def test_the_last_page_over_rest(project: Any) -> None:
    page = api_for(project).get("/facts?limit=30&cursor=end").json()
    assert [row["fact_text"] for row in page["results"]] == [f"fact {n:03}" for n in range(29, -1, -1)]
    assert page["next"] is None
    assert page["previous"]


@pytest.mark.usefixtures("facts")
def test_versions_are_sorted_over_rest_at_the_point_of_the_first_page(project: Any, actor: Actor) -> None:
    api: Any = api_for(project)
    first = api.get("/facts?limit=100&ordering=created_at").json()
    FactEngine().write_fact(fact_text="fact 999", actor=actor)
    second = api.get(f"/facts?limit=100&ordering=created_at&cursor={first['next']}").json()
    texts = [row["fact_text"] for row in (*first["results"], *second["results"])]
    assert (texts, second["next"]) == ([f"fact {n:03}" for n in range(120)], None)
    back = api.get(f"/facts?limit=100&ordering=created_at&cursor={second['previous']}").json()
    assert back["results"] == first["results"]
    refused = api.get(f"/facts?limit=100&cursor={first['next']}")  # a cursor is of one order
    assert (refused.status_code, refused.json()["field"]) == (400, "cursor")
    for route in ("observations", "relations", "conversations"):
        assert api.get(f"/{route}?ordering=created_at").json()["results"] == []
        assert api.get(f"/{route}?ordering=confidence").status_code == 400
