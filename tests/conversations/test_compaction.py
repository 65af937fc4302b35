"""Compaction: a summary of the earlier messages, which stay as they are, until one of them changes."""

from typing import Any

import pytest

from conversations.engines.compaction import MAX_SUMMARY, CompactionEngine
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Compaction, Conversation, Message
from memory.actors import Actor
from memory.engines.erasure.engine import ErasureEngine
from memory.exceptions import Invalid, NotFound

pytestmark = pytest.mark.django_db(transaction=True)
engine, conversations, messages = CompactionEngine(), ConversationEngine(), MessageEngine()


def build_turn(number: int) -> list[dict[str, Any]]:
    call = {"id": f"c{number}", "name": "Bash", "input": {"command": "make"}}
    output = "Exit code 1" if number == 1 else "fine"
    return [
        {"role": "user", "content": f"Question {number}?", "token_count": 10},
        {"role": "tool_result", "content": output, "tool_calls": [call], "token_count": 10},
        {"role": "assistant", "content": f"Answer {number}.", "token_count": 10},
    ]


@pytest.fixture
def talk(actor: Actor, main: Any) -> Conversation:
    row = conversations.create_conversation(actor=actor, session_id="s1")
    said = [message for number in range(4) for message in build_turn(number)]
    messages.write_messages(conversation_id=row.uid, messages=said, actor=actor)
    return row


def compact(row: Conversation, actor: Actor, **options: Any) -> Compaction:
    return engine.compact_conversation(conversation_id=row.uid, actor=actor, **options)


def read(row: Conversation, actor: Actor, **options: Any) -> Any:
    return engine.get_compact(conversation_id=row.uid, actor=actor, **options)


def test_a_line_for_each_turn(talk: Conversation, actor: Actor) -> None:
    row = compact(talk, actor, keep_last=6)
    assert row.summary == (
        "6 messages, 2 turns. Tools: Bash 2; 1 failed.\n- Question 0? → Answer 0.\n- Question 1? → Answer 1."
    )
    assert (row.messages, row.tokens, row.method, row.tools) == (6, 60, "rules", {"Bash": 2})
    found = read(talk, actor)
    assert found.compaction.pk == row.pk
    assert [one.sequence_num for one in found.messages] == [7, 8, 9, 10, 11, 12]


def test_the_originals_stay_and_are_searched(talk: Conversation, actor: Actor) -> None:
    compact(talk, actor, keep_last=0)
    assert len(messages.list_messages(conversation_id=talk.uid, actor=actor).results) == 12
    found = messages.search_messages(query="Question 0", actor=actor, search_type="keyword")
    assert found.hits[0].row.content == "Question 0?"


def test_it_holds_while_the_conversation_goes_on(talk: Conversation, actor: Actor) -> None:
    row = compact(talk, actor, keep_last=0, summary="All of it.")
    messages.write_message(conversation_id=talk.uid, actor=actor, role="user", content="More.")
    found = read(talk, actor)
    assert (found.compaction.pk, found.compaction.method) == (row.pk, "caller")
    assert [one.content for one in found.messages] == ["More."]


def test_a_fork_has_its_own(talk: Conversation, actor: Actor) -> None:
    compact(talk, actor, keep_last=0)
    point = Message._base_manager.get(conversation_id=talk.uid, sequence_num=3)
    fork = conversations.fork_conversation(conversation_id=talk.uid, message_id=point.uid, actor=actor)
    assert read(fork, actor).compaction is None
    assert compact(fork, actor, keep_last=0).summary.startswith("3 messages, 1 turns.")


def test_an_erasure_removes_it(talk: Conversation, actor: Actor) -> None:
    compact(talk, actor, keep_last=0)
    ErasureEngine().erase(scope="match", target="Question 0", confirm="test", actor=actor)
    assert not Compaction.objects.exists()


def test_one_whose_messages_have_changed_is_not_shown(talk: Conversation, actor: Actor) -> None:
    compact(talk, actor, keep_last=6)
    Message._base_manager.filter(conversation_id=talk.uid, sequence_num=1).update(content_hash="0" * 64)
    found = read(talk, actor)
    assert (found.compaction, len(found.messages)) == (None, 12)


def test_a_summary_is_never_longer_than_its_limit(actor: Actor, main: Any) -> None:
    row = conversations.create_conversation(actor=actor)
    said = [{"role": "user", "content": f"{n} " + "x" * 500} for n in range(500)]
    messages.write_messages(conversation_id=row.uid, messages=said, actor=actor)
    text = compact(row, actor, keep_last=0).summary
    assert len(text) <= MAX_SUMMARY
    assert "- 0 x" in text
    assert "- 499 x" in text
    assert "turns are left out" in text


def test_what_is_refused(talk: Conversation, actor: Actor) -> None:
    with pytest.raises(Invalid, match="no more than 12 messages"):
        compact(talk, actor, keep_last=12)
    with pytest.raises(Invalid, match="keep"):
        compact(talk, actor, keep_last=1001)
    with pytest.raises(NotFound):
        engine.compact_conversation(conversation_id=actor.project_id, actor=actor)
    assert not Compaction.objects.exists()
