"""A session as the OpenAI Agents SDK promises it, played over REST: a list that grows, pops and clears."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection

from tests.memory.api.client import Api

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = 100


class Session:
    """Items under the numbers of their places. Who adds where another was quicker tries again."""

    def __init__(self, api: Api, name: str) -> None:
        self.api, self.place = api, f"sessions/{quote(name, safe='')}"

    def add_items(self, items: list[Any]) -> None:
        while items:
            number = self.last_number() + 1
            calls = [
                {"op": "put", **self.locate(number + n), "value": item, "embed": False, "only_new": True}
                for n, item in enumerate(items)
            ]
            answer = self.api.post("/items/batch", {"calls": calls})
            if answer.status_code == 200:
                return
            assert answer.json()["code"] == "key_taken", answer.content

    def get_items(self, limit: int | None = None) -> list[Any]:
        rows: list[Any] = []
        cursor = "end"
        while cursor and (limit is None or len(rows) < limit):
            size = PAGE if limit is None else min(PAGE, limit - len(rows))
            page = self.api.get(f"/items?prefix={quote(self.place)}&limit={size}&cursor={cursor}").json()
            rows, cursor = [*page["results"], *rows], page["previous"]
        return [row["value"] for row in rows]

    def pop_item(self) -> Any:
        while row := self.last_row():
            call = {"op": "delete", **self.locate(int(row["key"])), "expected_version": row["version"]}
            answer = self.api.post("/items/batch", {"calls": [call]})
            if answer.status_code == 200:
                return row["value"]
            assert answer.json()["code"] == "stale_version", answer.content
        return None

    def clear_session(self) -> None:
        while rows := self.api.get(f"/items?prefix={quote(self.place)}&limit={PAGE}").json()["results"]:
            calls = [{"op": "delete", "namespace": self.place, "key": row["key"]} for row in rows]
            assert self.api.post("/items/batch", {"calls": calls}).status_code == 200

    def last_row(self) -> Any:
        rows = self.api.get(f"/items?prefix={quote(self.place)}&limit=1&cursor=end").json()["results"]
        return rows[0] if rows else None

    def last_number(self) -> int:
        return int(row["key"]) if (row := self.last_row()) else 0

    def locate(self, number: int) -> dict[str, str]:
        return {"namespace": self.place, "key": f"{number:012}"}


Open = Callable[[str], Session]  # the session of a name, as another program would
CASES: list[Callable[[Open], None]] = []


def case(play: Callable[[Open], None]) -> Callable[[Open], None]:
    CASES.append(play)
    return play


def say(role: str, *texts: str) -> list[dict[str, Any]]:
    return [{"role": role, "content": text} for text in texts]


def texts(session: Session, limit: int | None = None) -> list[str]:
    return [item["content"] for item in session.get_items(limit)]


@case
def a_session_that_nobody_wrote_to_is_empty(open_session: Open) -> None:
    assert open_session("s").get_items() == []


@case
def items_come_back_in_their_order(open_session: Open) -> None:
    session, items = open_session("s"), [*say("user", "Where is it?"), *say("assistant", "In the shed.")]
    session.add_items(items)
    assert session.get_items() == items


@case
def later_items_follow(open_session: Open) -> None:
    for text in ("one", "two", "three"):
        open_session("s").add_items(say("user", text))  # another program each time
    assert texts(open_session("s")) == ["one", "two", "three"]


@case
def items_of_every_kind_come_back_as_they_were(open_session: Open) -> None:
    items = [
        {"role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": 1}'},
        {"type": "function_call_output", "call_id": "c1", "output": ""},
        {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": None},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c2"}]},
    ]
    session = open_session("s")
    session.add_items(items)
    assert session.get_items() == items


@case
def adding_nothing_adds_nothing(open_session: Open) -> None:
    session = open_session("s")
    session.add_items([])
    assert session.get_items() == []


@case
def a_limit_gives_the_last_in_their_order(open_session: Open) -> None:
    session = open_session("s")
    session.add_items(say("user", *"abcdef"))
    assert (texts(session, 2), texts(session, 4)) == (["e", "f"], ["c", "d", "e", "f"])


@case
def a_limit_over_their_number_gives_all(open_session: Open) -> None:
    session = open_session("s")
    session.add_items(say("user", *"abc"))
    assert texts(session, 10) == ["a", "b", "c"]


@case
def a_limit_of_none_at_all_gives_none(open_session: Open) -> None:
    session = open_session("s")
    session.add_items(say("user", *"abc"))
    assert session.get_items(0) == []


@case
def a_long_session_has_all_of_its_pages(open_session: Open) -> None:
    session, said = open_session("s"), [str(n) for n in range(250)]
    session.add_items(say("user", *said))
    assert (texts(session), texts(session, 130)) == (said, said[-130:])


@case
def the_last_item_is_popped(open_session: Open) -> None:
    session = open_session("s")
    session.add_items([*say("user", "a"), *say("assistant", "b")])
    assert session.pop_item() == {"role": "assistant", "content": "b"}
    assert texts(session) == ["a"]


@case
def what_is_added_after_a_pop_follows_what_is_left(open_session: Open) -> None:
    session = open_session("s")
    session.add_items(say("user", *"abc"))
    session.pop_item()
    session.add_items(say("user", "d"))
    assert texts(session) == ["a", "b", "d"]


@case
def an_empty_session_pops_nothing(open_session: Open) -> None:
    session = open_session("s")
    assert session.pop_item() is None
    session.add_items(say("user", *"ab"))
    popped = [session.pop_item() for _ in range(3)]
    assert [one and one["content"] for one in popped] == ["b", "a", None]
    assert session.get_items() == []


@case
def sessions_do_not_see_each_other(open_session: Open) -> None:
    one, other, inside = (open_session(name) for name in ("s", "s1", "s/1"))
    one.add_items(say("user", "cats"))
    other.add_items(say("user", "dogs", "birds"))
    inside.add_items(say("user", "fish"))
    assert (other.pop_item() or {})["content"] == "birds"
    assert [texts(each) for each in (one, other, inside)] == [["cats"], ["dogs"], ["fish"]]


@case
def a_cleared_session_is_empty_alone(open_session: Open) -> None:
    one, other = open_session("one"), open_session("other")
    one.add_items(say("user", *map(str, range(120))))
    other.add_items(say("user", "stays"))
    one.clear_session()
    one.clear_session()
    assert (one.get_items(), texts(other)) == ([], ["stays"])


@case
def a_cleared_session_goes_on(open_session: Open) -> None:
    session = open_session("s")
    session.add_items(say("user", "before"))
    session.clear_session()
    session.add_items(say("user", "after", "that"))
    assert texts(session) == ["after", "that"]


@case
def texts_of_any_script_and_sign_come_back(open_session: Open) -> None:
    said = ["こんばんは", "🌊🐟", "Здравствуйте", "D'Arcy", '"SELECT 1;"', "x'); DROP TABLE y;--", "", "\n\t"]
    session = open_session("Ünï ' 日本/..")
    session.add_items(say("user", *said))
    assert texts(session) == said


@case
def of_many_who_add_at_once_nothing_is_lost(open_session: Open) -> None:
    def add(n: int) -> None:
        try:
            open_session("s").add_items(say("user", f"{n} a", f"{n} b"))
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(add, range(10)))
    found = texts(open_session("s"))
    assert sorted(found) == sorted(f"{n} {end}" for n in range(10) for end in "ab")
    assert all(found[at + 1] == f"{found[at][0]} b" for at in range(0, 20, 2))


@pytest.mark.parametrize("play", CASES, ids=lambda play: play.__name__)
def test_a_session_of_items(play: Callable[[Open], None], api: Api) -> None:
    play(lambda name: Session(Api(api.token), name))


def test_as_many_cases_as_promised() -> None:
    assert len(CASES) == 17
