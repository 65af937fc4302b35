"""Conversations as Markdown: read again as they were written, and refused with the line that is wrong."""

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conversations.engines.conversations import ConversationEngine
from conversations.engines.import_export.document import fold, read_markdown, write_markdown
from conversations.engines.import_export.engine import ConversationTransfer
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.exceptions import Day1Error, Invalid, TooLarge
from tests.memory.api.client import Api, refused

engine, conversations, messages = ConversationTransfer(), ConversationEngine(), MessageEngine()
PIECES = [
    "\n",
    "\r",
    "\r\n",
    "> ",
    ">",
    "# ",
    "## 2. user, 2026-01-01 00:00:00",
    "- call: {}",
    " ",
    "\t",
    "\u2028",
]
TEXT = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=6).map("".join)
VALUES = st.dictionaries(st.text(max_size=5), st.one_of(TEXT, st.integers(), st.none()), max_size=2)
NAME = st.text(max_size=20)


@st.composite
def documents(draw: Any) -> dict[str, Any]:
    items, number = [], 0
    for _ in range(draw(st.integers(0, 4))):
        number += draw(st.integers(1, 3))
        item = {
            "sequence_num": number,
            "role": draw(st.sampled_from(Message.Role.values)),
            "content": draw(TEXT),
            "tool_calls": draw(st.lists(VALUES, max_size=2)),
            "model": draw(NAME),
            "metadata": draw(VALUES),
            "said_at": "2026-01-02T03:04:05.678901+00:00",
        }
        items.append(item)
    origin = {name: draw(NAME) for name in ("session_id", "task_id", "agent_id")}
    status = draw(st.sampled_from(["active", "completed"]))
    return {"title": draw(NAME), "model": draw(NAME), "status": status, "origin": origin, "messages": items}


def keep(document: dict[str, Any]) -> dict[str, Any]:
    """Return what Markdown keeps of a document: names in one line, times to the second, no empty field."""
    items = []
    for item in document["messages"]:
        kept = {name: item[name] for name in ("sequence_num", "role", "content")}
        kept |= {"said_at": "2026-01-02T03:04:05Z"}
        kept |= {name: item[name] for name in ("tool_calls", "metadata") if item[name]}
        own = fold(item["model"])
        items.append(kept | ({"model": own} if item["model"] not in ("", document["model"]) else {}))
    title = fold(document["title"])
    return {
        "format": "day1-conversation",
        "schema_version": 1,
        "title": "" if title == "Conversation" else title,
        **({"model": fold(document["model"])} if document["model"] else {}),
        "status": document["status"],
        "messages": items,
    }


@given(documents())
def test_what_is_written_is_read_the_same(document: dict[str, Any]) -> None:
    found, lines = read_markdown(write_markdown(document))
    assert found == keep(document)
    assert len(lines) == len(document["messages"])


@given(documents(), st.data())
@example({"title": "", "model": "", "status": "active", "origin": {}, "messages": []}, None)
def test_a_broken_text_is_read_or_refused_with_a_line(document: dict[str, Any], data: Any) -> None:
    lines = write_markdown(document).split("\n")
    if data is not None:
        place = data.draw(st.integers(0, len(lines) - 1))
        lines[place : place + data.draw(st.integers(0, 1))] = [data.draw(TEXT)]
    text, error = "\n".join(lines), None
    try:
        read_markdown(text)
    except Invalid as found:
        error = found
    if error is not None:
        assert error.data["field"] == "text"
        assert 1 <= error.data["line"] <= len(text.split("\n"))


def test_line_ends_of_windows_and_a_mark_at_the_begin() -> None:
    text = "\ufeff# T\r\n\r\n## 1. user\r\n\r\n> a\r\n>\r\n> b\r\n"
    assert read_markdown(text)[0]["messages"] == [{"sequence_num": 1, "role": "user", "content": "a\n\nb"}]


HEAD = "# T\n\n- status: completed\n\n## 1. user, 2026-01-02 03:04:05\n\n> Hi.\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "begins with"),
        ("\n\nHello", 3, "begins with"),
        ("## 1. user\n", 1, "begins with"),
        ("# T\n\n> Hi.", 3, "below its heading"),
        ("# T\n- colour: red", 2, "one of model, status"),
        ("# T\n- model: a\n- model: b", 3, "each once"),
        (f"{HEAD}\nLoose words.", 9, "no heading of a message"),
        (f"{HEAD}\n> More.", 9, "one quote"),
        (f"{HEAD}>no space", 8, "begins with “> ”"),
        (f"{HEAD}\n- colour: red", 9, "is call, or once"),
        (f"{HEAD}\n- call: [1]", 9, "no JSON object"),
        (f"{HEAD}\n- call: {{", 9, "no JSON object"),
        (f"{HEAD}\n- metadata: " + '{"a":' * 5000, 9, "no JSON object"),
        (f"{HEAD}\n- metadata: {{}}\n- metadata: {{}}", 10, "once"),
        (f"{HEAD}\n## 2. root\n\n> x", 9, "a role is one of"),
        (f"{HEAD}\n## two. user\n\n> x", 9, "no heading"),
        (f"{HEAD}\n### 2. user\n\n> x", 9, "no heading"),
    ],
)
def test_what_is_wrong_is_named_by_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(Invalid) as found:
        read_markdown(text)
    assert (f"Line {line}:" in found.value.text, words in found.value.text) == (True, True), found.value.text


@pytest.mark.django_db(transaction=True)
def test_so_is_what_no_message_holds(actor: Actor, main: Any) -> None:
    for text, line, words in (
        (f"{HEAD}\n## 1. user\n\n> x", 9, "greater than the one before"),
        (f"{HEAD}\n## 2. user\n\n## 3. user\n\n> x", 9, "content"),
        (f"{HEAD}\n## 2. user, 2026-13-41 03:04:05\n\n> x", 9, "said_at"),
        (f"{HEAD}\n## 2. user\n\n> a\x00b", 9, "content"),
        (f"{HEAD}\n## 9999999999. user\n\n> x", 9, "sequence_num"),
        (f"{HEAD}\n## 2. user\n\n> x\n\n- metadata: " + '{"a": "' + "x" * 70_000 + '"}', 9, "metadata"),
    ):
        with pytest.raises(Day1Error) as found:
            engine.import_conversation(document={"format": "markdown", "text": text}, actor=actor)
        told = found.value.text
        assert (f"Line {line}:" in told, words in told) == (True, True), told
    with pytest.raises(Invalid, match="no message: one begins with a heading"):
        engine.import_conversation(document={"format": "markdown", "text": "# T"}, actor=actor)
    assert not Conversation._base_manager.exists()


@pytest.mark.django_db(transaction=True)
def test_other_refusals(actor: Actor, main: Any) -> None:
    many = "# T\n" + "## 1. user\n" * 20_001
    for document, error in (
        ({"format": "markdown"}, Invalid),
        ({"format": "markdown", "text": 5}, Invalid),
        ({"format": "markdown", "text": "# T", "title": "x"}, Invalid),
        ({"format": "markdown", "text": "# T\n- status: archived\n## 1. user\n> x"}, Invalid),
        ({"format": "markdown", "text": many}, TooLarge),
        ({"format": "markdown", "text": "#" * (8 * 1024 * 1024)}, TooLarge),
    ):
        with pytest.raises(error):
            engine.import_conversation(document=document, actor=actor)
    assert not Conversation._base_manager.exists()


@pytest.mark.django_db(transaction=True)
def test_through_the_store_and_over_rest(actor: Actor, main: Any, api: Api) -> None:
    row = conversations.create_conversation(actor=actor, title="Login", model="m-1")
    call = {"id": "c1", "name": "Bash", "input": {"command": "date"}}
    rows = [
        {"role": "user", "content": "Why?\n\n## 9. user\n> quoted  \n", "said_at": "2026-01-02T03:04:05Z"},
        {"role": "assistant", "content": "", "tool_calls": [call], "thinking": "Hm."},
        {"role": "tool_result", "content": "x", "metadata": {"tool_call_id": "c1"}, "sequence_num": 7},
    ]
    messages.write_messages(conversation_id=row.uid, messages=rows, actor=actor)
    text = api.get(f"/conversations/{row.uid}/export?format=markdown").content.decode()
    made = api.post("/conversations/import", {"format": "markdown", "text": text})
    assert (made.status_code, made.json()["created"], made.json()["message_count"]) == (201, True, 3)
    assert api.post("/conversations/import", {"format": "markdown", "text": text}).status_code == 200
    again = api.get(f"/conversations/{made.json()['id']}/export").json()
    for sent, found in zip(rows, again["messages"], strict=True):
        names = ("role", "content", "tool_calls", "metadata", "sequence_num")
        assert {name: found[name] for name in names if name in sent} == {
            name: sent[name] for name in names if name in sent
        }
    assert again["messages"][0]["said_at"].startswith("2026-01-02T03:04:05")
    assert again["messages"][1]["thinking"] == ""
    assert api.get(f"/conversations/{made.json()['id']}/export?format=markdown").content.decode() == text
    bad = api.post("/conversations/import", {"format": "markdown", "text": "# T\n\nHello"})
    assert "Line 3:" in refused(bad, 400, "invalid", "text")["detail"]
