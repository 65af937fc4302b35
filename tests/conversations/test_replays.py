"""Replays against a server that plays the model: tools, limits, faults, kills, other memories."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone
from werkzeug import Response

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.batches import ReplayBatchEngine
from conversations.engines.replays.context import UNKNOWN
from conversations.engines.replays.engine import ReplayEngine
from conversations.engines.replays.run import ReplayRun
from conversations.models import Conversation, Message, Replay, ReplayBatch, ReplayStep
from conversations.tasks import compare_replay
from curation.engines.scoring.dimensions import MEANINGS
from curation.engines.scoring.engine import ScoringEngine
from curation.models import Scoring
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.exceptions import Conflict, Invalid, NotFound, ProviderUnavailable, ScopeMissing, UnknownField
from memory.models import QueueMessage
from memory.providers.tool_chat import NO_MODEL
from tests.conversations.fake_model import completion, texts
from tests.curation.fake_judge import FakeJudge, rating
from tests.waiting import TIMEOUT_SECONDS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
BATCHES = ReplayBatchEngine()
ENGINE, CONVERSATIONS, MESSAGES = ReplayEngine(), ConversationEngine(), MessageEngine()


class TestContext:
    def test_in_chat_format_without_a_model(self, actor, begin):
        replay = begin(3, model="other", extra_context="It is Monday.", temperature=0.5)
        found = ENGINE.get_replay_context(replay_id=replay.pk, actor=actor)
        roles = [one["role"] for one in found["messages"]]
        assert roles == ["system", "system", "user", "assistant", "tool", "assistant", "tool"]
        assert [one["content"] for one in found["messages"][:2]] == ["Be brief.", "It is Monday."]
        call = found["messages"][3]["tool_calls"][0]
        assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (
            "Read",
            {"path": "auth.py"},
        )
        assert found["messages"][4] == {"role": "tool", "tool_call_id": call["id"], "content": "the clock"}
        assert [one["function"]["name"] for one in found["tools"]] == ["Bash", "Read"] or len(
            found["tools"]
        ) == 2
        assert (found["model"], found["temperature"]) == ("other", 0.5)

    def test_a_system_prompt_takes_the_place_of_the_conversations(self, actor, begin):
        replay = begin(system_prompt="Be thorough.")
        found = ENGINE.get_replay_context(replay_id=replay.pk, actor=actor)
        assert [one["content"] for one in found["messages"]] == ["Be thorough.", "Why does the login fail?"]

    def test_tools_that_a_filter_leaves(self, actor, begin):
        replay = begin(tools_deny=["Bash"])
        found = ENGINE.get_replay_context(replay_id=replay.pk, actor=actor)
        assert [one["function"]["name"] for one in found["tools"]] == ["Read"]

    def test_it_is_no_part_of_a_session(self, begin):
        fork = Conversation._base_manager.get(uid=begin(model="other").conversation_id)
        assert (fork.session_id, fork.model) == ("", "other")


class TestRuns:
    def test_recorded_results_answer_the_calls(self, actor, model, begin, run, source):
        model.next += [
            completion("Let me look.", ("Read", {"path": "auth.py"}), ("Grep", {"for": "x"})),
            completion("It is the clock."),
        ]
        replay = run(begin())
        assert (replay.state, replay.steps, replay.calls, replay.unknown_calls) == ("done", 2, 2, 1)
        assert (replay.input_tokens, replay.output_tokens, replay.note) == (200, 20, "")
        assert texts(replay) == [
            ("assistant", "Let me look."),
            ("tool_result", "the clock"),
            ("tool_result", UNKNOWN),
            ("assistant", "It is the clock."),
        ]
        rows = Message._base_manager.filter(conversation_id=replay.conversation_id, role="tool_result")
        assert [row.metadata["recorded"] for row in rows.order_by("sequence_num")] == [True, False]
        assert [one["role"] for one in model.sent[1]["messages"]] == [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
        ]
        assert model.sent[0]["model"] == "other"
        assert {one["function"]["name"] for one in model.sent[0]["tools"]} == {"Read", "Bash"}
        fork = Conversation._base_manager.filter(uid=replay.conversation_id).latest("rid")
        assert fork.status == "completed"
        assert Message._base_manager.filter(conversation_id=source[0].uid).count() == 5

    def test_a_refusal_is_an_answer(self, model, begin, run):
        model.next.append(completion(None, refusal="I will not."))
        replay = run(begin())
        assert (replay.state, texts(replay)) == ("done", [("assistant", "I will not.")])
        (row,) = Message._base_manager.filter(conversation_id=replay.conversation_id)
        assert row.metadata["refused"] is True

    def test_parameters_are_sent(self, model, begin, run):
        model.next.append(completion("Yes."))
        run(begin(model="third", temperature=0.25, max_tokens=50))
        assert (model.sent[0]["model"], model.sent[0]["temperature"]) == ("third", 0.25)
        assert model.sent[0]["max_tokens"] == 50

    def test_a_model_that_refuses_max_tokens_gets_the_newer_name(self, model, begin, run):
        words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        error = {"message": words, "param": "max_tokens", "code": "unsupported_parameter"}
        model.next += [
            Response(json.dumps({"error": error}), status=400),
            completion("Yes."),
            completion("No."),
        ]
        for _ in range(2):
            replay = run(begin(model="newer", max_tokens=50))
            assert (replay.state, replay.calls) == ("done", 1)
        limits = [(one.get("max_tokens"), one.get("max_completion_tokens")) for one in model.sent]
        assert limits == [(50, None), (None, 50), (None, 50)]

    def test_another_refusal_of_a_limit_ends_it(self, model, begin, run):
        words = "max_tokens is too large: 50. This model supports at most 10."
        model.next.append(Response(json.dumps({"error": {"message": words}}), status=400))
        replay = run(begin(max_tokens=50))
        assert (replay.state, words in replay.note, len(model.sent)) == ("failed", False, 1)
        assert replay.note == "The provider is not available: it refuses the request (HTTP 400)"

    def test_a_model_that_thinks_until_its_limit_is_not_paid_again(self, model, begin, run):
        model.next.append(completion("", finish="length"))
        replay = run(begin(max_tokens=50))
        assert (replay.state, replay.calls, replay.output_tokens) == ("failed", 1, 10)
        assert "raise max_tokens" in replay.note

    def test_it_compares_with_its_source(self, actor, model, begin, run):
        model.next += [completion(None, ("Read", {"path": "auth.py"})), completion("The clock is wrong.")]
        replay = run(begin())
        found = ENGINE.semantic_diff(replay_id=replay.pk, actor=actor)
        assert (found.comparison.shared, found.actions.only_first) == (2, {"Bash": 1})
        assert found.reasoning.similarity == 1
        page = ENGINE.diff_replay(replay_id=replay.pk, actor=actor)
        assert page.rows[-1].change == "same"


class TestFaults:
    def later(self, replay):
        Replay.objects.filter(pk=replay.pk).update(resume_at=timezone.now() - timedelta(seconds=1))
        ENGINE.execute_replay(replay.pk)
        return Replay.objects.get(pk=replay.pk)

    def test_a_429_waits_as_long_as_the_server_asks(self, model, begin, run):
        model.next.append(Response("{}", status=429, headers={"Retry-After": "77"}))
        replay = run(begin())
        assert (replay.state, replay.steps) == ("waiting", 0)
        assert 70 < (replay.resume_at - timezone.now()).total_seconds() <= 77
        assert "fewer requests" in replay.note
        model.next.append(completion("Yes."))
        assert self.later(replay).state == "done"

    @pytest.mark.parametrize(
        "answer",
        [
            Response("<html>", content_type="text/html"),
            Response('{"choices": [{"message": {"tool_calls": [{}]}}]}', content_type="application/json"),
            Response('{"choices": [', content_type="application/json"),
        ],
        ids=["html", "calls of nothing", "cut json"],
    )
    def test_nonsense_is_asked_for_again(self, model, begin, run, answer):
        model.next += [answer, completion("Yes.")]
        replay = run(begin())
        assert (replay.state, replay.steps, replay.calls) == ("waiting", 0, 1)
        done = self.later(replay)
        assert (done.state, done.steps, done.calls) == ("done", 1, 2)

    def test_a_stream_that_is_cut_off(self, model, begin, run):
        def cut():
            response = Response(b'{"choices"', content_type="application/json")
            response.headers["Content-Length"] = "5000"
            return response

        model.next += [cut, completion("Yes.")]
        replay = run(begin())
        assert replay.state == "waiting"
        assert self.later(replay).state == "done"

    def test_a_time_out(self, settings, model, begin, run):
        import time

        settings.DAY1 = {**settings.DAY1, "replay_timeout": 1.0}

        def slow():
            time.sleep(1.5)
            return completion("Late.")

        model.next += [slow, completion("Yes.")]
        replay = run(begin())
        assert (replay.state, "within 1 s" in replay.note) == ("waiting", True)
        settings.DAY1 = {**settings.DAY1, "replay_timeout": float(TIMEOUT_SECONDS)}
        assert self.later(replay).state == "done"

    def test_a_refused_request_fails_at_once_and_may_be_run_again(self, model, begin, run):
        model.next.append(Response('{"error": {"message": "no such model"}}', status=404))
        replay = run(begin())
        assert replay.state == "failed"
        assert "no such model" in replay.note or "does not know" in replay.note
        model.next.append(completion("Yes."))
        assert run(replay).state == "done"

    def test_at_last_it_fails(self, model, begin, run):
        model.next += [Response("{}", status=500) for _ in range(5)]
        replay = run(begin())
        for _ in range(4):
            replay = self.later(replay)
        assert (replay.state, replay.calls) == ("failed", 5)


class Killed(BaseException):
    """The process is gone."""


class TestKills:
    @pytest.mark.parametrize("method", ["_apply", "_build_messages", "_ask", "_finish"])
    def test_no_finished_step_is_paid_for_twice(self, monkeypatch, actor, model, begin, method):
        model.next += [completion("Looking.", ("Read", {"path": "auth.py"})), completion("The clock.")]
        replay = begin()
        ENGINE.run_replay(replay_id=replay.pk, actor=actor)
        original, seen = getattr(ReplayRun, method), []

        def kill(self, *args):
            seen.append(method)
            if len(seen) == (2 if method == "_ask" else 1):
                raise Killed
            return original(self, *args)

        with monkeypatch.context() as patch:
            patch.setattr(ReplayRun, method, kill)
            with pytest.raises(Killed):
                ENGINE.execute_replay(replay.pk)
        ENGINE.execute_replay(replay.pk)  # another worker has it still
        assert Replay.objects.get(pk=replay.pk).state == "running"
        Replay.objects.filter(pk=replay.pk).update(resume_at=timezone.now())
        ENGINE.execute_replay(replay.pk)
        done = Replay.objects.get(pk=replay.pk)
        assert (done.state, done.steps, done.calls, len(model.sent)) == ("done", 2, 2, 2)
        assert texts(done) == [
            ("assistant", "Looking."),
            ("tool_result", "the clock"),
            ("assistant", "The clock."),
        ]
        assert not ReplayStep.objects.filter(applied=False).exists()

    def test_a_cancelled_one_asks_no_more(self, actor, model, begin):
        replay = begin()
        ENGINE.run_replay(replay_id=replay.pk, actor=actor)

        def cancel():
            ENGINE.cancel_replay(replay_id=replay.pk, actor=actor)
            return completion("Looking.", ("Read", {"path": "auth.py"}))

        model.next.append(cancel)
        ENGINE.execute_replay(replay.pk)
        assert (Replay.objects.get(pk=replay.pk).state, len(model.sent)) == ("cancelled", 1)


class TestLimits:
    def test_steps(self, model, begin, run):
        model.next += [completion(None, ("Read", {"path": "auth.py"}))] * 2
        replay = run(begin(max_steps=2))
        assert (replay.state, replay.steps, replay.note) == (
            "stopped",
            2,
            "It has reached its limit of steps, 2.",
        )

    def test_tokens(self, model, begin, run):
        model.next.append(completion(None, ("Read", {"path": "auth.py"})))
        replay = run(begin(max_total_tokens=120))
        assert (replay.state, replay.steps) == ("stopped", 1)
        assert "120 tokens" in replay.note

    def test_money(self, settings, model, begin, run):
        settings.DAY1 = {**settings.DAY1, "replay_input_price": 10.0, "replay_output_price": 100.0}
        model.next.append(completion(None, ("Read", {"path": "auth.py"})))
        replay = run(begin(max_cost=0.0025, max_tokens=10))
        assert (replay.state, replay.steps, replay.cost) == ("stopped", 1, 0.002)

    def test_money_bounds_an_answer_that_names_no_bound(self, settings, model, begin, run):
        settings.DAY1 = {**settings.DAY1, "replay_input_price": 10.0, "replay_output_price": 100.0}
        model.next.append(completion("Yes."))
        run(begin(max_cost=0.1))
        assert 900 < model.sent[0]["max_tokens"] < 1000
        model.next.append(completion("Yes."))
        run(begin(max_cost=50))
        assert model.sent[1]["max_tokens"] == 8192
        with pytest.raises(Invalid, match="let max_tokens bound"):
            begin(max_cost=0.02)

    def test_tools_are_part_of_the_first_step(self, actor, begin):
        context = ENGINE.get_replay_context(replay_id=begin().pk, actor=actor)
        with pytest.raises(Invalid, match="first step alone"):
            begin(max_total_tokens=context["tokens"])

    def test_a_budget_below_the_first_step(self, settings, begin):
        with pytest.raises(Invalid, match="first step alone"):
            begin(max_total_tokens=5)
        with pytest.raises(Invalid, match="needs prices"):
            begin(max_cost=1)
        settings.DAY1 = {**settings.DAY1, "replay_input_price": 1000.0}
        with pytest.raises(Invalid, match="costs more"):
            begin(max_cost=0.0001, max_tokens=1)
        assert Conversation._base_manager.count() == 1


class TestMemory:
    @pytest.fixture
    def known(self, actor, main):
        FactEngine().write_fact(fact_text="The login fails when the clock is wrong.", actor=actor)
        BranchManager().create_branch(name="task/x", actor=actor)
        FactEngine().write_fact(
            fact_text="The login fails when the certificate has expired.", actor=actor, branch_name="task/x"
        )

    def told(self, replay):
        return replay.memory_context

    def test_of_a_branch_and_of_a_past_point(self, actor, begin, known):
        assert "certificate" not in self.told(begin(memory={"branch": "main"}))
        assert "certificate" in self.told(begin(memory={"branch": "task/x"}))
        assert "certificate" not in self.told(begin(memory={"branch": "task/x", "at": 0}))
        assert self.told(begin()) == ""

    def test_of_a_merge_request_before_it_is_merged(self, actor, begin, known):
        request = MergeRequestEngine().create_request(source="task/x", target="main", title="x", actor=actor)
        replay = begin(memory={"merge_request": request.pk})
        assert "certificate" in self.told(replay)
        assert "clock" in self.told(replay)
        context = ENGINE.get_replay_context(replay_id=replay.pk, actor=actor)["messages"]
        assert context[1] == {"role": "system", "content": replay.memory_context}

    def test_what_is_refused(self, begin, known):
        with pytest.raises(Invalid, match="no field named branches"):
            begin(memory={"branches": "x"})
        with pytest.raises(Invalid, match="names its branches itself"):
            begin(memory={"merge_request": 1, "branch": "main"})
        with pytest.raises(NotFound):
            begin(memory={"branch": "nope"})
        with pytest.raises(Invalid, match="branch must be a text"):
            begin(memory={"branch": ["main"]})
        with pytest.raises(Invalid, match="at must be a time"):
            begin(memory={"at": True})


class TestRefusals:
    def test_without_a_model(self, actor, begin):
        replay = begin(model="other")
        with pytest.raises(ProviderUnavailable, match="DAY1_REPLAY_MODEL"):
            ENGINE.run_replay(replay_id=replay.pk, actor=actor)
        assert ENGINE.get_replay_context(replay_id=replay.pk, actor=actor)["messages"]

    def test_a_filter_that_allows_nothing(self, begin):
        with pytest.raises(Invalid, match="allows none of the tools"):
            begin(tools_allow=["Write"])
        with pytest.raises(Invalid, match="allows none of the tools"):
            begin(tools_deny=["Read", "Bash"])

    @pytest.mark.parametrize("tools", [5, None, "Read", {"Read": 1}], ids=repr)
    def test_a_filter_that_is_no_list(self, begin, tools):
        with pytest.raises(Invalid, match="tools_allow must be a list"):
            begin(tools_allow=tools)

    def test_complete_twice(self, actor, begin):
        replay = begin()
        done = ENGINE.complete_replay(replay_id=replay.pk, actor=actor)
        assert done.state == "done"
        for again in (ENGINE.complete_replay, ENGINE.cancel_replay):
            with pytest.raises(Conflict, match="is done"):
                again(replay_id=replay.pk, actor=actor)

    def test_a_message_of_another_conversation(self, actor, source, begin):
        other = CONVERSATIONS.create_conversation(actor=actor)
        with pytest.raises(Invalid, match="another conversation"):
            ENGINE.create_replay(conversation_id=other.uid, message_id=source[1][0].uid, actor=actor)


class TestEnds:
    def test_it_is_compared_with_its_source_by_itself(self, actor, model, begin, run):
        model.next += [completion(None, ("Read", {"path": "auth.py"})), completion("The clock is wrong.")]
        replay = run(begin())
        found = ENGINE.semantic_diff(replay_id=replay.pk, actor=actor)
        assert replay.comparison == {
            "verdict": found.verdict,
            "actions": found.actions.similarity,
            "reasoning": 1.0,
            "result": 1.0,
            "method": found.reasoning.method,
        }

    def test_it_is_compared_again_when_its_texts_have_vectors(self, settings, actor, model, begin, run):
        settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
        EmbeddingEngine().want_missing(actor.project_id)
        model.next.append(completion("The clock of the server runs two minutes late."))
        replay = run(begin())
        early = ENGINE.semantic_diff(replay_id=replay.pk, actor=actor)
        assert (replay.comparison["method"], early.reasoning.method) == ("words", "words")
        assert replay.resume_at is not None
        assert QueueMessage.objects.filter(key__startswith="conversations.compare_replay").count() == 1
        compare_replay(str(replay.pk))
        replay = ENGINE.get_replay(replay_id=replay.pk, actor=actor)
        found = ENGINE.semantic_diff(replay_id=replay.pk, actor=actor)
        assert replay.comparison == {
            "verdict": found.verdict,
            "actions": found.actions.similarity,
            "reasoning": found.reasoning.similarity,
            "result": found.outcome.result_similarity,
            "method": "vectors",
        }
        assert (replay.resume_at, replay.state) == (None, "done")
        assert found.reasoning.similarity != early.reasoning.similarity

    def test_one_that_went_on_by_hand_is_compared_too(self, actor, begin):
        replay = begin()
        said = {"role": "assistant", "content": "The clock is wrong."}
        MESSAGES.write_message(conversation_id=replay.conversation_id, actor=actor, **said)
        assert ENGINE.complete_replay(replay_id=replay.pk, actor=actor).comparison["result"] == 1.0

    def test_judges_rate_both_sides(self, settings, actor, model, begin, run):
        with FakeJudge() as judge:
            settings.DAY1 = {**settings.DAY1, **judge.settings()}
            judge.text = rating(0.8, names=list(MEANINGS))
            model.next += [completion("Yes."), completion("No.")]
            replay = run(begin(score=True))
            rows = Scoring.objects.order_by("pk")
            assert [row.conversation_id for row in rows] == [replay.conversation_id, replay.source_id]
            for row in rows:
                ScoringEngine().run_scoring(row.pk)
            assert {row.average for row in Scoring.objects.all()} == {0.8}
            run(begin(score=True))
            assert Scoring.objects.filter(conversation_id=replay.source_id).count() == 1  # once is enough

    def test_scores_need_a_right_of_their_own(self, actor, source):
        writer = replace(actor, scopes=frozenset({"write"}))
        with pytest.raises(ScopeMissing):
            ENGINE.create_replay(
                conversation_id=source[0].uid, message_id=source[1][1].uid, actor=writer, score=True
            )


class TestResumed:
    def test_limits_may_be_raised(self, actor, model, begin, run):
        model.next += [completion(None, ("Read", {"path": "auth.py"})), completion("The clock.")]
        replay = run(begin(max_steps=1))
        assert replay.state == "stopped"
        ENGINE.run_replay(replay_id=replay.pk, actor=actor, max_steps=2)
        ENGINE.execute_replay(replay.pk)
        done = ENGINE.get_replay(replay_id=replay.pk, actor=actor)
        assert (done.state, done.steps, done.max_steps, len(model.sent)) == ("done", 2, 2, 2)

    def test_a_limit_that_is_none_is_refused(self, actor, begin, model):
        replay = begin()
        with pytest.raises(Invalid, match="max_steps"):
            ENGINE.run_replay(replay_id=replay.pk, actor=actor, max_steps=0)
        with pytest.raises(UnknownField):
            ENGINE.run_replay(replay_id=replay.pk, actor=actor, model="third")
        assert Replay.objects.get().state == "ready"

    def test_nonsense_costs_what_it_cost(self, model, begin, run):
        model.next.append(completion(""))
        replay = run(begin())
        assert (replay.state, replay.calls, replay.steps) == ("waiting", 1, 0)
        assert (replay.input_tokens, replay.output_tokens) == (100, 10)


def test_an_erasure_of_the_source_takes_its_replays(actor, model, main, run, project):
    talk = CONVERSATIONS.create_conversation(actor=actor, session_id="s1", title="Login")
    said = {"role": "user", "content": "My number is 4711."}
    message = MESSAGES.write_message(conversation_id=talk.uid, actor=actor, **said)
    model.next.append(completion("Your number is four seven one one."))
    replay = run(ENGINE.create_replay(conversation_id=talk.uid, message_id=message.uid, actor=actor))
    other = CONVERSATIONS.create_conversation(actor=actor, title="Another")
    kept = MESSAGES.write_message(conversation_id=other.uid, actor=actor, **said)
    ErasureEngine().erase(scope="session", target="s1", confirm="s1", actor=actor)
    assert texts(replay) == [("assistant", "[erased]")]
    assert Message._base_manager.get(uid=kept.uid).content == "My number is 4711."


class TestBatches:
    @pytest.fixture
    def corpus(self, actor, main):
        found = []
        for number in range(3):
            talk = CONVERSATIONS.create_conversation(actor=actor, session_id="s1", title=f"Talk {number}")
            said = [
                {"role": "user", "content": f"Question {number}?"},
                {"role": "assistant", "content": "A."},
            ]
            MESSAGES.write_messages(conversation_id=talk.uid, messages=said, actor=actor)
            found.append(talk)
        found.append(CONVERSATIONS.create_conversation(actor=actor, session_id="s1", title="Empty"))
        return found

    def carry_out(self, batch):
        for pk in batch.replays.order_by("pk").values_list("pk", flat=True):
            ENGINE.execute_replay(pk)

    def test_a_corpus_with_one_report(self, actor, model, corpus):
        batch = BATCHES.create_batch(actor=actor, matching={"session_id": "s1"}, model="third", name="N")
        assert batch.skipped == {str(corpus[3].uid): "This conversation has no message of a person."}
        model.next += [completion("A."), completion("A."), completion("Else.")]
        self.carry_out(batch)
        report = BATCHES.get_report(batch_id=batch.pk, actor=actor)
        assert report.states == {"done": 3}
        assert report.totals == {
            "steps": 3,
            "calls": 3,
            "input_tokens": 300,
            "output_tokens": 30,
            "unknown_calls": 0,
        }
        assert report.verdicts == {"equivalent": 2, "mixed": 1}
        assert report.similarity["actions"] == 1.0
        assert {one["model"] for one in model.sent} == {"third"}

    def test_scores_are_averaged_where_both_sides_have_one(self, actor, model, corpus):
        ids = [talk.uid for talk in corpus[:2]]
        batch = BATCHES.create_batch(actor=actor, conversation_ids=ids)
        rated = batch.replays.get(source_id=ids[0])
        for uid, value in ((ids[0], 0.5), (ids[1], 1.0), (rated.conversation_id, 0.75)):
            ScoringEngine().create_score(
                target_type="conversation", target_id=uid, dimension="safety", value=value, actor=actor
            )
        report = BATCHES.get_report(batch_id=batch.pk, actor=actor)
        assert [(one.dimension, one.source, one.replay, one.change) for one in report.scores] == [
            ("safety", 0.5, 0.75, "+0.25")
        ]

    def test_stopped_and_gone_on_with(self, actor, model, corpus):
        ids = [talk.uid for talk in corpus[:2]]
        batch = BATCHES.create_batch(actor=actor, conversation_ids=ids)
        BATCHES.stop_batch(batch_id=batch.pk, actor=actor)
        self.carry_out(batch)
        assert (BATCHES.get_report(batch_id=batch.pk, actor=actor).states, model.sent) == ({"stopped": 2}, [])
        BATCHES.run_batch(batch_id=batch.pk, actor=actor, max_steps=3)
        model.next += [completion("A."), completion("A.")]
        self.carry_out(batch)
        report = BATCHES.get_report(batch_id=batch.pk, actor=actor)
        assert (report.states, len(model.sent)) == ({"done": 2}, 2)
        assert {row.max_steps for row in batch.replays.all()} == {3}

    def test_what_is_refused(self, actor, main, model, corpus):
        with pytest.raises(Invalid, match="no conversation to replay"):
            BATCHES.create_batch(actor=actor, matching={"session_id": "nope"})
        with pytest.raises(Invalid, match="start"):
            BATCHES.create_batch(actor=actor, start="middle")
        with pytest.raises(Invalid, match="max_steps"):
            BATCHES.create_batch(actor=actor, max_steps=0)
        with pytest.raises(Invalid, match="no conversation to replay"):  # not the newest of all
            BATCHES.create_batch(actor=actor, conversation_ids=[])
        ids, matching = [corpus[0].uid], {"session_id": "s1"}
        with pytest.raises(Invalid, match="not by both"):
            BATCHES.create_batch(actor=actor, conversation_ids=ids, matching=matching)
        with pytest.raises(NotFound, match="no branch named nope"):
            BATCHES.create_batch(actor=actor, memory={"branch": "nope"})
        assert not ReplayBatch.objects.exists()

    @pytest.fixture
    def prices(self, settings, model):
        """Make a request cost 0.1 by its tokens, and 0.1 by those of its answer."""
        settings.DAY1 = {**settings.DAY1, "replay_input_price": 1000.0, "replay_output_price": 10_000.0}

    def test_the_money_of_a_batch_ends_and_is_raised(self, actor, model, prices, corpus):
        ids = [talk.uid for talk in corpus[:3]]
        batch = BATCHES.create_batch(actor=actor, conversation_ids=ids, max_total_cost=0.3, max_tokens=10)
        model.next.append(completion("A."))
        self.carry_out(batch)
        report = BATCHES.get_report(batch_id=batch.pk, actor=actor)
        assert (report.states, report.cost, len(model.sent)) == ({"done": 1, "stopped": 2}, 0.2, 1)
        assert report.notes == ["The next step would take the batch over 0.3."]
        BATCHES.run_batch(batch_id=batch.pk, actor=actor, max_total_cost=10)
        model.next += [completion("A."), completion("A.")]
        self.carry_out(batch)
        report = BATCHES.get_report(batch_id=batch.pk, actor=actor)
        assert (report.states, report.cost, report.batch.max_total_cost) == ({"done": 3}, 0.6, 10.0)

    def test_money_that_another_worker_is_spending_is_waited_for(self, actor, model, prices, corpus):
        """The second worker begins while the first one's request is under way."""
        ids = [talk.uid for talk in corpus[:2]]
        batch = BATCHES.create_batch(actor=actor, conversation_ids=ids, max_total_cost=0.4, max_tokens=30)
        first, second = batch.replays.order_by("pk").values_list("pk", flat=True)

        def begin_other():
            ENGINE.execute_replay(second)
            return completion("A.")

        model.next.append(begin_other)
        ENGINE.execute_replay(first)
        states = dict(batch.replays.values_list("pk", "state"))
        assert (states, len(model.sent)) == ({first: "done", second: "waiting"}, 1)
        assert Replay.objects.get(pk=second).note == "It waits for other replays of its batch."
        assert Replay.objects.get(pk=first).reserved_cost == 0

    def test_answers_without_a_bound_of_their_own_keep_to_the_money(self, actor, model, prices, corpus):
        ids = [talk.uid for talk in corpus[:2]]
        batch = BATCHES.create_batch(actor=actor, conversation_ids=ids, max_total_cost=6)
        first, second = batch.replays.order_by("pk").values_list("pk", flat=True)

        def begin_other():
            ENGINE.execute_replay(second)  # all that is left is reserved for the first
            return completion("A.")

        model.next.append(begin_other)
        ENGINE.execute_replay(first)
        assert dict(batch.replays.values_list("pk", "state")) == {first: "done", second: "waiting"}
        assert 550 < model.sent[0]["max_tokens"] < 600

    def test_a_batch_has_no_money_without_prices(self, actor, model, corpus):
        with pytest.raises(Invalid, match="DAY1_REPLAY_INPUT_PRICE"):
            BATCHES.create_batch(actor=actor, max_total_cost=1)
        assert not ReplayBatch.objects.exists()

    def test_without_a_model(self, actor, corpus):
        batch = BATCHES.create_batch(actor=actor)
        report = BATCHES.get_report(batch_id=batch.pk, actor=actor)
        assert (report.states, report.notes) == ({"ready": 3}, [NO_MODEL])
        with pytest.raises(ProviderUnavailable, match="DAY1_REPLAY_MODEL"):
            BATCHES.run_batch(batch_id=batch.pk, actor=actor)
