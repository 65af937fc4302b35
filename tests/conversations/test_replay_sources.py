"""What a replay takes from its source: results in order, the start of a long one, points, private facts."""

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays import context
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Conversation, Message
from memory.engines.facts.engine import FactEngine
from tests.conversations.fake_model import completion, texts, used
from tests.site.hook_events import HOOK, event

pytestmark = pytest.mark.django_db(transaction=True)
ENGINE, CONVERSATIONS, MESSAGES = ReplayEngine(), ConversationEngine(), MessageEngine()


@pytest.fixture
def talk(actor, main):
    def talk(*messages):
        made = CONVERSATIONS.create_conversation(actor=actor)
        return MESSAGES.write_messages(conversation_id=made.uid, messages=messages, actor=actor)

    return talk


@pytest.fixture
def replay_at(actor):
    def replay_at(message, **more):
        return ENGINE.create_replay(
            conversation_id=message.conversation_id, message_id=message.uid, actor=actor, **more
        )

    return replay_at


def ask(text):
    return {"role": "user", "content": text}


class TestResults:
    @pytest.mark.slow
    def test_no_result_is_older_than_the_last(self, model, run, talk, replay_at):
        read = "Read", {"path": "a"}
        rows = talk(ask("go"), used(*read, "old"), ask("fix"), used(*read, "new"))
        model.next += [completion(None, read), completion(None, read), completion("Done.")]
        replay = run(replay_at(rows[2]))
        assert [text for role, text in texts(replay) if role == "tool_result"] == ["new", "new"]

    @pytest.mark.slow
    def test_what_was_read_before_the_fork_alone_has_its_last_result(self, model, run, talk, replay_at):
        read = "Read", {"path": "a"}
        rows = talk(ask("go"), used(*read, "older"), used(*read, "old"), ask("fix"))
        model.next += [completion(None, read), completion("Done.")]
        replay = run(replay_at(rows[3]))
        assert [text for role, text in texts(replay) if role == "tool_result"] == ["old"]


class TestShapes:
    def test_ids_are_short_and_each_is_there_once(self, actor, talk, replay_at):
        calls = [{"id": "x" * 100, "name": "Read", "input": {"path": path}} for path in "ab"]
        rows = talk(ask("go"), {"role": "assistant", "tool_calls": calls}, used("Read", {}, "c"), ask("on"))
        context = ENGINE.get_replay_context(replay_id=replay_at(rows[3]).pk, actor=actor)["messages"]
        ids = [call["id"] for one in context for call in one.get("tool_calls", ())]
        assert ids == ["call_0", "call_1", "call_2"]
        assert [one["tool_call_id"] for one in context if one["role"] == "tool"] == ids

    @pytest.mark.slow
    def test_a_tool_that_takes_a_text_is_called_with_an_object(self, actor, model, run, talk, replay_at):
        rows = talk(ask("go"), used("patch", "+1", "patched"), ask("again"), used("patch", "+2", "twice"))
        model.next += [completion(None, ("patch", {"input": "+2"})), completion("Done.")]
        replay = run(replay_at(rows[2]))
        assert (replay.state, replay.unknown_calls) == ("done", 0)
        sent = [one["tool_calls"][0]["function"] for one in model.sent[1]["messages"] if "tool_calls" in one]
        assert sent == [{"name": "patch", "arguments": f'{{"input": "{text}"}}'} for text in ("+1", "+2")]
        assert list(model.sent[0]["tools"][0]["function"]["parameters"]["properties"]) == ["input"]
        own = ENGINE.list_messages(replay_id=replay.pk, actor=actor)
        assert own[0].tool_calls[0]["input"] == "+2"

    @pytest.mark.slow
    def test_no_arguments_are_an_empty_object(self, model, run, talk, replay_at):
        rows = talk(ask("go"), used("date", None, "today"))
        model.next += [completion(None, ("date", {})), completion("Done.")]
        assert run(replay_at(rows[0])).unknown_calls == 0


class TestLongSources:
    def test_system_messages_stay_and_the_gap_is_named(self, actor, talk, replay_at, monkeypatch):
        monkeypatch.setattr(context, "MAX_PART", 3)
        rows = talk(
            {"role": "system", "content": "NEVER deploy"},
            *(ask(f"question {number}") for number in range(5)),
            used("Read", {"path": "a"}, "a result"),
            {"role": "assistant", "content": "It is so."},
            ask("Why?"),
            ask("And then?"),
        )
        found = ENGINE.get_replay_context(replay_id=replay_at(rows[9]).pk, actor=actor)["messages"]
        assert [(one["role"], one["content"]) for one in found] == [
            ("system", "NEVER deploy"),
            ("system", "[7 earlier messages of the conversation are left out.]"),
            ("user", "Why?"),
            ("user", "And then?"),
        ]

    def test_bytes_count_too(self, actor, talk, replay_at, monkeypatch):
        monkeypatch.setattr(context, "MAX_PART_BYTES", 1000)
        rows = talk(ask("first"), ask("x" * 2000), ask("last"))
        found = ENGINE.get_replay_context(replay_id=replay_at(rows[2]).pk, actor=actor)["messages"]
        assert [one["content"][:20] for one in found] == ["[1 earlier messages ", "x" * 20, "last"]


class TestPoints:
    def test_a_comparison_is_with_the_source_as_it_was(self, actor, talk, replay_at):
        rows = talk(ask("Why?"), {"role": "assistant", "content": "The end."})
        replay = replay_at(rows[0])
        end = {"role": "assistant", "content": "The end."}
        MESSAGES.write_message(conversation_id=replay.conversation_id, actor=actor, **end)
        MESSAGES.write_messages(
            conversation_id=rows[0].conversation_id,
            actor=actor,
            messages=[ask("Now else."), used("Bash", {"command": "x"}, "y")],
        )
        assert ENGINE.semantic_diff(replay_id=replay.pk, actor=actor).verdict == "equivalent"
        page = ENGINE.diff_replay(replay_id=replay.pk, actor=actor)
        assert [row.change for row in page.rows] == ["same"]


class TestSessions:
    def test_the_conversation_of_a_session_is_no_fork(self, actor, main):
        talk = CONVERSATIONS.create_conversation(actor=actor, session_id="s1")
        row = MESSAGES.write_message(conversation_id=talk.uid, actor=actor, **ask("x"))
        CONVERSATIONS.fork_conversation(
            conversation_id=talk.uid, message_id=row.uid, actor=actor, session_id="s1"
        )
        assert CONVERSATIONS.get_conversation_by_session(session_id="s1", actor=actor).uid == talk.uid

    def test_hooks_go_on_in_the_source(self, api, main):
        api.post(HOOK, event("UserPromptSubmit", "s7", prompt="first"))
        (talk,) = Conversation._base_manager.filter(session_id="s7")
        (row,) = Message._base_manager.filter(conversation_id=talk.uid)
        body = {"message_id": str(row.uid), "session_id": "s7", "agent_id": talk.agent_id}
        assert api.post(f"/conversations/{talk.uid}/fork", body).status_code == 201
        api.post(HOOK, event("UserPromptSubmit", "s7", prompt="second"))
        rows = Message._base_manager.filter(conversation_id=talk.uid).order_by("sequence_num")
        assert [row.content for row in rows] == ["first", "second"]


class TestPrivateFacts:
    def test_they_are_not_in_a_context(self, actor, talk, replay_at):
        FactEngine().write_fact(fact_text="The login fails when the clock is wrong.", actor=actor)
        FactEngine().write_fact(
            fact_text="The login fails at Alice's desk.", actor=actor, visibility="private"
        )
        (row,) = talk(ask("Why does the login fail?"))
        told = replay_at(row, memory={"branch": "main"}).memory_context
        assert "clock" in told
        assert "Alice" not in told
