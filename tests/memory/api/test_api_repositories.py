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


# ---- what a fact keeps -----------------------------------------------------------------------------------

REMOTE = "git@github.com:acme/shop.git"


def test_a_fact_without_a_session_keeps_its_repository(api: Api) -> None:
    made = api.post("/facts", {"fact_text": "The clock is wrong."}, Day1_Repository=REMOTE).json()
    assert made["repository"] == SHOP
    changed = api.patch(f"/facts/{made['id']}", {"confidence": 1}, Day1_Repository=TILL).json()
    assert (changed["version"], changed["repository"]) == (2, SHOP)
    (hit,) = api.get("/facts/search?q=clock", Day1_Repository=SHOP).json()["results"]
    assert (hit["fact"]["repository"], hit["signals"]["repository"]) == (SHOP, 0.05)
    assert api.fact("Five.")["repository"] == ""
    assert api.fact("Six.", repository="*")["repository"] == ""


def test_what_a_fact_names_counts_before_its_session_and_that_before_the_caller(api: Api) -> None:
    api.post("/sessions", {"session_id": "s", "project_path": TILL})
    body = {"fact_text": "One.", "session_id": "s", "repository": "https://github.com/acme/own/"}
    assert api.post("/facts", body, Day1_Repository=SHOP).json()["repository"] == "github.com/acme/own"
    body = {"fact_text": "Two.", "session_id": "s"}
    assert api.post("/facts", body, Day1_Repository=SHOP).json()["repository"] == TILL


def test_a_fact_follows_its_session_that_is_told_later_where_it_works(api: Api) -> None:
    made = api.fact("One.", session_id="s")
    assert made["repository"] == ""
    api.post("/sessions", {"session_id": "s", "project_path": REMOTE})
    assert api.get(f"/facts/{made['id']}").json()["repository"] == SHOP
    assert len(api.get(f"/facts?repository={SHOP}").json()["results"]) == 1


def test_the_successor_of_a_fact_is_of_its_repository(api: Api) -> None:
    old = api.fact("One.", repository=SHOP)
    path = f"/facts/{old['id']}/supersede"
    new = api.post(path, {"new_fact_text": "Two."}, Day1_Repository=TILL).json()
    assert new["repository"] == SHOP
    path = f"/facts/{new['id']}/supersede"
    assert api.post(path, {"new_fact_text": "Three.", "repository": TILL}).json()["repository"] == TILL


def test_a_list_of_facts_names_repositories_and_a_wrong_one_stores_nothing(api: Api) -> None:
    facts = [{"fact_text": "One.", "repository": REMOTE}, {"fact_text": "Two."}]
    api.post("/facts/bulk", {"facts": facts}, Day1_Repository=TILL)
    stored = api.get("/facts").json()["results"]
    assert [row["repository"] for row in stored] == [TILL, SHOP]
    with nothing_left():
        for value in (["x"], "x" * 1001, "a\x00b", 5, None):
            refused(api.post("/facts", {"fact_text": "x", "repository": value}), 400, "invalid", "repository")


# ---- filters ---------------------------------------------------------------------------------------------


@pytest.fixture
def two_repositories(api: Api) -> None:
    for word, repository in (("shop", SHOP), ("till", TILL)):
        api.post("/sessions", {"session_id": word, "project_path": repository})
        session = {"session_id": word}
        api.fact(f"The {word} clock is wrong.", **session)
        api.fact(f"The {word} door is open.", repository=repository)
        api.post("/observations", {"summary": f"Looked at the {word} clock.", **session})
        talk = api.post("/conversations", {"title": word, **session}).json()["id"]
        api.post(f"/conversations/{talk}/messages", {"role": "user", "content": f"Mend the {word} clock."})
    api.fact("The clock is everywhere.")
    api.post("/observations", {"summary": "Looked at the clock."})


def told(row: dict[str, Any]) -> str:
    """Return what a row of any list says; a hit is in a row of its own."""
    row = next((row[name] for name in ("fact", "observation", "message") if name in row), row)
    return next(row[name] for name in ("fact_text", "summary", "title", "content", "id") if row.get(name))


LISTS = [
    ("/facts?", {"The shop clock is wrong.", "The shop door is open."}, 5),
    ("/facts/search?q=clock+door&", {"The shop clock is wrong.", "The shop door is open."}, 5),
    ("/facts/search?q=clock&search_type=keyword&", {"The shop clock is wrong."}, 3),
    ("/facts/search?q=clock&branches=main&", {"The shop clock is wrong."}, 3),
    ("/sessions?", {"shop"}, 2),
    ("/observations?", {"Looked at the shop clock."}, 3),
    ("/observations/timeline?", {"Looked at the shop clock."}, 3),
    ("/observations/search?q=clock&", {"Looked at the shop clock."}, 3),
    ("/conversations?", {"shop"}, 2),
    ("/messages/search?q=clock&", {"Mend the shop clock."}, 2),
]


@pytest.mark.parametrize(("path", "own", "count"), LISTS)
def test_lists_and_searches_are_of_a_repository(
    path: str, own: set[str], count: int, api: Api, two_repositories: None
) -> None:
    for name in (SHOP, "git%40github.com:acme/shop.git"):
        assert {told(row) for row in api.get(f"{path}repository={name}").json()["results"]} == own
    assert api.get(f"{path}repository=github.com/acme/none").json()["results"] == []
    for every in ("", "repository=", "repository=*"):
        assert len(api.get(f"{path}{every}").json()["results"]) == count
    refused(api.get(f"{path}repository={'x' * 1001}"), 400, "invalid", "repository")
    refused(api.get(f"{path}repository=a&repository=b"), 400, "invalid", "repository")


# ---- sessions --------------------------------------------------------------------------------------------


def test_sessions_of_one_repository_find_each_other(api: Api) -> None:
    forms = ("https://github.com/acme/shop.git", REMOTE, "https://me:pw@GitHub.com/acme/shop/")
    for number, path in enumerate(forms):
        made = api.post("/sessions", {"session_id": str(number), "project_path": path}).json()
        assert made["project_path"] == SHOP
    assert len(api.get(f"/sessions?repository={SHOP}").json()["results"]) == 3
    for number, (path, kept) in enumerate((("/srv/app/", "/srv/app"), ("*", ""))):
        made = api.post("/sessions", {"session_id": f"folder {number}", "project_path": path}).json()
        assert made["project_path"] == kept


# ---- many repositories -----------------------------------------------------------------------------------


def test_equal_texts_of_two_repositories_are_two_facts(api: Api) -> None:
    text = "Run the tests with tox."
    first = api.fact(text, repository=SHOP, session_id="s")
    other = api.fact(text, repository=TILL, session_id="t")
    assert (first["created"], other["created"]) == (True, True)
    bodies = [{"fact_text": text, "repository": name} for name in (SHOP, TILL, "*")]
    again = [api.post("/facts", body).json() for body in bodies]
    assert [(row["id"], row["created"]) for row in again] == [
        (first["id"], False),
        (other["id"], False),
        (first["id"], False),
    ]
    path = f"/facts/{other['id']}/supersede"
    assert api.post(path, {"new_fact_text": "Run the tests with nox."}).status_code == 201
    assert api.get(f"/facts/{first['id']}").json()["status"] == "active"


def test_a_text_of_no_repository_is_known_in_each(api: Api) -> None:
    first = api.fact("The office is closed on Friday.")
    body = {"fact_text": "The office is closed on Friday.", "repository": SHOP}
    assert api.post("/facts", body).json()["id"] == first["id"]


def test_what_others_wrote_takes_no_place_in_the_context(api: Api) -> None:
    mine = api.fact("The till rounds to five cents.", repository=TILL)
    facts = [{"fact_text": f"Rule {n} of the shop.", "category": "decision"} for n in range(210)]
    api.post("/facts/bulk", {"facts": facts}, Day1_Repository=SHOP)
    api.post("/sessions", {"session_id": "s", "project_path": TILL})
    start = {"hook_event_name": "SessionStart", "session_id": "next", "day1": {"root": TILL}}
    told_at_start = api.post("/ingest/hook?client=claude-code", start).json()["hookSpecificOutput"]
    assert f"[{mine['id'][-6:]} note]" in told_at_start["additionalContext"]
    assert "of the shop" not in told_at_start["additionalContext"]


def test_a_successor_is_of_the_session_of_a_fact_that_names_no_repository(api: Api) -> None:
    early = api.fact("One.", session_id="s")
    api.post("/sessions", {"session_id": "s", "project_path": SHOP})
    everywhere = api.fact("Two.")
    for old, repository in ((early, SHOP), (everywhere, "")):
        path, body = f"/facts/{old['id']}/supersede", {"new_fact_text": f"{old['fact_text']} Now."}
        assert api.post(path, body, Day1_Repository=TILL).json()["repository"] == repository


def test_a_fact_that_is_said_to_be_of_none_is_of_none(api: Api) -> None:
    body = {"fact_text": "One.", "repository": "*"}
    assert api.post("/facts", body, Day1_Repository=TILL).json()["repository"] == ""
