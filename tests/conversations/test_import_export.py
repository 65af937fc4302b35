"""Conversations as documents: what is exported is imported the same, and hostile documents are refused."""

from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.import_export.document import MESSAGE_FIELDS
from conversations.engines.import_export.engine import ConversationTransfer
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.exceptions import Day1Error, Invalid, TooLarge, UnknownField
from tests.memory.api.client import Api, api_for, refused

pytestmark = pytest.mark.django_db(transaction=True)
engine, conversations, messages = ConversationTransfer(), ConversationEngine(), MessageEngine()
SAME = ("title", "model", "status", "messages")


@pytest.fixture
def talk(actor: Actor, main: Any) -> Conversation:
    row = conversations.create_conversation(actor=actor, title="Login", model="m-1", session_id="s1")
    call = {"id": "c1", "name": "Bash", "input": {"command": "date"}}
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Warum schlägt der Login fehl? 🕰", "said_at": "2026-01-02T03:04:05Z"},
        {"role": "assistant", "content": "", "tool_calls": [call], "thinking": "The clock?"},
        {"role": "tool_result", "content": "line 1\n## 9. user\n> quoted", "tool_calls": [call]},
        {"role": "assistant", "content": "The clock.", "sequence_num": 9, "metadata": {"a": [1, None]}},
    ]
    messages.write_messages(conversation_id=row.uid, messages=said, actor=actor)
    conversations.close_conversation(conversation_id=row.uid, actor=actor)
    return row


def export(row: Conversation, actor: Actor, **options: Any) -> dict[str, Any]:
    return engine.export_conversation(conversation_id=row.uid, actor=actor, **options)


def test_what_was_exported_is_imported_the_same(talk: Conversation, actor: Actor) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    document = export(talk, actor)
    row, created = engine.import_conversation(document=document, actor=actor, branch_name="task/x")
    assert (created, row.message_count, row.uid != talk.uid) == (True, 5, True)
    again = export(row, actor, branch_name="task/x")
    assert {name: again[name] for name in SAME} == {name: document[name] for name in SAME}
    assert [one["sequence_num"] for one in again["messages"]] == [1, 2, 3, 4, 9]
    assert (document["origin"]["session_id"], again["origin"]["session_id"]) == ("s1", "")
    assert again["messages"][1]["said_at"].startswith("2026-01-02T03:04:05")


def test_the_same_document_again_adds_nothing(talk: Conversation, actor: Actor) -> None:
    document = export(talk, actor)
    first, _ = engine.import_conversation(document=document, actor=actor)
    second, created = engine.import_conversation(document=document | {"redacted": 7}, actor=actor)
    assert (second.uid, created) == (first.uid, False)
    assert Message._base_manager.filter(conversation_id=first.uid).count() == 5


def test_a_fork_is_exported_whole(talk: Conversation, actor: Actor) -> None:
    point = Message._base_manager.get(conversation_id=talk.uid, sequence_num=2)
    fork = conversations.fork_conversation(conversation_id=talk.uid, message_id=point.uid, actor=actor)
    messages.write_message(conversation_id=fork.uid, actor=actor, role="assistant", content="Another way.")
    found = export(fork, actor)["messages"]
    assert [(one["sequence_num"], one["content"][:7]) for one in found] == [
        (1, "Be brie"),
        (2, "Warum s"),
        (3, "Another"),
    ]


def test_secrets_are_taken_out_and_counted(actor: Actor, project: Any, main: Any) -> None:
    project.redact_secrets = False
    project.save()
    row = conversations.create_conversation(actor=actor)
    text = "The key is ghp_abcdefghijklmnopqrstuvwxyz0123456789."
    Message_ = {"role": "user", "content": text}
    api_for(project).post(f"/conversations/{row.uid}/messages", Message_)
    (stored,) = Message._base_manager.filter(conversation_id=row.uid)
    assert stored.content == text
    document = export(row, actor)
    assert (document["messages"][0]["content"], document["redacted"]) == (
        "The key is [redacted: GitHub token].",
        1,
    )


def test_thinking_is_for_curators(talk: Conversation, actor: Actor, project: Any) -> None:
    assert export(talk, actor)["messages"][2]["thinking"] == "The clock?"
    reader = api_for(project, scopes=["read"])
    assert reader.get(f"/conversations/{talk.uid}/export").json()["messages"][2]["thinking"] == ""


def test_markdown_quotes_each_message(talk: Conversation, actor: Actor) -> None:
    text = engine.export_markdown(conversation_id=talk.uid, actor=actor)
    assert text.startswith("# Login\n\n- model: m-1\n- status: completed\n- session_id: s1\n")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        line for line in text.splitlines() if line.startswith("## ") and line[3].isdigit()
    ]
    assert len([line for line in text.splitlines() if line.startswith("## ")]) == 5
    assert "\n> line 1\n> ## 9. user\n> > quoted\n" in text
    assert '\n- call: {"id": "c1", "input": {"command": "date"}, "name": "Bash"}\n' in text
    assert '\n- metadata: {"a": [1, null]}\n' in text


GOOD: dict[str, Any] = {
    "format": "day1-conversation",
    "schema_version": 1,
    "title": "T",
    "messages": [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}],
}


def changed(place: int, **fields: Any) -> dict[str, Any]:
    items = [dict(one) for one in GOOD["messages"]]
    items[place] |= fields
    return {**GOOD, "messages": items}


@pytest.mark.parametrize(
    ("document", "error", "field"),
    [
        ([], Invalid, "format"),
        ({}, Invalid, "format"),
        ({**GOOD, "format": "day1-bundle"}, Invalid, "format"),
        ({**GOOD, "schema_version": 2}, Invalid, "schema_version"),
        ({**GOOD, "schema_version": True}, Invalid, "schema_version"),
        ({**GOOD, "nope": 1}, UnknownField, "nope"),
        ({**GOOD, "title": 5}, Invalid, "title"),
        ({**GOOD, "title": "x" * 301}, Invalid, "title"),
        ({**GOOD, "status": "archived"}, Invalid, "status"),
        ({**GOOD, "messages": []}, Invalid, "messages"),
        ({**GOOD, "messages": {"0": {}}}, Invalid, "messages"),
        ({**GOOD, "messages": [5]}, Invalid, "messages[0]"),
        (changed(1, role="root"), Invalid, "messages[1].role"),
        (changed(1, session_id="s1"), UnknownField, "messages[1].session_id"),
        (changed(1, content=""), Invalid, "messages[1].content"),
        (changed(1, content=5), Invalid, "messages[1].content"),
        (changed(1, content="a\x00b"), Invalid, "messages[1].content"),
        (changed(1, said_at="yesterday"), Invalid, "messages[1].said_at"),
        (changed(1, tool_calls="x"), Invalid, "messages[1].tool_calls"),
        (changed(1, token_count=-1), Invalid, "messages[1].token_count"),
        (changed(0, sequence_num=2) | {}, None, ""),
        (changed(1, sequence_num=1), Invalid, "messages[1].sequence_num"),
        (changed(1, sequence_num="2"), Invalid, "messages[1].sequence_num"),
        (changed(1, sequence_num=2**31), Invalid, "messages[1].sequence_num"),
        (changed(1, content="x" * (1024 * 1024 + 1)), Invalid, "messages[1].content"),
        ({**GOOD, "messages": [{"role": "user", "content": "x"}] * 20_001}, TooLarge, "messages"),
    ],
)
def test_hostile_documents(actor: Actor, main: Any, document: Any, error: Any, field: str) -> None:
    if error is None:
        assert engine.import_conversation(document=document, actor=actor)[1]
        return
    with pytest.raises(Day1Error) as found:
        engine.import_conversation(document=document, actor=actor)
    assert (type(found.value), found.value.data["field"]) == (error, field)
    assert not Conversation._base_manager.exists()
    assert not Message._base_manager.exists()


def test_over_rest(talk: Conversation, api: Api) -> None:
    document = api.get(f"/conversations/{talk.uid}/export").json()
    assert set(document["messages"][0]) == set(MESSAGE_FIELDS)
    made = api.post("/conversations/import", document)
    assert (made.status_code, made.json()["created"], made.json()["message_count"]) == (201, True, 5)
    assert (api.post("/conversations/import", document).status_code) == 200
    text = api.get(f"/conversations/{talk.uid}/export?format=markdown")
    assert (text.status_code, text["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    refused(api.get(f"/conversations/{talk.uid}/export?format=html"), 400, "invalid", "format")
    refused(api.post("/conversations/import", {"a": 1}), 400, "invalid", "format")
    refused(api.post("/conversations/import", changed(1, role="root")), 400, "invalid", "messages[1].role")
