"""Replays: no erased words again, no two workers at once, no money twice, no foreign branches."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from werkzeug import Response

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.context import UNKNOWN
from conversations.engines.replays.engine import ReplayEngine
from conversations.engines.replays.run import ReplayRun
from conversations.models import Conversation, Message, Replay, ReplayStep
from curation.engines.quarantine.engine import QuarantineEngine
from memory.engines.access.key_actors import get_actor
from memory.engines.access.keys import KeyEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.exceptions import BranchForbidden
from tests.conversations.fake_model import completion, texts, used

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
ENGINE, CONVERSATIONS, MESSAGES = ReplayEngine(), ConversationEngine(), MessageEngine()
READ = "Read", {"path": "auth.py"}


def answer(message, tokens=(100, 10)):
    usage = dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", **message}}
    return Response(json.dumps({"choices": [choice], "usage": usage}), content_type="application/json")


def call(name, arguments, uid="c"):
    function = {"name": name, "arguments": arguments}
    return {"content": None, "tool_calls": [{"id": uid, "type": "function", "function": function}]}


def expire(replay):
    """Let the lease of a replay run out, or what it waits for be over."""
    Replay.objects.filter(pk=replay.pk).update(resume_at=timezone.now() - timedelta(seconds=1))


def go_on(replay):
    expire(replay)
    ENGINE.execute_replay(replay.pk)
    return Replay.objects.get(pk=replay.pk)


@pytest.fixture
def secret(actor, main):
    """Return the messages of a conversation of session s9 and agent ada whose tool has read a secret."""
    writer = actor.with_origin(session_id="s9", agent_id="ada")
    talk = CONVERSATIONS.create_conversation(actor=writer)
    messages = [
        {"role": "user", "content": "go"},
        used("Read", {"path": "a"}, "The secret is zanzibar."),
        {"role": "assistant", "content": "It says zanzibar."},
    ]
    return MESSAGES.write_messages(conversation_id=talk.uid, actor=writer, messages=messages)


@pytest.fixture
def replay_secret(actor, secret):
    return lambda: ENGINE.create_replay(
        conversation_id=secret[0].conversation_id, message_id=secret[0].uid, actor=actor
    )


class TestErasures:
    @pytest.mark.parametrize(
        ("scope", "target"), [("session", "s9"), ("agent", "ada"), ("match", "zanzibar")]
    )
    def test_what_a_replay_has_copied_goes_too(self, actor, model, run, replay_secret, scope, target):
        model.next += [completion(None, ("Read", {"path": "a"})), completion("The file says zanzibar.")]
        replay = run(replay_secret())
        confirm = "test" if scope == "match" else target
        ErasureEngine().erase(actor=actor, scope=scope, target=target, confirm=confirm)
        assert "zanzibar" not in str(texts(replay))

    def test_during_a_run_nothing_is_written_or_sent_again(self, actor, model, run, replay_secret):
        def erase():
            ErasureEngine().erase(actor=actor, scope="match", target="zanzibar", confirm="test")
            return completion("It was zanzibar.", ("Read", {"path": "a"}))

        model.next += [erase, completion(None, ("Read", {"path": "a"})), completion("Done.")]
        replay = run(replay_secret())
        assert (replay.state, replay.steps, replay.calls, replay.input_tokens) == ("done", 2, 3, 300)
        assert texts(replay) == [("assistant", ""), ("tool_result", UNKNOWN), ("assistant", "Done.")]
        assert "zanzibar" not in json.dumps(model.sent[1:])

    def test_a_note_has_no_words_of_the_server(self, model, run, replay_secret):
        body = {"error": {"message": "bad content 'the secret is zanzibar'"}}
        model.next.append(Response(json.dumps(body), status=400, content_type="application/json"))
        run(replay_secret())
        reason = "it refuses the request (HTTP 400)"
        assert Replay.objects.get().note == f"The provider is not available: {reason}"


class TestQuarantines:
    def test_what_a_replay_has_copied_is_hidden(self, actor, model, run, replay_secret):
        model.next += [completion(None, ("Read", {"path": "a"})), completion("The file says zanzibar.")]
        replay = run(replay_secret())
        quarantine = QuarantineEngine().create_quarantine(
            source="session", target="s9", actor=actor, reason="x"
        )
        search = {"query": "zanzibar", "actor": actor}
        assert MESSAGES.search_messages(**search).hits == []
        assert ENGINE.list_messages(replay_id=replay.pk, actor=actor) == []
        QuarantineEngine().release_quarantine(quarantine_id=quarantine.pk, actor=actor)
        assert len(MESSAGES.search_messages(**search).hits) == 4
        assert len(ENGINE.list_messages(replay_id=replay.pk, actor=actor)) == 3

    def test_a_context_tells_no_hidden_fact(self, actor, model, begin, run):
        FactEngine().write_fact(fact_text="The login fails when the clock is wrong.", actor=actor)
        liar = actor.with_origin(session_id="s8")
        FactEngine().write_fact(fact_text="The login fails because of zanzibar.", actor=liar)
        replay = begin(memory={"branch": "main"})
        assert "zanzibar" in replay.memory_context
        QuarantineEngine().create_quarantine(source="session", target="s8", actor=actor, reason="x")
        told = ENGINE.get_replay(replay_id=replay.pk, actor=actor).memory_context
        assert ("clock" in told, "zanzibar" in told) == (True, False)
        model.next.append(completion("Done."))
        run(replay)
        assert "zanzibar" not in json.dumps(model.sent)


class TestWorkers:
    def test_one_that_slept_writes_no_message_twice(self, monkeypatch, actor, model, begin):
        replay = begin()
        ENGINE.run_replay(replay_id=replay.pk, actor=actor)
        model.next += [completion("Looking.", READ), completion("The clock.")]
        original, slept = ReplayRun._apply, []

        def sleep(self, step):
            if not slept:
                slept.append(True)
                go_on(replay)  # the sweep gives it to another worker, who ends it
            return original(self, step)

        monkeypatch.setattr(ReplayRun, "_apply", sleep)
        ENGINE.execute_replay(replay.pk)
        row = Replay.objects.get(pk=replay.pk)
        assert (row.state, row.steps, row.calls, len(model.sent)) == ("done", 2, 2, 2)
        assert [role for role, _ in texts(row)] == ["assistant", "tool_result", "assistant"]

    def test_one_that_slept_while_it_asked_stores_what_it_cost_alone(self, actor, model, begin):
        replay = begin()
        ENGINE.run_replay(replay_id=replay.pk, actor=actor)

        def sleep():
            go_on(replay)
            return completion("Late.")

        model.next += [sleep, completion("In time.")]
        ENGINE.execute_replay(replay.pk)
        row = Replay.objects.get(pk=replay.pk)
        assert (row.state, row.steps, row.calls, row.input_tokens) == ("done", 1, 2, 200)
        assert texts(row) == [("assistant", "In time.")]

    def test_a_cancelled_one_stores_its_last_answer_and_does_not_apply_it(self, actor, model, begin):
        replay = begin()
        ENGINE.run_replay(replay_id=replay.pk, actor=actor)

        def cancel():
            ENGINE.cancel_replay(replay_id=replay.pk, actor=actor)
            return completion("Looking.", READ)

        model.next.append(cancel)
        ENGINE.execute_replay(replay.pk)
        row = Replay.objects.get(pk=replay.pk)
        assert (row.state, row.steps, row.input_tokens, texts(row)) == ("cancelled", 1, 100, [])
        assert list(ReplayStep.objects.values_list("applied", flat=True)) == [False]

    def test_its_end_closes_the_conversation_or_is_none(self, monkeypatch, actor, model, begin):
        class Killed(BaseException):
            pass

        def kill(*args, **more):
            raise Killed

        replay = begin()
        ENGINE.run_replay(replay_id=replay.pk, actor=actor)
        model.next.append(completion("The end."))
        with monkeypatch.context() as patch:
            patch.setattr(ConversationEngine, "close_conversation", kill)
            with pytest.raises(Killed):
                ENGINE.execute_replay(replay.pk)
        assert Replay.objects.get().state == "running"
        assert go_on(replay).state == "done"
        talk = CONVERSATIONS.get_conversation(conversation_id=replay.conversation_id, actor=actor)
        assert talk.status == "completed"


class TestMoney:
    @pytest.mark.parametrize(
        ("message", "stored"),
        [
            ({"content": "a\ud800b"}, "a\ufffdb"),
            ({"content": "a\x00b"}, "a\ufffdb"),
        ],
    )
    def test_letters_that_no_database_stores_are_replaced(self, model, begin, run, message, stored):
        model.next.append(answer(message))
        replay = run(begin())
        assert (replay.state, texts(replay)) == ("done", [("assistant", stored)])

    def test_so_are_those_of_a_call(self, model, begin, run):
        model.next += [answer(call("Re\ud800ad", '{"p\\ud800": "\\ud800"}', "\ud800")), completion("Done.")]
        replay = run(begin())
        assert (replay.state, replay.unknown_calls) == ("done", 1)

    @pytest.mark.parametrize(
        "message",
        [
            call("Read", '{"a": 1e999}'),
            call("Read", '{"a": ' + "[" * 900 + "]" * 900 + "}"),
            {"content": "x" * (2**20 + 10)},
        ],
        ids=["infinite", "nested", "over 1 MiB"],
    )
    def test_what_no_message_holds_is_nonsense_that_cost_something(self, model, begin, run, message):
        model.next += [answer(message), completion("Yes.")]
        replay = run(begin())
        assert (replay.state, replay.steps, replay.calls, replay.input_tokens) == ("waiting", 0, 1, 100)
        done = go_on(replay)
        assert (done.state, done.steps, done.calls, done.input_tokens) == ("done", 1, 2, 200)

    def test_nonsense_counts_against_the_limit(self, settings, model, begin, run):
        settings.DAY1 = {**settings.DAY1, "replay_input_price": 10.0, "replay_output_price": 100.0}
        model.next += [answer(call("Read", "{bad"), (100_000, 10_000))]
        replay = run(begin(max_cost=0.01, max_tokens=50))
        assert (replay.state, replay.cost) == ("waiting", 2.0)
        assert (go_on(replay).state, len(model.sent)) == ("stopped", 1)
        assert (run(replay).state, len(model.sent)) == ("stopped", 1)

    def test_an_error_of_our_own_is_tried_again_and_at_last_fails(self, monkeypatch, model, begin, run):
        def fail(self, step):
            raise KeyError("name")

        monkeypatch.setattr(ReplayRun, "_apply", fail)
        model.next.append(completion("Yes."))
        replay = run(begin())
        assert (replay.state, replay.note) == ("waiting", "It was stopped by an error (KeyError).")
        for _ in range(4):
            replay = go_on(replay)
        assert (replay.state, replay.calls, len(model.sent)) == ("failed", 1, 1)

    def test_a_closed_fork_is_not_paid_for(self, actor, model, begin, run):
        replay = begin()
        CONVERSATIONS.close_conversation(conversation_id=replay.conversation_id, actor=actor)
        done = run(replay)
        assert (done.state, done.calls, model.sent) == ("failed", 0, [])
        assert "completed" in done.note

    def test_messages_of_any_shape_in_the_fork(self, actor, model, begin, run):
        replay = begin()
        calls = [{"id": "x", "type": "function", "function": {"name": "Read", "arguments": "{}"}}]
        MESSAGES.write_messages(
            conversation_id=replay.conversation_id,
            actor=actor,
            messages=[
                {"role": "assistant", "content": "", "tool_calls": calls},
                {"role": "tool_result", "content": "r", "tool_calls": calls},
            ],
        )
        model.next.append(completion("Done."))
        assert run(replay).state == "done"

    def test_surrogates_of_the_source_are_sent_as_u_fffd(self, actor, main, model, run):
        talk = CONVERSATIONS.create_conversation(actor=actor)
        function = {"name": "Read", "arguments": '{"p": "\\ud800", "\\ud801": 1}'}
        messages = [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "function": function}]},
            {"role": "tool_result", "content": "r", "metadata": {"tool_call_id": "c"}},
        ]
        rows = MESSAGES.write_messages(conversation_id=talk.uid, actor=actor, messages=messages)
        replay = ENGINE.create_replay(conversation_id=talk.uid, message_id=rows[2].uid, actor=actor)
        model.next.append(completion("Done."))
        assert run(replay).state == "done"
        sent = model.sent[0]["messages"][1]["tool_calls"][0]["function"]["arguments"]
        assert json.loads(sent) == {"p": "\ufffd", "\ufffd": 1}

    def test_two_tools_of_one_name_are_numbered(self, actor, main, model, run):
        talk = CONVERSATIONS.create_conversation(actor=actor)
        messages = [{"role": "user", "content": "x"}, used("a.b", {}, "one"), used("a b", {}, "two")]
        rows = MESSAGES.write_messages(conversation_id=talk.uid, actor=actor, messages=messages)
        replay = ENGINE.create_replay(conversation_id=talk.uid, message_id=rows[0].uid, actor=actor)
        model.next += [completion(None, ("a_b", {}), ("a_b_2", {})), completion("Done.")]
        replay = run(replay)
        assert [one["function"]["name"] for one in model.sent[0]["tools"]] == ["a_b", "a_b_2"]
        assert [text for role, text in texts(replay) if role == "tool_result"] == ["one", "two"]


class TestRights:
    @pytest.fixture
    def low(self, actor):
        return replace(actor, kind="key", id="", scopes=frozenset({"read"}), branch_patterns=("main",))

    @pytest.fixture
    def told(self, actor, begin):
        BranchManager().create_branch(name="secret/x", actor=actor)
        FactEngine().write_fact(
            fact_text="The login fails because of Bob's password.", actor=actor, branch_name="secret/x"
        )
        return begin(memory={"branch": "secret/x"})

    def test_the_memory_of_a_forbidden_branch(self, actor, low, begin, told):
        other = begin(memory={"branch": "main"})
        assert "Bob" in ENGINE.get_replay(replay_id=told.pk, actor=actor).memory_context
        for read in (ENGINE.get_replay, ENGINE.get_replay_context, ENGINE.semantic_diff, ENGINE.diff_replay):
            with pytest.raises(BranchForbidden):
                read(replay_id=told.pk, actor=low)
        assert [row.pk for row in ENGINE.list_replays(actor=low).results] == [other.pk]
        assert {row.pk for row in ENGINE.list_replays(actor=actor).results} == {other.pk, told.pk}

    def test_a_key_that_may_not_read_the_source_runs_nothing(self, actor, model, source):
        talk, rows = source
        replay = ENGINE.create_replay(
            conversation_id=talk.uid, message_id=rows[1].uid, actor=actor, memory_branch="task/x"
        )
        key = replace(actor, kind="key", id="", scopes=frozenset({"write"}), branch_patterns=("task/*",))
        for act in (ENGINE.run_replay, ENGINE.cancel_replay, ENGINE.complete_replay):
            with pytest.raises(BranchForbidden):
                act(replay_id=replay.pk, actor=key)
        assert Replay.objects.get().state == "ready"
        assert ENGINE.list_replays(actor=key).results == []

    def test_a_run_ends_with_the_key_that_began_it(self, actor, model, begin):
        replay = begin()
        key, _token = KeyEngine().create_key(label="worker", scopes=["write"], actor=actor)
        ENGINE.run_replay(replay_id=replay.pk, actor=get_actor(key, "rest"))
        KeyEngine().revoke_key(key_id=key.pk, actor=actor)
        ENGINE.execute_replay(replay.pk)
        row = Replay.objects.get()
        assert (row.state, row.note, model.sent) == ("failed", "The API key that started this has ended.", [])

    def test_a_key_that_is_revoked_in_mid_run_stops_it(self, actor, model, begin):
        replay = begin()
        key, _token = KeyEngine().create_key(label="worker", scopes=["write"], actor=actor)
        ENGINE.run_replay(replay_id=replay.pk, actor=get_actor(key, "rest"))

        def revoke():
            KeyEngine().revoke_key(key_id=key.pk, actor=actor)
            return completion("Looking.", READ)

        model.next += [completion("First.", READ), revoke]
        ENGINE.execute_replay(replay.pk)
        row = Replay.objects.get()
        assert (row.state, row.note) == ("failed", "The API key that started this has ended.")
        assert (row.steps, len(model.sent), row.input_tokens) == (
            2,
            2,
            200,
        )  # the answer is paid for, and kept
        assert texts(row) == [("assistant", "First."), ("tool_result", "the clock")]
        model.next.append(completion("Done."))
        ENGINE.run_replay(replay_id=replay.pk, actor=actor)
        ENGINE.execute_replay(replay.pk)
        assert (Replay.objects.get().state, len(model.sent)) == ("done", 3)
        assert [text for role, text in texts(row) if role == "assistant"] == ["First.", "Looking.", "Done."]

    def test_it_is_written_in_the_name_of_whoever_ran_it(self, actor, model, begin):
        replay = begin()
        key, _token = KeyEngine().create_key(label="another", scopes=["write"], actor=actor)
        ENGINE.run_replay(replay_id=replay.pk, actor=get_actor(key, "rest"))
        model.next.append(completion("Done."))
        ENGINE.execute_replay(replay.pk)
        (row,) = Message._base_manager.filter(conversation_id=replay.conversation_id)
        commit = row.branch.commits.get(seq=row.seq_from)
        assert commit.actor_label == "another"
        assert Conversation._base_manager.filter(uid=replay.conversation_id).count() == 2
