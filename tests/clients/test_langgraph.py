"""LangGraph's store on Day1, with its real package: the cases of `tests/adapters`, and what is its own."""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest

pytest.importorskip("langgraph.store.base", reason="LangGraph is not installed")

from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from day1_client import Day1, Day1Error, Unreachable
from day1_client.langgraph import Day1Store
from tests.adapters.test_langgraph_store import CASES, Op, Refused, Store, join
from tests.amounts import is_thorough, take_share
from tests.clients.conftest import play
from tests.clients.serving import memory, port, served  # noqa: F401  fixtures

pytestmark = [pytest.mark.nightly, pytest.mark.django_db(transaction=True)]


class Played(Store):
    """The cases' store, whose operations go through LangGraph's own; a text is a value with one field."""

    def __init__(self, memory: Day1) -> None:  # noqa: F811
        self.store = Day1Store(memory, fields=["text"])

    def batch(self, *ops: Op) -> list[Any]:
        try:
            found = self.store.batch([self.translate(one.op, one.fields) for one in ops])
        except (InvalidNamespaceError, Day1Error) as error:
            raise Refused(str(error)) from error
        return [self.read(op.op, one) for op, one in zip(ops, found, strict=True)]

    def translate(self, op: str, fields: dict[str, Any]) -> Any:
        if op == "namespaces":
            ends = {name: split(fields[name]) for name in ("prefix", "suffix") if fields.get(name)}
            found = tuple(MatchCondition(name, path) for name, path in ends.items())
            options = {name: fields[name] for name in ("limit", "offset") if name in fields}
            return ListNamespacesOp(found or None, fields.get("depth"), **options)
        if op == "search":
            where = {name.removeprefix("value."): signed(one) for name, one in fields["where"].items()}
            page = (fields["limit"], fields["offset"], fields.get("query"), False)
            return SearchOp(split(fields["prefix"]), where or None, *page)
        place = (split(fields["namespace"]), unquote(fields["key"]))
        if op == "get":
            return GetOp(*place, fields.get("renew", False))
        value = fields.get("value")
        value = value if value is None or isinstance(value, dict) else {"text": value}
        ttl = fields["ttl"] / 60 if fields.get("ttl") else None
        return PutOp(*place, value, None if fields.get("embed", True) else False, ttl)

    def read(self, op: str, found: Any) -> Any:
        if op == "namespaces" or found is None:
            return found
        return [row(one) for one in found] if op == "search" else row(found)


def split(namespace: str) -> tuple[str, ...]:
    return tuple(unquote(label) for label in namespace.split("/")) if namespace else ()


def signed(value: Any) -> Any:
    return {f"${name}": one for name, one in value.items()} if isinstance(value, dict) else value


def row(item: Any) -> dict[str, Any]:
    found = item.dict()
    value = found["value"]["text"] if list(found["value"]) == ["text"] else found["value"]
    return {**found, "namespace": join(item.namespace), "value": value}


@pytest.mark.parametrize("play", take_share(CASES, 6), ids=lambda play: play.__name__)
def test_the_store_of_langgraph(play: Callable[[Store], None], memory: Day1) -> None:  # noqa: F811
    play(Played(memory))


def test_the_page_begins_with_what_runs(memory: Day1, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    play("docs/integrations.md", "## LangGraph")
    assert capsys.readouterr().out == "Ada is allergic to nuts.\n"


def test_what_is_awaited_does_the_same_in_any_loop(memory: Day1) -> None:  # noqa: F811
    store = Day1Store(memory)
    for number in range(2):
        asyncio.run(store.aput(("a",), str(number), {"n": number}, ttl=5))
    found = asyncio.run(store.asearch(("a",), filter={"n": {"$gte": 1}}))
    assert [(one.key, one.value, one.score) for one in found] == [("1", {"n": 1}, None)]
    assert memory.items.get("a", "1")["expires_at"] is not None


def test_a_namespace_that_langgraph_refuses_is_refused_in_its_words(memory: Day1) -> None:  # noqa: F811
    store = Day1Store(memory)
    for namespace in ((), ("a", ""), ("the", "thing.about"), ("langgraph", "a")):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
        with pytest.raises(InvalidNamespaceError):
            asyncio.run(store.aput(namespace, "k", {}))
    with pytest.raises(InvalidNamespaceError):  # past the public method
        store.batch([PutOp(("a", "b.c"), "k", {})])
    with pytest.raises(NotImplementedError):
        store.batch([ListNamespacesOp((MatchCondition("prefix", ("a",)), MatchCondition("prefix", ("b",))))])
    assert store.list_namespaces() == []


def test_the_scores_of_two_searches_may_be_compared(memory: Day1) -> None:  # noqa: F811
    store = Day1Store(memory, fields=["text"])
    for key, text in {"a": "zany zebra", "b": "some dogs"}.items():
        store.put(("t",), key, {"text": text})
    asked, other = (store.search(("t",), query=query)[0].score for query in ("zany zebra", "an old bridge"))
    assert asked > 0.8 > 0.2 > other


def test_a_filter_takes_a_mapping_without_operators_as_a_value(memory: Day1) -> None:  # noqa: F811
    store = Day1Store(memory)
    store.put(("a",), "k", {"place": {"city": "Ulm"}, "none": None})
    for found, where in (
        (1, {"place": {"city": "Ulm"}}),
        (0, {"place": {"city": "Bonn"}}),
        (1, {"none": None}),
    ):
        assert len(store.search(("a",), filter=where)) == found, where
    assert len(store.search((), filter={"place": {"$ne": {}}})) == 1


@pytest.mark.skipif(not is_thorough(), reason="a thousand values: make nightly")
def test_more_than_one_request_takes_is_several(memory: Day1) -> None:  # noqa: F811
    store = Day1Store(memory)
    store.batch([PutOp(("a",), str(number), {"n": number}, False) for number in range(1_001)])
    found = store.batch([SearchOp(("a",), {"n": number}) for number in range(60)] + [GetOp(("a",), "1000")])
    assert [one[0].value["n"] for one in found[:60]] == list(range(60))
    assert found[60].value == {"n": 1_000}


def test_a_key_that_may_only_read_reads(memory: Day1) -> None:  # noqa: F811
    Day1Store(memory).put(("a",), "k", {"n": 1}, ttl=60)
    reader = Day1Store(Day1(key=memory.keys.create("reader", scopes=["read"])["token"]))
    assert reader.get(("a",), "k").value == {"n": 1}
    assert [one.key for one in reader.search(("a",))] == ["k"]
    with pytest.raises(Day1Error, match="scope"):
        reader.put(("a",), "k", {"n": 2})


def test_without_a_network_it_says_so() -> None:
    with pytest.raises(ConnectionError) as caught:  # which LangGraph's RetryPolicy tries again
        Day1Store(Day1("http://127.0.0.1:1", "day1_a_b", retries=0)).get(("a",), "k")
    assert type(caught.value) is Unreachable
