"""Byte limits of responses: pages end early, search results are cut with a mark."""

import json
import tracemalloc
from collections.abc import Iterator

import pytest

from memory.engines.support.pagination import PAGE_BYTES
from memory.models import IdempotencyRecord
from tests.memory.api.client import Api, nothing_left

pytestmark = pytest.mark.django_db(transaction=True)
MIB = 2**20
TEXT = ("deploy token branch " * 60_000)[: MIB - 10]
MARK = " … [cut]"


def add_messages(api: Api, count: int, **fields: object) -> str:
    """Create a conversation of messages of nearly 1 MiB; return its path."""
    path = f"/conversations/{api.post('/conversations', {'session_id': 's1'}).json()['id']}"
    row = {"role": "tool_result", "content": TEXT, **fields}
    for start in range(0, count, 5):
        answer = api.post(f"{path}/messages/batch", {"messages": [row] * min(5, count - start)})
        assert answer.status_code == 201, answer.content
    return path


def walk(api: Api, path: str, to: str = "next") -> Iterator[dict]:
    """Yield all pages of a list, from the first on."""
    page = api.get(path).json()
    yield page
    while page[to]:
        page = api.get(f"{path}{'&' if '?' in path else '?'}cursor={page[to]}").json()
        yield page


@pytest.mark.slow
def test_a_page_of_messages_ends_where_its_bytes_do(api: Api) -> None:
    path = add_messages(api, 10)
    pages = list(walk(api, f"{path}/messages?limit=100"))
    numbers = [[row["sequence_num"] for row in page["results"]] for page in pages]
    assert numbers == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert all(row["content"] == TEXT for page in pages for row in page["results"])
    back = api.get(f"{path}/messages?limit=100&cursor={pages[2]['previous']}").json()
    assert [row["sequence_num"] for row in back["results"]] == [5, 6, 7, 8]
    first = api.get(f"{path}/messages?limit=100&cursor={back['previous']}").json()
    assert ([row["sequence_num"] for row in first["results"]], first["previous"]) == ([1, 2, 3, 4], None)


@pytest.mark.slow
def test_a_row_larger_than_a_page_is_a_page(api: Api) -> None:
    calls = [{"text": TEXT[: MIB - 100]}]
    path = add_messages(api, 2, thinking=TEXT, tool_calls=calls, metadata={"a": "x" * 60_000})
    numbers = [[m["sequence_num"] for m in page["results"]] for page in walk(api, f"{path}/messages")]
    assert numbers == [[1], [2]]


@pytest.mark.slow
def test_what_is_beyond_a_page_is_not_read(api: Api) -> None:
    path = add_messages(api, 40)
    for address in (f"{path}/messages?limit=100", "/messages/search?q=deploy&limit=100"):
        api.get(address)
        tracemalloc.start()
        answer = api.get(address)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert answer.status_code == 200
        assert len(answer.content) < 1.1 * PAGE_BYTES, address
        assert peak < 36 * MIB, address


def test_results_of_a_search_are_cut_with_a_mark(api: Api) -> None:
    add_messages(api, 3, tool_calls=[{"text": "x" * 9000}], thinking="y" * 8000)
    for hit in api.get("/messages/search?q=deploy").json()["results"]:
        for row in (hit["message"], *hit["context"]):
            assert row["content"] == TEXT[: 8000 - len(MARK)] + MARK
            assert (row["tool_calls"], row["thinking"]) == ([], "y" * 8000)
            assert row["truncated"] == ["content", "tool_calls"]
        whole = api.get(f"/messages/{hit['message']['id']}").json()
        assert (whole["content"], whole["tool_calls"]) == (TEXT, [{"text": "x" * 9000}])
    api.fact("A deploy needs a token. " + "é" * 20_000, metadata={"long": "x" * 9000}, tags=["a"])
    (hit,) = api.get("/facts/search?q=token&search_type=keyword").json()["results"]
    assert (len(hit["fact"]["fact_text"]), hit["fact"]["fact_text"].endswith(MARK)) == (8000, True)
    assert (hit["fact"]["metadata"], hit["fact"]["tags"]) == ({}, ["a"])
    assert hit["fact"]["truncated"] == ["fact_text", "metadata"]
    api.post("/observations", {"summary": "deployed", "metadata": {"long": "x" * 9000}})
    (hit,) = api.get("/observations/search?q=deployed").json()["results"]
    assert (hit["observation"]["metadata"], hit["observation"]["truncated"]) == ({}, ["metadata"])


def test_what_is_short_is_whole(api: Api) -> None:
    text = "a token " + "é" * 7992
    stored = api.fact(text, metadata={"a": [1, {"b": None}]})
    (hit,) = api.get("/facts/search?q=token").json()["results"]
    same = {name: hit["fact"][name] for name in ("fact_text", "metadata", "tags", "created_at", "version")}
    assert same == {name: stored[name] for name in same}
    assert (len(text), hit["fact"]["truncated"]) == (8000, [])


@pytest.mark.slow
def test_facts_their_history_and_differences_come_in_pages_of_bytes(api: Api) -> None:
    api.post("/branches", {"name": "task/x"})
    wide = {"branch": "task/x", "metadata": {"long": "x" * 60_000}, "deduplicate": False}
    rows = [{"fact_text": f"{i} " + "y" * 60_000, "metadata": wide["metadata"]} for i in range(45)]
    first = api.post("/facts/bulk", {"facts": rows, "branch": "task/x"}).json()["results"][0]["id"]
    for i in range(40):
        api.patch(f"/facts/{first}", {"metadata": {"long": f"{i}" + "x" * 60_000}, "branch": "task/x"})
    for path, count in (("facts", 45), (f"facts/{first}/history", 41), ("branches/task%2Fx/diff", 45)):
        pages = list(walk(api, f"/{path}?limit=100{'' if 'diff' in path else '&branch=task/x'}"))
        found = [
            json.dumps(row.get("id", row.get("fact"))) + str(row.get("version"))
            for page in pages
            for row in page["results"]
        ]
        assert (len(found), len(set(found))) == (count, count), path
        assert len(pages) == 2, path
        assert all(len(json.dumps(page)) < 1.2 * PAGE_BYTES for page in pages), path


@pytest.mark.slow
def test_a_graph_and_the_context_of_a_session_are_bounded(api: Api) -> None:
    add_messages(api, 2)
    api.fact("A deploy. " + "z" * 60_000, session_id="s1")
    context = api.get("/sessions/s1/context").json()
    (conversation,) = context["conversations"]
    assert [(len(m["content"]), m["truncated"]) for m in conversation["messages"]] == [
        (8000, ["content"])
    ] * 2
    assert len(context["facts"][0]["fact_text"]) == 8000
    for i in range(75):
        edge = {"source_entity": "A", "relation_type": "uses", "target_entity": f"B{i}"}
        api.post("/relations", {**edge, "properties": {"long": "x" * 60_000}})
    graph = api.get("/relations/graph?entity=a").json()
    assert (len(graph["edges"]), graph["truncated"]) == (69, True)


def test_nothing_is_kept_of_a_search(api: Api) -> None:
    api.fact("A token.")
    with nothing_left():
        first = api.post("/facts/search", {"query": "token"}, Idempotency_Key="k")
        other = api.post("/facts/search", {"query": "other", "limit": 1}, Idempotency_Key="k")
    assert (first.status_code, other.status_code, len(first.json()["results"])) == (200, 200, 1)
    assert "Idempotency-Replayed" not in other


def test_of_a_large_answer_a_part_is_kept(api: Api) -> None:
    path = f"/conversations/{api.post('/conversations', {}).json()['id']}/messages/batch"
    body = {"messages": [{"role": "tool_result", "content": TEXT, "metadata": {"a": "x" * 60_000}}] * 5}
    first = api.post(path, body, Idempotency_Key="k").json()["results"]
    with nothing_left():
        again = api.post(path, body, Idempotency_Key="k")
    assert (again.status_code, again["Idempotency-Replayed"]) == (201, "true")
    short = {"content": TEXT[: 1000 - len(MARK)] + MARK, "metadata": {}}
    assert again.json()["results"] == [{**row, **short} for row in first]
    assert len(IdempotencyRecord.objects.get(body__contains="results").body) < 256 * 1024
