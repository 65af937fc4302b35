"""Writes that are answered once searches find what was written: ``?wait=indexed``."""

from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug import Response

from memory.engines.embedding import awaited
from memory.models import Vector
from tests.memory.api.client import Api, nothing_left, refused
from tests.memory.fake_provider import FakeProvider

pytestmark = pytest.mark.django_db(transaction=True)
WAIT = "?wait=indexed"
PUT = {"op": "put", "namespace": "a", "key": "l", "value": "Two."}


@pytest.fixture
def provider(settings: Any) -> Iterator[FakeProvider]:
    with FakeProvider() as fake:
        settings.DAY1 = fake.settings()
        yield fake


def test_a_search_finds_what_was_waited_for(api: Api, provider: FakeProvider) -> None:
    talk = api.post("/conversations", {"title": "A talk"}).json()["id"]
    fact = api.post(f"/facts{WAIT}", {"fact_text": "One."}).json()
    assert (fact["indexed"], fact["embedding_state"], provider.calls) == (True, "ready", [["One."]])
    writes: list[tuple[str, str, Any, str]] = [
        ("PATCH", f"/facts/{fact['id']}", {"fact_text": "Three."}, "Three."),
        ("POST", f"/facts/{fact['id']}/supersede", {"new_fact_text": "Four."}, "Four."),
        ("POST", "/facts/bulk", {"facts": [{"fact_text": f"Many {n}."} for n in range(9)]}, "Many 8."),
        ("PUT", "/items/a/k", {"value": "Five."}, "Five."),
        ("POST", "/items/batch", {"calls": [PUT]}, "Two."),
        ("POST", f"/conversations/{talk}/messages", {"role": "user", "content": "Six."}, "Six."),
        (
            "POST",
            f"/conversations/{talk}/messages/batch",
            {"messages": [{"role": "user", "content": "Seven."}]},
            "Seven.",
        ),
    ]
    for verb, path, body, text in writes:
        answer = api(verb, path + WAIT, body)
        assert (answer.status_code < 300, answer.json()["indexed"]) == (True, True), (path, answer.content)
        where = "/messages/search" if "messages" in path else "/facts/search"
        rows = api.get(f"{where}?q={text}&search_type=vector&limit=1").json()["results"]
        shown = (rows[0].get("fact") or rows[0]["message"]).items()
        assert text in dict(shown).values(), path
    assert not Vector.objects.exclude(state="ready").exists()
    assert "indexed" not in api.post("/facts", {"fact_text": "Nobody waits."}).json()
    assert Vector.objects.filter(state="pending").count() == 1


def test_only_what_was_written_is_waited_for_and_what_is_repeated(api: Api, provider: FakeProvider) -> None:
    api.fact("Long ago.")
    api.fact("Before.")
    again = api.post(f"/facts{WAIT}", {"fact_text": "Before."}).json()
    assert (again["created"], again["indexed"], provider.calls) == (False, True, [["Before."]])
    words = api("PUT", f"/items/a/k{WAIT}", {"value": "Words alone.", "embed": False}).json()
    assert (words["indexed"], provider.calls) == (True, [["Before."]])
    once = api.post(f"/facts{WAIT}", {"fact_text": "Once."}, Idempotency_Key="1").json()
    assert (once["indexed"], provider.calls[-1]) == (True, ["Once."])


def test_what_is_not_indexed_in_time_is_stored_all_the_same(
    api: Api, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.always = Response("{}", status=503, content_type="application/json")
    late = api.post(f"/facts{WAIT}", {"fact_text": "Late."})
    assert (late.status_code, late.json()["indexed"], late.json()["embedding_state"]) == (
        201,
        False,
        "pending",
    )
    monkeypatch.setattr(awaited, "WAIT_SECONDS", 0.0)
    provider.always = None
    facts = {"facts": [{"fact_text": f"Many {n}."} for n in range(9)]}
    many = api.post(f"/facts/bulk{WAIT}", facts)
    assert (many.status_code, many.json()["indexed"]) == (201, False)
    assert len(api.get("/facts").json()["results"]) == 10


def test_without_vectors_words_are_indexed_at_once(api: Api) -> None:
    written = api.post(f"/facts{WAIT}", {"fact_text": "A heron stands here."}).json()
    assert (written["indexed"], written["embedding_state"]) == (True, "off")
    assert len(api.get("/facts/search?q=heron").json()["results"]) == 1
    with nothing_left():
        refused(api.post("/facts?wait=embedded", {"fact_text": "A"}), 400, "invalid", "wait")
        refused(api.post("/branches?wait=indexed", {"name": "a"}), 400, "unknown_field", "wait")
        refused(api.get("/facts?wait=indexed"), 400, "unknown_field", "wait")
