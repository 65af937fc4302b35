"""Adapters of frameworks that no lock has, over the published types of each: what they do with a server."""

import asyncio
import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("httpx", reason="httpx is not installed")
pytest.importorskip("pydantic", reason="pydantic is not installed")

from day1_client import Day1, Unreachable
from tests.clients import framework_types as types

AWAY = Day1("http://127.0.0.1:9", "day1_no_key", retries=0)


@pytest.fixture
def adapter(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Return an adapter, imported while its framework is the types of this folder."""
    for path, names in types.MODULES[request.param].items():
        module = ModuleType(path)
        vars(module).update(names)
        monkeypatch.setitem(sys.modules, path, module)
    yield import_module(f"day1_client.{request.param}")
    for name in [name for name in sys.modules if name.startswith(f"day1_client.{request.param}")]:
        del sys.modules[name]


def use(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("adapter", [name], indirect=True)


@use("crewai")
def test_crewai_keeps_records_of_one_person_by_scope(adapter: Any, memory: Day1) -> None:
    ada, bob = (adapter.Day1Storage(memory, user_id=name) for name in ("ada", "bob"))
    nuts, tea = (
        types.MemoryRecord(content=text, scope=scope, categories=[scope[1:5]], metadata={"kind": "diet"})
        for text, scope in (("Ada is allergic to nuts.", "/people"), ("Ada likes tea.", "/drinks/hot"))
    )
    ada.save([nuts, tea])
    assert (ada.get_record(nuts.id), bob.get_record(nuts.id), bob.count()) == (nuts, None, 0)
    [query] = ada.embed(["nuts"])
    found = ada.search(query, scope_prefix="/people", categories=["peop"], metadata_filter={"kind": "diet"})
    assert [one.content for one, _score in found] == ["Ada is allergic to nuts."]
    assert ada.search(query, scope_prefix="/people", categories=["drin"]) == []
    assert (ada.list_scopes(), ada.list_categories()) == (["/drinks", "/people"], {"peop": 1, "drin": 1})
    ada.update(nuts.model_copy(update={"scope": "/drinks/hot"}))
    assert (ada.count("/people"), ada.get_scope_info("/drinks").record_count) == (0, 2)
    assert (ada.delete(record_ids=[tea.id]), ada.count()) == (1, 1)
    with pytest.raises(Unreachable):
        adapter.Day1Storage(AWAY).save([nuts])


@use("google_adk")
def test_google_adk_stores_an_event_once_and_deletes_it_for_good(adapter: Any, memory: Day1) -> None:
    service = adapter.Day1MemoryService(memory)
    content = types.Content(role="user", parts=[types.Part(text="My canary is called Tweety.")])
    event = types.Event(id="e1", author="user", content=content)
    session = types.Session(id="s1", app_name="shop", user_id="ada", events=[event, types.Event(author="a")])

    def search(user: str, service: Any = service) -> set[str]:
        asked = service.search_memory(app_name="shop", user_id=user, query="Tweety")
        return {one.content.parts[0].text for one in asyncio.run(asked).memories}

    for _ in range(2):
        asyncio.run(service.add_session_to_memory(session))
    assert [one["content"] for one in messages_of(memory, "s1")] == ["My canary is called Tweety."]
    assert (search("ada"), search("bob")) == ({"My canary is called Tweety."}, set())
    [row] = messages_of(memory, "s1")
    asyncio.run(service.delete_memory(app_name="shop", user_id="ada", memory_id=row["id"]))
    asyncio.run(service.add_session_to_memory(session))
    assert messages_of(memory, "s1") == []
    with pytest.raises(ValueError, match="user_id has"):
        search("")
    with pytest.raises(Unreachable):
        search("ada", adapter.Day1MemoryService(AWAY))


def messages_of(memory: Day1, session: str) -> list[Any]:
    owner = {"user_id": "ada", "app_id": "shop"}
    talks = memory.conversations.list(session_id=session, **owner)
    return [row for talk in talks for row in memory.conversations.messages(talk["id"])]


@use("llamaindex")
def test_llamaindex_keeps_a_chat_and_recalls_in_another(adapter: Any, memory: Day1) -> None:
    first, second = (adapter.Day1Memory.from_defaults(one, memory, user_id="ada") for one in ("s1", "s2"))
    store, [block] = first.sql_store, second.memory_blocks
    said = [
        types.ChatMessage("My canary is called Tweety."),
        types.ChatMessage("ok", role=types.MessageRole.TOOL, additional_kwargs={"tool_call_id": "c1"}),
        types.ChatMessage("Understood.", role=types.MessageRole.ASSISTANT),
    ]
    asyncio.run(store.add_messages("s1", said))
    assert asyncio.run(store.get_messages("s1")) == said
    assert asyncio.run(store.archive_oldest_messages("s1", 1)) == said[:1]
    assert asyncio.run(store.get_messages("s1")) == said[1:]
    assert asyncio.run(store.delete_message("s1", 0)) == said[1]
    assert asyncio.run(store.get_messages("s1", None)) == [said[0], said[2]]
    asked = [types.ChatMessage("What is my canary called?")]
    assert "Tweety" in asyncio.run(block.aget(asked, session_id="s2"))
    other = adapter.Day1MemoryBlock(memory=memory, user_id="bob")
    assert asyncio.run(other.aget(asked, session_id="s2")) == ""
    with pytest.raises(Unreachable):
        asyncio.run(adapter.Day1ChatStore(memory=AWAY).get_messages("s1"))


@use("strands")
def test_strands_stores_a_batch_once_and_searches_for_one_person(adapter: Any, memory: Day1) -> None:
    store = adapter.Day1MemoryStore(memory, user_id="ada", session_id="s1")
    assert isinstance(store.extraction["trigger"], types.InvocationTrigger)
    messages = [{"role": "user", "content": [{"text": "My canary is called Tweety."}]}]
    for _ in range(2):  # as the framework does after a failure
        asyncio.run(store.add_messages(messages, types.AddMessagesContext([1])))
    [talk] = memory.conversations.list(session_id="s1", user_id="ada")
    assert [row["content"] for row in memory.conversations.messages(talk["id"])] == [
        "My canary is called Tweety."
    ]
    added = asyncio.run(store.add("Ada sails on Sundays.", {"topic": "sport"}))
    [found] = asyncio.run(store.search("sails", {"max_search_results": 1}))
    assert (found.content, found.metadata["id"], found.metadata["topic"]) == (
        "Ada sails on Sundays.",
        added["id"],
        "sport",
    )
    assert asyncio.run(adapter.Day1MemoryStore(memory, user_id="bob").search("sails")) == []
    with pytest.raises(ValueError, match="not writable"):
        asyncio.run(adapter.Day1MemoryStore(memory, writable=False).add("No."))
    with pytest.raises(Unreachable):
        asyncio.run(adapter.Day1MemoryStore(AWAY).search("sails"))
