"""Items over REST: what stands under a key, lists, batches, branches, erasure, and what is refused."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection

from memory.engines.items import listing
from memory.models import Fact, Project
from tests.memory.api.client import Api, api_for, nothing_left, refused

pytestmark = pytest.mark.django_db(transaction=True)
THEME = "/items/users/ada/theme"
VALUES: list[Any] = [
    None, True, False, 0, 1, 1.5, 10**30, "", " ", "dark", "日本 🌸 ", [], {}, [1, [2, {"a": None}]],
    {"a.b": {"": [True, 1, 1.0]}, "z": 1, "a": 2},
]  # fmt: skip


def put(api: Api, path: str, value: Any, **rest: Any) -> dict[str, Any]:
    answer = api("PUT", f"/items/{path}", {"value": value, **rest})
    assert answer.status_code in (200, 201), answer.content
    return answer.json()


def batch(api: Api, *calls: dict[str, Any], **body: Any) -> list[dict[str, Any]]:
    answer = api.post("/items/batch", {"calls": list(calls), **body})
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def at(path: str) -> dict[str, str]:
    namespace, _, key = path.rpartition("/")
    return {"namespace": namespace, "key": key}


def keys(api: Api, query: str = "") -> list[str]:
    rows = api.get(f"/items?{query}").json()["results"]
    return [f"{row['namespace']}/{row['key']}" for row in rows]


# ---- one item ------------------------------------------------------------------------------------------


def test_a_put_makes_and_replaces_what_stands_under_a_key(api: Api) -> None:
    first = api("PUT", THEME, {"value": {"theme": "dark"}, "tags": ["ui"], "metadata": {"by": "ada"}})
    assert (first.status_code, first["ETag"][:3]) == (201, '"1-')
    row = first.json()
    assert (row["namespace"], row["key"], row["value"]) == ("users/ada", "theme", {"theme": "dark"})
    assert (row["text"], row["tags"], row["version"], row["created"]) == ('{"theme":"dark"}', ["ui"], 1, True)
    second = api("PUT", THEME, {"value": {"theme": "light"}, "text": "Ada likes it light."})
    assert second.status_code == 200
    shown = api.get(THEME).json()
    assert (shown["id"], shown["version"], shown["value"]) == (row["id"], 2, {"theme": "light"})
    # What a put does not say, it does not keep.
    assert (shown["text"], shown["tags"], shown["metadata"]) == ("Ada likes it light.", [], {})
    assert (
        api("PUT", THEME, {"value": {"theme": "light"}, "text": "Ada likes it light."}).json()["version"] == 2
    )
    assert (Fact._base_manager.count(), keys(api)) == (2, ["users/ada/theme"])


def test_values_come_back_as_they_were_put(api: Api) -> None:
    for n, value in enumerate(VALUES):
        put(api, f"values/n{n}", value)
        found = api.get(f"/items/values/n{n}").json()["value"]
        assert (found, repr(found)) == (value, repr(sorted_names(value)))


def sorted_names(value: Any) -> Any:
    """Objects have no order in JSON: names come back sorted."""
    if isinstance(value, dict):
        return {name: sorted_names(value[name]) for name in sorted(value)}
    return [sorted_names(one) for one in value] if isinstance(value, list) else value


def test_an_item_is_a_fact(api: Api) -> None:
    made = put(api, "users/ada/theme", {"theme": "dark"}, text="Ada prefers the dark theme.")
    fact = api.get(f"/facts/{made['id']}").json()
    assert (fact["fact_text"], fact["namespace"], fact["key"]) == (made["text"], "users/ada", "theme")
    assert fact["value"] == {"theme": "dark"}
    api.fact("Something else.")
    assert [one["id"] for one in api.get("/facts?namespace=users").json()["results"]] == [made["id"]]
    other = put(api, "users/eve/theme", 1, ttl=60)
    first = api.get("/facts?namespace=users&limit=1").json()
    second = api.get(f"/facts?namespace=users&limit=1&cursor={first['next']}").json()
    shown = {one["id"] for one in (*first["results"], *second["results"])}
    assert (shown, second["next"]) == ({made["id"], other["id"]}, None)
    api.delete("/items/users/eve/theme")
    found = api.get("/facts/search?q=dark+theme").json()["results"]
    assert [one["fact"]["id"] for one in found] == [made["id"]]
    put(api, "users/ada/theme", {"theme": "light"}, text="Ada prefers the light theme.")
    versions = api.get(f"/facts/{made['id']}/history").json()["results"]
    assert [one["value"]["theme"] for one in versions] == ["light", "dark"]
    # A fact of the same words is another one, and is not stored as the item.
    assert api.fact("Ada prefers the light theme.")["id"] != made["id"]
    assert put(api, "users/eve/theme", {"theme": "light"}, text="Ada prefers the light theme.")["created"]


def test_a_put_asks_for_a_version(api: Api) -> None:
    tag = api("PUT", THEME, {"value": 1})["ETag"]
    with nothing_left():
        refused(api("PUT", THEME, {"value": 2}, If_None_Match="*"), 412, "key_taken")
        refused(api("PUT", THEME, {"value": 2, "only_new": True}), 412, "key_taken")
        refused(api("PUT", "/items/users/eve/theme", {"value": 2}, If_Match=tag), 412, "stale_version")
        refused(api("PUT", THEME, {"value": 2, "expected_version": 7}), 412, "stale_version")
    assert api("PUT", THEME, {"value": 2}, If_Match=tag).json()["version"] == 2
    with nothing_left():
        refused(api("PUT", THEME, {"value": 3}, If_Match=tag), 412, "stale_version")
        refused(api.delete(THEME, If_Match=tag), 412, "stale_version")
        absent = "/items/users/eve/theme"
        refused(api("PUT", absent, {"value": 3}, If_Match="*"), 412, "stale_version")
        refused(api("PUT", absent, {"value": 3, "only_present": True}), 412, "stale_version")
    assert api("PUT", THEME, {"value": 3}, If_Match="*").json()["version"] == 3
    assert api("PUT", "/items/users/eve/theme", {"value": 1}, If_None_Match="*").status_code == 201
    shown = api.get(THEME)
    assert api.get(THEME, If_None_Match=shown["ETag"]).status_code == 304


def test_what_is_deleted_is_gone_and_may_be_put_again(api: Api) -> None:
    made = put(api, "a/k", 1)
    assert api.delete("/items/a/k").status_code == 204
    refused(api.get("/items/a/k"), 404, "not_found")
    refused(api.delete("/items/a/k"), 404, "not_found")
    again = put(api, "a/k", 1)
    assert (again["id"], again["version"], again["created"]) == (made["id"], 3, True)
    assert api.get("/items/a/k?at=1").json()["version"] == 1


def test_what_has_expired_is_gone_from_lists_too(api: Api) -> None:
    put(api, "a/k", 1, ttl=60)
    put(api, "a/l", 1, expires_at=(datetime.now(UTC) + timedelta(hours=1)).isoformat())
    assert keys(api) == ["a/k", "a/l"]
    Fact._base_manager.update(expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert (keys(api), api.get("/items/namespaces").json()["namespaces"]) == ([], [])
    refused(api.get("/items/a/k"), 404, "not_found")
    refused(api.delete("/items/a/k"), 404, "not_found")
    assert api.get("/facts?namespace=a").json()["results"] == []
    assert len(api.get("/facts").json()["results"]) == 2
    refused(api("PUT", "/items/a/k", {"value": 1}, If_Match="*"), 412, "stale_version")
    again = api("PUT", "/items/a/k", {"value": 1}, If_None_Match="*")
    assert (again.status_code, again.json()["expires_at"]) == (201, None)


def test_reading_may_begin_a_ttl_anew(api: Api) -> None:
    first = put(api, "a/k", 1, ttl=3600)
    assert api.get("/items/a/k?renew=true").json()["version"] == 1  # hardly any of it is over
    hour = timedelta(hours=1)
    row = Fact._base_manager.get()
    Fact._base_manager.update(updated_at=row.updated_at - hour / 2, expires_at=row.expires_at - hour / 2)
    assert api.get("/items/a/k").json()["version"] == 1
    shown = api.get("/items/a/k?renew=true").json()
    assert (shown["version"], shown["expires_at"][:15]) == (2, first["expires_at"][:15])


def test_words_alone_find_what_shall_not_be_embedded(api: Api) -> None:
    made = put(api, "a/k", "A heron stands in the pond.", embed=False)
    fact = api.get(f"/facts/{made['id']}").json()
    assert (fact["embed"], fact["embedding_state"]) == (False, "off")
    found = api.get("/facts/search?q=heron").json()["results"]
    assert [one["fact"]["id"] for one in found] == [made["id"]]
    assert put(api, "a/k", "A heron stands in the pond.")["version"] == 2
    assert api.get(f"/facts/{made['id']}").json()["embed"] is None


def test_sixty_four_writers_of_one_key_make_one_item(api: Api) -> None:
    def write(n: int) -> tuple[int, int]:
        try:
            answer = Api(api.token)("PUT", THEME, {"value": n})
            return answer.status_code, answer.json()["version"]
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(write, range(64)))
    assert sorted(version for _, version in answers) == list(range(1, 65))
    assert [code for code, version in answers if version == 1] == [201]
    assert {code for code, version in answers if version > 1} == {200}
    last = next(n for n, (_, version) in enumerate(answers) if version == 64)
    assert (api.get(THEME).json()["value"], keys(api)) == (last, ["users/ada/theme"])


def test_one_of_many_puts_of_what_is_new(api: Api) -> None:
    def write(n: int) -> int:
        try:
            return Api(api.token)("PUT", THEME, {"value": n}, If_None_Match="*").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(write, range(16))) == [201] + [412] * 15


# ---- lists ---------------------------------------------------------------------------------------------


def test_a_list_goes_on_past_a_hundred(api: Api) -> None:
    batch(api, *({"op": "put", "namespace": "n", "key": f"k{n:03}", "value": n} for n in range(250)))
    batch(api, {"op": "put", **at("m/z"), "value": 0}, {"op": "put", **at("n-/a"), "value": 0})
    found, cursor = [], ""
    while cursor is not None:
        page = api.get(f"/items?prefix=n&limit=100&cursor={cursor}").json()
        found += [row["value"] for row in page["results"]]
        last, cursor = page, page["next"]
    assert found == list(range(250))
    back = api.get(f"/items?prefix=n&limit=100&cursor={last['previous']}").json()
    assert [row["value"] for row in back["results"]] == list(range(100, 200))
    refused(api.get(f"/items?prefix=m&cursor={last['previous']}"), 400, "invalid", "cursor")


def test_a_prefix_takes_whole_segments(api: Api) -> None:
    paths = ["a/k", "a/b/k", "a-/k", "a/b-/k", "a0/k", "ab/k", "a/b/c/k", "a /k", "Ä/k", "a/Ä/k"]
    for path in paths:
        put(api, path, path)
    assert keys(api, "prefix=a") == ["a/k", "a/b-/k", "a/b/k", "a/b/c/k", "a/Ä/k"]
    assert keys(api, "prefix=a/b") == ["a/b/k", "a/b/c/k"]
    assert len(keys(api)) == len(paths)
    assert keys(api, "prefix=b") == []


def test_namespaces_by_prefix_suffix_and_depth(api: Api) -> None:
    for path in ("a/k", "a/l", "a/b/k", "a/b/c/k", "a/d/c/k", "e/c/k"):
        put(api, path, 1)

    def names(query: str) -> list[str]:
        return api.get(f"/items/namespaces?{query}").json()["namespaces"]

    assert names("") == ["a", "a/b", "a/b/c", "a/d/c", "e/c"]
    assert names("prefix=a/b") == ["a/b", "a/b/c"]
    assert names("suffix=c") == ["a/b/c", "a/d/c", "e/c"]
    assert names("prefix=a&suffix=c&depth=2") == ["a/b", "a/d"]
    assert names("depth=2") == ["a", "a/b", "a/d", "e/c"]
    assert names("depth=1") == ["a", "e"]
    assert (names("limit=2"), names("limit=2&offset=3")) == (["a", "a/b"], ["a/d/c", "e/c"])
    api.delete("/items/e/c/k")
    assert names("depth=1") == ["a"]


CONDITIONS = [
    ({"value.n": 2}, "b"),
    ({"value.n": {"ne": 2}}, "acde"),
    ({"value.n": {"gt": 1, "lte": 3}}, "bc"),
    ({"value.n": {"gte": "3"}}, "d"),
    ({"value.n": {"in": [1, "30"]}}, "ad"),
    ({"value.n": True}, ""),
    ({"value.tags": {"contains": "x"}}, "ab"),
    ({"value.name": {"contains": "é"}}, "c"),
    ({"value.at.city": "Rome"}, "c"),
    ({"value.tags.1": "y"}, "b"),
    ({"value.nothing.at.all": 1}, ""),
    ({"metadata.by": "eve"}, "e"),
    ({"value.at": {"eq": {"city": "Rome"}}}, "c"),
    ({"value.n": None}, ""),
    ({"value.n": 2.0, "metadata.by": {"ne": "eve"}}, "b"),
]


def test_conditions_on_value_and_metadata(api: Api) -> None:
    put(api, "n/a", {"n": 1, "tags": ["x"]})
    put(api, "n/b", {"n": 2, "tags": ["x", "y"]})
    put(api, "n/c", {"n": 3, "name": "Zoé", "at": {"city": "Rome"}})
    put(api, "n/d", {"n": "30"})
    put(api, "n/e", [1], metadata={"by": "eve"})
    for where, expected in CONDITIONS:
        (found,) = batch(api, {"op": "search", "prefix": "n", "where": where})
        assert "".join(row["key"] for row in found["items"]) == expected, where
    listed = api.client.get(
        "/api/v1/items", {"where": '{"value.n": {"lt": 3}}'}, headers={"Authorization": f"Bearer {api.token}"}
    )
    assert [row["key"] for row in listed.json()["results"]] == ["a", "b"]


REFUSED_CONDITIONS = [
    [],
    {"text": 1},
    {"value.n": {"like": 1}},
    {"value.n": {}},
    {"value.n": {"gt": None}},
    {"value.n": {"gt": [1]}},
    {"value.n": {"lt": True}},
    {"value.n": {"in": 1}},
    {"value.n": {"contains": {}}},
    {f"value.n{n}": 1 for n in range(21)},
]


@pytest.mark.parametrize("where", REFUSED_CONDITIONS[1:])
def test_conditions_that_mean_nothing_are_refused(api: Api, where: Any) -> None:
    answer = api.post("/items/batch", {"calls": [{"op": "search", "where": where}]})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["field"].startswith("calls[0].where")


# ---- batches -------------------------------------------------------------------------------------------


def test_a_batch_is_one_commit_and_reads_what_stood_before(api: Api) -> None:
    put(api, "a/k", 1)
    head = api.get("/branches/main").json()["head"]
    results = batch(
        api,
        {"op": "get", **at("a/k")},
        {"op": "put", **at("a/k"), "value": 2},
        {"op": "put", **at("a/l"), "value": 1},
        {"op": "get", **at("a/l")},
        {"op": "put", **at("a/l"), "value": 2},
        {"op": "delete", **at("a/k")},
        {"op": "delete", **at("a/none")},
        {"op": "search", "prefix": "a"},
        {"op": "namespaces"},
    )
    assert (results[0]["item"]["value"], results[3]["item"]) == (1, None)
    assert results[1] == {"op": "put", "id": None, "version": None, "created": False}
    assert [(one["version"], one["created"]) for one in (results[2], results[4])] == [(1, True)] * 2
    assert [one["deleted"] for one in results[5:7]] == [True, False]
    assert [row["key"] for row in results[7]["items"]] == ["k"]
    assert (results[8]["namespaces"], keys(api)) == (["a"], ["a/l"])
    assert api.get("/items/a/l").json()["value"] == 2
    assert api.get("/branches/main").json()["head"] == head + 1


def test_a_batch_searches(api: Api) -> None:
    batch(
        api,
        {"op": "put", **at("u/ada/1"), "value": {"n": 1}, "text": "Ada keeps bees on the roof."},
        {"op": "put", **at("u/eve/1"), "value": {"n": 2}, "text": "Eve keeps bees in the garden."},
    )
    api.fact("Nobody keeps bees.")
    (all_of, of_ada, of_two, plain) = batch(
        api,
        {"op": "search", "query": "bees"},
        {"op": "search", "query": "bees", "prefix": "u/ada"},
        {"op": "search", "query": "bees", "where": {"value.n": 2}},
        {"op": "search", "limit": 1, "offset": 1},
    )
    assert sorted(row["namespace"] for row in all_of["items"]) == ["u/ada", "u/eve"]
    assert [row["namespace"] for row in of_ada["items"]] == ["u/ada"]
    told = [(row["namespace"], row["score"] > 0, 0 < row["evidence"] <= 1) for row in of_two["items"]]
    assert told == [("u/eve", True, True)]
    rows = plain["items"]
    assert [(row["namespace"], row["score"], row["evidence"]) for row in rows] == [("u/eve", None, None)]
    assert (plain["more"], all_of["more"]) == (False, False)


def test_a_search_in_a_batch_goes_past_a_hundred(api: Api) -> None:
    batch(api, *({"op": "put", **at(f"n/k{n}"), "value": f"A heron in pond {n}."} for n in range(150)))
    api.fact("A heron without a key.")
    call = {"op": "search", "query": "heron", "prefix": "n"}
    (every, first, rest) = batch(
        api,
        {**call, "limit": 400},
        {**call, "limit": 90},
        {**call, "limit": 90, "offset": 90},
    )
    keys_of = [[row["key"] for row in found["items"]] for found in (every, first, rest)]
    assert (len(set(keys_of[0])), keys_of[1] + keys_of[2]) == (150, keys_of[0])
    assert [found["more"] for found in (every, first, rest)] == [False, True, False]
    beyond = {"calls": [{**call, "limit": 1000, "offset": 1}]}
    refused(api.post("/items/batch", beyond), 400, "invalid", "calls[0].limit")


def test_a_ttl_begins_anew_once_all_is_written(api: Api) -> None:
    batch(api, *({"op": "put", **at(f"a/{n}"), "value": n, "ttl": 3600} for n in range(3)))
    hour, row = timedelta(hours=1), Fact._base_manager.first()
    Fact._base_manager.update(updated_at=row.updated_at - hour / 2, expires_at=row.expires_at - hour / 2)
    taken = {"op": "put", **at("a/0"), "value": 1, "only_new": True}
    with nothing_left():
        calls = [{"op": "get", **at("a/1"), "renew": True}, taken]
        refused(api.post("/items/batch", {"calls": calls}), 412, "key_taken")
    head = api.get("/branches/main").json()["head"]
    batch(api, {"op": "get", **at("a/0"), "renew": True}, {"op": "search", "prefix": "a", "renew": True})
    assert api.get("/branches/main").json()["head"] == head + 1
    assert [row["version"] for row in api.get("/items").json()["results"]] == [2, 2, 2]


def test_a_search_says_that_there_is_more(api: Api, monkeypatch: Any) -> None:
    batch(
        api, *({"op": "put", "namespace": "n", "key": f"k{n:02}", "value": "x" * 60_000} for n in range(80))
    )
    (found,) = batch(api, {"op": "search", "prefix": "n", "limit": 80})
    assert (len(found["items"]) < 80, found["more"]) == (True, True)
    monkeypatch.setattr(listing, "SCAN_ROWS", 50)
    for query in ("", "x"):
        call = {"op": "search", "prefix": "n", "query": query, "where": {"value": "y"}}
        refused(api.post("/items/batch", {"calls": [call]}), 413, "too_large", "prefix")


def test_a_put_replaces_all_of_an_item(api: Api) -> None:
    made = put(api, "a/k", 1)
    past = "2026-01-01T00:00:00Z"
    changed = {"pinned": True, "priority": "P1", "kind": "NOTE", "valid_until": past}
    assert api.patch(f"/facts/{made['id']}", changed).status_code == 200
    put(api, "a/k", 2, text="A heron stands here.")
    fact = api.get(f"/facts/{made['id']}").json()
    assert [fact[name] for name in changed] == [False, "P3", "OBSERVATION", None]


def test_names_in_any_script_and_with_joined_signs(api: Api) -> None:
    for name in ("👨‍👩‍👧", "می‌خواهم", "שלום", "e\u0301"):
        put(api, f"{quote('n ' + name)}/{quote(name)}", name)
        assert api.get(f"/items/{quote('n ' + name)}/{quote(name)}").json()["key"] == name


def test_a_batch_writes_all_or_nothing(api: Api) -> None:
    put(api, "a/k", 1)
    good = {"op": "put", **at("a/l"), "value": 1}
    with nothing_left():
        for bad, code in (
            ({"op": "put", **at("a/k"), "value": 1, "only_new": True}, "key_taken"),
            ({"op": "put", **at("a/k"), "value": 2, "expected_version": 7}, "stale_version"),
            ({"op": "delete", **at("a/k"), "expected_version": 7}, "stale_version"),
            ({"op": "delete", **at("a/none"), "expected_version": 1}, "stale_version"),
            ({"op": "search", "query": "a", "search_type": "near"}, "invalid"),
            ({"op": "put", "namespace": "a", "key": "x"}, "invalid"),
            ({"op": "put", **at("a/x"), "value": "x" * 70_000}, "too_large"),
            ({"op": "move", **at("a/x")}, "invalid"),
            ({"op": "get", **at("a/x"), "colour": 1}, "unknown_field"),
            ("get", "invalid"),
        ):
            answer = api.post("/items/batch", {"calls": [good, bad]})
            assert answer.json()["code"] == code, answer.content
    refused(api.post("/items/batch", {"calls": []}), 400, "invalid", "calls")
    refused(api.post("/items/batch", {"calls": [good] * 1001}), 400, "invalid", "calls")
    searches = [{"op": "search"}, {"op": "namespaces"}] * 25
    assert len(batch(api, *searches, {"op": "get", **at("a/k")})) == 51
    refused(api.post("/items/batch", {"calls": [*searches, searches[0]]}), 413, "too_large", "calls[50].op")


def test_a_thousand_puts_are_one_request(api: Api) -> None:
    calls = [{"op": "put", "namespace": "n", "key": str(n), "value": {"n": n}} for n in range(1000)]
    results = batch(api, *calls)
    assert [(one["version"], one["created"]) for one in results] == [(1, True)] * 1000
    assert [one["version"] for one in batch(api, *calls)] == [1] * 1000
    assert api.get("/branches/main").json()["head"] == 1


# ---- branches ------------------------------------------------------------------------------------------


def fork(api: Api, name: str) -> None:
    assert api.post("/branches", {"name": name}).status_code == 201


def merge(api: Api, source: str, **more: Any) -> Any:
    api.patch("/policies/main", {"gates": ["conflicts"]})
    return api.post(f"/branches/{source}/merge", more)


def test_a_branch_inherits_and_hides(api: Api) -> None:
    made = put(api, "a/k", 1)
    fork(api, "try")
    assert api.get("/items/a/k?branch=try").json()["value"] == 1
    there = put(api, "a/k", 2, branch="try")
    assert (there["id"], there["version"], there["created"]) == (made["id"], 2, False)
    assert api.get("/items/a/k").json()["value"] == 1
    assert api.delete("/items/a/k?branch=try").status_code == 204
    assert (keys(api), keys(api, "branch=try")) == (["a/k"], [])
    put(api, "a/k", 3, branch="try")
    assert merge(api, "try").status_code == 200
    assert api.get("/items/a/k").json()["value"] == 3


def test_two_branches_that_put_the_same_key_conflict(api: Api) -> None:
    fork(api, "try")
    mine = put(api, "a/k", {"n": 1}, text="One.")
    theirs = put(api, "a/k", {"n": 2}, text="Two.", branch="try")
    same = {"value": "equal", "text": "Equal."}
    for branch in ("main", "try"):
        put(api, "a/same", **same, branch=branch)
    assert mine["id"] == theirs["id"]
    plan = merge(api, "try", dry_run=True).json()
    conflicts = [item for item in plan["results"] if item["class"] == "conflict"]
    assert [(item["reason"], item["id"]) for item in conflicts] == [("same_key", mine["id"])]
    assert merge(api, "try").status_code == 409
    decided = [{"id": mine["id"], "choice": "source"}]
    assert merge(api, "try", decisions=decided).status_code == 200
    shown = api.get("/items/a/k").json()
    assert (shown["value"], shown["text"]) == ({"n": 2}, "Two.")
    assert merge(api, "try").json()["commit"] is None


def test_one_and_true_are_two_values(api: Api) -> None:
    put(api, "a/k", 1, confidence=1)
    assert put(api, "a/k", 1, confidence=1)["version"] == 1
    assert put(api, "a/k", True)["value"] is True
    fork(api, "try")
    for key, mine, theirs in (("n", 1, True), ("list", [0], [False]), ("same", [1], [1])):
        put(api, f"b/{key}", mine, text="Equal.")
        put(api, f"b/{key}", theirs, text="Equal.", branch="try")
    plan = merge(api, "try", dry_run=True).json()
    asked = [item for item in plan["results"] if item["class"] == "conflict"]
    assert sorted(repr(item["ours"]["value"]) for item in asked) == ["1", "[0]"]


def test_both_are_kept_where_that_is_decided_one_without_the_key(api: Api) -> None:
    fork(api, "try")
    mine = put(api, "a/k", {"n": 1}, text="One.")
    put(api, "a/k", {"n": 2}, text="Two.", branch="try")
    assert merge(api, "try", decisions=[{"id": mine["id"], "choice": "both"}]).status_code == 200
    facts = {row["fact_text"]: row for row in api.get("/facts").json()["results"]}
    assert (facts["One."]["key"], facts["Two."]["key"], facts["Two."]["value"]) == ("k", None, {"n": 2})
    assert [api.get("/items/a/k").json()["value"], keys(api)] == [{"n": 1}, ["a/k"]]


def test_like_items_are_no_near_duplicates(api: Api) -> None:
    api.fact("Ada prefers the dark theme.")
    fork(api, "try")
    put(api, "u/ada", "Ada prefers the dark theme.", branch="try")
    put(api, "u/eve", "Ada prefers the dark themes.", branch="try")
    assert merge(api, "try").status_code == 200
    assert keys(api) == ["u/ada", "u/eve"]


# ---- erasure, files, rights ----------------------------------------------------------------------------


def test_what_was_erased_is_nowhere_and_its_key_is_free(api: Api) -> None:
    made = put(api, "users/ada/phone", {"phone": "0049 secret number"}, text="Ada's phone.")
    fork(api, "try")
    answer = api.post("/erasures", {"scope": "fact", "target": made["id"], "confirm": "test"})
    assert answer.status_code in (200, 201), answer.content
    refused(api.get("/items/users/ada/phone"), 404, "not_found")
    assert (keys(api), keys(api, "branch=try")) == ([], [])
    for row in Fact._base_manager.all():
        assert (row.path, row.value, "0049" in row.fact_text) == (None, None, False)
    again = put(api, "users/ada/phone", {"phone": "none"})
    assert (again["created"], again["id"] == made["id"]) == (True, False)
    assert put(api, "users/ada/phone", {"phone": "new"})["version"] == 2
    assert keys(api) == ["users/ada/phone"]
    there = put(api, "users/ada/phone", {"phone": "there"}, branch="try")
    assert there["id"] == again["id"]


def test_items_of_a_project_are_its_own(api: Api, stranger: Api) -> None:
    mine = put(api, "a/k", 1)
    refused(stranger.get("/items/a/k"), 404, "not_found")
    theirs = put(stranger, "a/k", 2)
    assert (mine["id"] != theirs["id"], api.get("/items/a/k").json()["value"]) == (True, 1)
    assert keys(stranger, "prefix=a") == ["a/k"]


def test_scopes_and_patterns_of_a_key_hold(project: Project, api: Api) -> None:
    put(api, "a/k", 1, ttl=3600)
    reader = api_for(project, scopes=["read"])
    Fact._base_manager.update(updated_at=datetime.now(UTC) - timedelta(hours=1))
    with nothing_left():
        for answer in (
            reader("PUT", "/items/a/k", {"value": 2}),
            reader.delete("/items/a/k"),
            reader.get("/items/a/k?renew=true"),
            reader.post("/items/batch", {"calls": [{"op": "put", **at("a/k"), "value": 1}]}),
        ):
            assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), answer.content
    assert reader.get("/items/a/k").json()["value"] == 1
    assert batch(reader, {"op": "get", **at("a/k")})[0]["item"]["value"] == 1


@pytest.mark.parametrize(
    ("namespace", "key", "field"),
    [
        ("a", "b/c", "key"),
        ("a", ".", "key"),
        ("a", "...", "key"),
        ("a", "", "key"),
        ("a", "k" * 256, "key"),
        ("a", "a\nb", "key"),
        ("a", "a\x00", "key"),
        ("a", "\ud800", "key"),
        ("a", 1, "key"),
        ("", "k", "namespace"),
        ("a//b", "k", "namespace"),
        ("/a", "k", "namespace"),
        ("a/", "k", "namespace"),
        ("a/../b", "k", "namespace"),
        ("a/ /b", "k", "namespace"),
        ("n" * 513, "k", "namespace"),
        (None, "k", "namespace"),
    ],
)
def test_names_that_no_address_can_hold_are_refused(api: Api, namespace: Any, key: Any, field: str) -> None:
    with nothing_left():
        for op in ("put", "get", "delete"):
            call = {"op": op, "namespace": namespace, "key": key, **({"value": 1} if op == "put" else {})}
            answer = api.post("/items/batch", {"calls": [call]})
            refused(answer, 400, "invalid", f"calls[0].{field}")


def test_values_are_stored_as_they_are_or_refused(api: Api) -> None:
    deep: Any = 1
    for _ in range(80):
        deep = [deep]
    with nothing_left():
        for value, status in (
            ("x" * 65_537, 413),
            (deep, 400),
            ("a\x00b", 400),
            ({"token": "ghp_" + "a1B2" * 9}, 400),
            ({"password": "hunter2hunter2"}, 400),
            ({"a": "\ud800"}, 400),
        ):
            assert api("PUT", "/items/a/k", {"value": value}).status_code == status, value
        refused(api("PUT", "/items/a/k", {}), 400, "invalid", "value")
        refused(api("PUT", "/items/a/k", {"value": 1, "ttl": 0}), 400, "invalid", "ttl")
        refused(api("PUT", "/items/a/k", {"value": 1, "colour": 1}), 400, "unknown_field", "colour")
        assert api("PUT", "/items/a/k", b'{"value": NaN}').status_code == 400
        refused(api("PUT", "/items/k", {"value": 1}), 404, "not_found")
        refused(api("PUT", "/items/s/password", {"value": "hunter2hunter2"}), 400, "invalid", "value")
        refused(api("PUT", "/items/s/ghp_" + "a1B2" * 9, {"value": 1}), 400, "invalid", "key")
        for path in ("/items/batch", "/items/namespaces"):
            refused(api("PUT", path, {"value": 1}), 405, "method_not_allowed")
