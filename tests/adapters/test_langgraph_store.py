"""A store as LangGraph's BaseStore promises it, played over REST: a tuple and a key name a value."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import pytest
from django.db.models import F

from memory.models import Fact
from tests.memory.api.client import Api
from tests.memory.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)
Path = tuple[str, ...]


class Refused(Exception):
    pass


class Op(NamedTuple):
    op: str
    fields: dict[str, Any]


def join(path: Path) -> str:
    """Return a namespace as the API writes it; what it takes for its own is quoted, but wildcards."""
    return "/".join(one if one == "*" else quote(one, safe=" ") for one in path)


def put(path: Path, key: str, value: Any, *, index: bool = True, ttl: int | None = None) -> Op:
    if not path or not all(path) or any("." in one for one in path):
        raise Refused(path)
    place = {"namespace": join(path), "key": quote(key, safe=" .")}
    if value is None:
        return Op("delete", place)
    return Op("put", {**place, "value": value, "embed": index, **({"ttl": ttl} if ttl else {})})


def get(path: Path, key: str, *, refresh: bool = False) -> Op:
    place = {"namespace": join(path), "key": quote(key, safe=" .")}
    return Op("get", {**place, **({"renew": True} if refresh else {})})


def search(prefix: Path, query: str | None = None, where: Any = None, limit: int = 10, offset: int = 0) -> Op:
    options = {"query": query, "search_type": "vector"} if query else {}
    conditions = {f"value.{name}": strip_signs(value) for name, value in (where or {}).items()}
    place = {"prefix": join(prefix), "where": conditions, "limit": limit, "offset": offset}
    return Op("search", {**place, **options})


def strip_signs(value: Any) -> Any:
    return {name.lstrip("$"): one for name, one in value.items()} if isinstance(value, dict) else value


def namespaces(prefix: Path = (), suffix: Path = (), **options: int) -> Op:
    return Op("namespaces", {"prefix": join(prefix), "suffix": join(suffix), **options})


class Store:
    def __init__(self, api: Api) -> None:
        self.api = api

    def batch(self, *ops: Op) -> list[Any]:
        calls = [{"op": one.op, **one.fields} for one in ops]
        answer = self.api.post("/items/batch?wait=indexed", {"calls": calls})
        if answer.status_code != 200:
            raise Refused(answer.content)
        return [read(one) for one in answer.json()["results"]]

    def __call__(self, op: Op) -> Any:
        return self.batch(op)[0]

    def keys(self, op: Op) -> list[str]:
        return [unquote(row["key"]) for row in self(op)]


def read(result: dict[str, Any]) -> Any:
    if result["op"] == "namespaces":
        return [tuple(map(unquote, one.split("/"))) for one in result["namespaces"]]
    return {"get": result.get("item"), "search": result.get("items")}.get(result["op"])


CASES: list[Callable[[Store], None]] = []


def case(play: Callable[[Store], None]) -> Callable[[Store], None]:
    CASES.append(play)
    return play


@case
def what_is_put_is_read(store: Store) -> None:
    store(put(("users", "ada"), "color", {"name": "green", "deep": [1, {"a": None}]}))
    row = store(get(("users", "ada"), "color"))
    assert (row["namespace"], row["key"]) == ("users/ada", "color")
    assert row["value"] == {"name": "green", "deep": [1, {"a": None}]}


@case
def a_put_replaces_and_keeps_when_it_was_made(store: Store) -> None:
    store(put(("a",), "k", {"n": 1}))
    first = store(get(("a",), "k"))
    store(put(("a",), "k", {"n": 2}))
    second = store(get(("a",), "k"))
    assert (second["value"], second["created_at"]) == ({"n": 2}, first["created_at"])
    assert second["updated_at"] > first["updated_at"]


@case
def nothing_stands_where_nothing_was_put(store: Store) -> None:
    assert store(get(("a",), "k")) is None


@case
def none_deletes_also_what_is_not_there(store: Store) -> None:
    store(put(("a",), "k", {"n": 1}))
    store(put(("a",), "k", None))
    store(put(("a",), "never", None))
    assert (store(get(("a",), "k")), store.keys(search(("a",)))) == (None, [])


@case
def answers_come_in_the_order_of_the_operations(store: Store) -> None:
    store.batch(put(("a",), "x", {"n": 1}), put(("b",), "y", {"n": 2}))
    found = store.batch(get(("b",), "y"), search(("a",)), namespaces(), get(("a",), "none"), get(("a",), "x"))
    assert [found[0]["value"]["n"], found[1][0]["key"], found[4]["value"]["n"]] == [2, "x", 1]
    assert (found[2], found[3]) == ([("a",), ("b",)], None)


@case
def of_several_puts_of_a_key_the_last_counts(store: Store) -> None:
    store.batch(*(put(("a",), "k", {"n": n}) for n in range(5)), put(("a",), "l", None))
    assert store(get(("a",), "k"))["value"] == {"n": 4}


@case
def a_batch_reads_what_stood_before_it(store: Store) -> None:
    store(put(("a",), "k", {"n": 1}))
    old, _ = store.batch(get(("a",), "k"), put(("a",), "k", {"n": 2}))
    assert (old["value"], store(get(("a",), "k"))["value"]) == ({"n": 1}, {"n": 2})


@case
def a_put_beside_a_wrong_one_is_not_done(store: Store) -> None:
    wrong = Op("put", {"namespace": "a//b", "key": "k", "value": 1})
    with pytest.raises(Refused):
        store.batch(put(("a",), "k", {"n": 1}), wrong)
    assert store(get(("a",), "k")) is None


@case
def a_path_without_a_label_is_refused(store: Store) -> None:
    for path in ((), ("a", ""), ("the", "thing.about")):
        with pytest.raises(Refused):
            store(put(path, "k", {"n": 1}))
    for place in ({"namespace": "", "key": "k"}, {"namespace": "a", "key": ""}):
        with pytest.raises(Refused):
            store(Op("put", {**place, "value": 1}))
    assert store(namespaces()) == []


@case
def labels_and_keys_may_hold_slashes_and_any_script(store: Store) -> None:
    for label, key in (("a/b", "x/y"), ("日本", "キー"), ("100%", "a b"), ("..", "...")):
        if "." not in label:
            store(put((label, "z"), key, {"at": label}))
            assert store(get((label, "z"), key))["value"] == {"at": label}
    assert sorted(store(namespaces())) == sorted([("a/b", "z"), ("日本", "z"), ("100%", "z")])
    assert store(get(("a", "b", "z"), "x/y")) is None


PATHS: list[Path] = [
    ("shop", "red", "cars"),
    ("shop", "red", "bikes", "old"),
    ("shop", "blue", "cars"),
    ("depot", "red", "cars"),
    ("shop",),
]


def fill(store: Store) -> None:
    store.batch(*(put(path, f"k{n}", {"n": n}) for n, path in enumerate(PATHS)))


@case
def an_empty_store_has_no_namespaces(store: Store) -> None:
    assert (store(namespaces()), store(search(("a",)))) == ([], [])


@case
def namespaces_by_prefix(store: Store) -> None:
    fill(store)
    assert sorted(store(namespaces())) == sorted(PATHS)
    assert sorted(store(namespaces(("shop", "red")))) == sorted(PATHS[:2])
    assert store(namespaces(("sho",))) == []


@case
def namespaces_by_suffix(store: Store) -> None:
    fill(store)
    assert sorted(store(namespaces(suffix=("cars",)))) == sorted([PATHS[0], PATHS[2], PATHS[3]])
    assert store(namespaces(("shop",), ("red", "cars"))) == [PATHS[0]]


@case
def any_label_in_a_prefix(store: Store) -> None:
    fill(store)
    assert sorted(store(namespaces(("shop", "*", "cars")))) == sorted([PATHS[0], PATHS[2]])
    assert sorted(store(namespaces(("*", "red")))) == sorted([PATHS[0], PATHS[1], PATHS[3]])
    assert sorted(store(namespaces(("*",)))) == sorted(PATHS)


@case
def any_label_in_a_suffix(store: Store) -> None:
    fill(store)
    assert store(namespaces(suffix=("bikes", "*"))) == [PATHS[1]]
    assert sorted(store(namespaces(("*", "red"), ("*", "cars")))) == sorted([PATHS[0], PATHS[3]])
    assert store(namespaces(suffix=("*", "*", "*", "*", "*"))) == []


@case
def namespaces_cut_to_a_depth_come_once(store: Store) -> None:
    fill(store)
    cut = [("depot", "red"), ("shop",), ("shop", "blue"), ("shop", "red")]
    assert sorted(store(namespaces(depth=2))) == cut
    assert sorted(store(namespaces(("shop",), ("cars",), depth=2))) == cut[2:]
    assert sorted(store(namespaces(("*", "red"), depth=1))) == [("depot",), ("shop",)]


@case
def namespaces_in_pages(store: Store) -> None:
    paths = [("n", f"s{n:02}") for n in range(20)]
    store.batch(*(put(path, "k", {}) for path in paths))
    pages = [store(namespaces(("n",), limit=6, offset=start)) for start in (0, 6, 12, 18, 24)]
    assert [one for page in pages for one in page] == paths
    assert [len(page) for page in pages] == [6, 6, 6, 2, 0]


@case
def a_search_without_a_query_lists_what_is_below(store: Store) -> None:
    store.batch(*(put(("docs", f"d{n % 2}"), f"k{n}", {"n": n}) for n in range(7)), put(("doc",), "k", {}))
    assert sorted(store.keys(search(("docs",)))) == [f"k{n}" for n in range(7)]
    pages = [store.keys(search(("docs",), limit=3, offset=start)) for start in (0, 3, 6)]
    assert sorted(key for page in pages for key in page) == [f"k{n}" for n in range(7)]
    assert [len(page) for page in pages] == [3, 3, 1]
    assert sorted(store.keys(search(("docs", "d1")))) == ["k1", "k3", "k5"]


@case
def values_are_compared(store: Store) -> None:
    rows = {"a": ("red", 4.5), "b": ("red", 3.0), "c": ("green", 4.0), "d": ("blue", 3.5)}
    store.batch(*(put(("t",), key, {"color": c, "score": s}) for key, (c, s) in rows.items()))
    for where, expected in (
        ({"color": "red"}, "ab"),
        ({"color": {"$eq": "red"}, "score": {"$gt": 3}}, "a"),
        ({"color": {"$ne": "red"}}, "cd"),
        ({"score": {"$gte": 3.5, "$lt": 4.5}}, "cd"),
        ({"score": {"$lte": 3.0}}, "b"),
        ({"size": 1}, ""),
    ):
        assert "".join(store.keys(search(("t",), where=where))) == expected, where


@case
def a_query_finds_by_meaning_what_the_conditions_leave(store: Store) -> None:
    texts = {"a": "red apple", "b": "red car", "c": "green apple", "d": "blue car"}
    store.batch(*(put(("t",), key, text) for key, text in texts.items()))
    assert store.keys(search(("t",), "green apple"))[0] == "c"
    assert len(store.keys(search(("t",), "green apple"))) == 4
    store.batch(*(put(("u",), key, {"n": n}) for n, key in enumerate(texts)))
    assert sorted(store.keys(search(("u",), "anything", {"n": {"$gte": 2}}))) == ["c", "d"]


@case
def what_is_put_anew_is_found_anew_and_what_has_no_index_not(store: Store) -> None:
    store.batch(put(("t",), "a", "zany zebra"), put(("t",), "b", "some dogs"))
    before = store(search(("t",), "zany zebra"))[0]
    store(put(("t",), "a", "text about birds"))
    after = {row["key"]: row["score"] for row in store(search(("t",), "zany zebra"))}
    assert (before["key"], after.get("a", 0) < before["score"]) == ("a", True)
    assert store.keys(search(("t",), "text about birds"))[0] == "a"
    store(put(("t",), "c", "text about birds, not indexed", index=False))
    assert "c" not in store.keys(search(("t",), "text about birds, not indexed"))


@case
def hits_in_pages(store: Store) -> None:
    store.batch(*(put(("t",), f"k{n}", f"document number {n}") for n in range(130)))
    pages = [store.keys(search(("t",), "document", limit=50, offset=start)) for start in (0, 50, 100)]
    assert [len(page) for page in pages] == [50, 50, 30]
    assert len({key for page in pages for key in page}) == 130


@case
def queries_of_any_kind(store: Store) -> None:
    store(put(("t",), "k", "a document"))
    for query in ("", None, "test " * 100, "test!@#$%^&*()", "日本", "'; DROP TABLE x; --"):
        assert store.keys(search(("t",), query)) == ["k"], query


@case
def what_has_a_ttl_is_gone_unless_it_is_read(store: Store) -> None:
    store.batch(put(("t",), "a", {}, ttl=3600), put(("t",), "b", {}, ttl=3600), put(("t",), "c", {}))
    age(timedelta(minutes=50))
    assert store(get(("t",), "a", refresh=True)) is not None
    age(timedelta(minutes=50))
    assert [store(get(("t",), key)) is None for key in "abc"] == [False, True, False]
    assert store.keys(search(("t",))) == ["a", "c"]


def age(by: timedelta) -> None:
    """Let items have been put and end so much earlier."""
    Fact._base_manager.filter(seq_to__gte=2**62, expires_at__isnull=False).update(
        updated_at=F("updated_at") - by, expires_at=F("expires_at") - by
    )


@pytest.fixture
def store(api: Api, settings: Any) -> Iterator[Store]:
    with FakeProvider() as provider:
        settings.DAY1 = provider.settings(batch=64)
        yield Store(api)


@pytest.mark.parametrize("play", CASES, ids=lambda play: play.__name__)
def test_a_store_of_values(play: Callable[[Store], None], store: Store) -> None:
    play(store)


def test_as_many_cases_as_promised() -> None:
    assert len(CASES) == 24
