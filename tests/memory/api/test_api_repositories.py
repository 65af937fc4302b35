"""The header Day1-Repository: sessions belong to it, and a search prefers what was learned there."""

from typing import Any

import pytest

from memory.models import Session
from tests.memory.api.client import Api, nothing_left, refused

pytestmark = pytest.mark.django_db
SHOP, TILL = "github.com/acme/shop", "github.com/acme/till"


def test_a_session_belongs_to_the_repository_of_who_writes(api: Api) -> None:
    remote = "https://me:secret@github.com/acme/shop.git"
    api.post("/facts", {"fact_text": "One.", "session_id": "s"}, Day1_Repository=remote)
    api.post("/facts", {"fact_text": "Two.", "session_id": "s"}, Day1_Repository=TILL)
    api.post("/facts", {"fact_text": "Three.", "session_id": "t"}, Day1_Repository="*")
    api.post("/observations", {"summary": "Four.", "session_id": "u"}, Day1_Repository="/srv/shop")
    paths = dict(Session.objects.values_list("key", "project_path"))
    assert paths == {"s": SHOP, "t": "", "u": "/srv/shop"}


@pytest.mark.parametrize(("own", "order"), [(SHOP, ["one", "two"]), (TILL, ["two", "one"])])
def test_of_similar_hits_those_of_the_repository_come_first(own: str, order: list[str], api: Api) -> None:
    for word, repository in (("one", SHOP), ("two", TILL)):
        body = {"fact_text": f"The clock is wrong {word}.", "session_id": word}
        api.post("/facts", body, Day1_Repository=repository)
    found = api.get("/facts/search?query=clock+wrong", Day1_Repository=own).json()["results"]
    assert [hit["fact"]["session_id"] for hit in found] == order
    assert [hit["signals"].get("repository") for hit in found] == [0.05, None]
    plain: Any = api.get("/facts/search?query=clock+wrong").json()["results"]
    assert [hit["signals"].get("repository") for hit in plain] == [None, None]


def test_a_repository_that_is_too_long_is_refused(api: Api) -> None:
    with nothing_left():
        answer = api.post("/facts", {"fact_text": "x", "session_id": "s"}, Day1_Repository="x" * 1001)
        refused(answer, 400, "invalid", "repository")
