"""Comparison of two conversations: rows, layers, what both share, refusals."""

import tracemalloc
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.semantic_diff import comparison, engine
from conversations.engines.semantic_diff.engine import (
    MAX_WIDTH,
    VECTORS,
    WORDS,
    SemanticDiffEngine,
    compare_texts,
)
from conversations.models import Message
from memory.engines.branches.manager import BranchManager
from memory.engines.embedding.engine import EmbeddingEngine
from memory.engines.support.pagination import NOT_OURS, unpack_cursor, write_cursor
from memory.exceptions import Invalid, NotFound, TooLarge
from tests.memory.api.client import refused
from tests.memory.test_branches import some_actor

pytestmark = pytest.mark.django_db(transaction=True)
CONVERSATIONS, MESSAGES, ENGINE = ConversationEngine(), MessageEngine(), SemanticDiffEngine()


def call(name, arguments=None, output="ok"):
    return {
        "role": "tool_result",
        "content": output,
        "tool_calls": [{"id": uuid4().hex, "name": name, "input": arguments or {}}],
    }


def answer(text, **more):
    return {"role": "assistant", "content": text, "token_count": 10, **more}


def ask(text):
    return {"role": "user", "content": text, "token_count": 1}


@pytest.fixture
def talk(actor, main):
    def talk(*messages, branch="main"):
        made = CONVERSATIONS.create_conversation(actor=actor, branch_name=branch)
        return extend(actor, made, *messages, branch=branch)

    return talk


def extend(actor, conversation, *messages, branch="main"):
    if messages:
        MESSAGES.write_messages(
            conversation_id=conversation.uid, messages=messages, actor=actor, branch_name=branch
        )
    return conversation


@pytest.fixture
def compare(actor):
    def compare(one, other, **more):
        return ENGINE.semantic_diff(conversation_id=one.uid, other=other.uid, actor=actor, **more)

    return compare


@pytest.fixture
def rows(actor):
    def rows(one, other, **more):
        page = ENGINE.diff_rows(conversation_id=one.uid, other=other.uid, actor=actor, **more)
        texts = [(row.first and row.first.content, row.second and row.second.content) for row in page.rows]
        return [(row.change, *pair) for row, pair in zip(page.rows, texts, strict=True)]

    return rows


class TestRows:
    def test_aligned_by_what_is_equal(self, talk, rows):
        one = talk(ask("Why?"), answer("The clock."), answer("And the key."), ask("Thanks."))
        other = talk(ask("Why?"), answer("The key."), ask("Thanks."), ask("Bye."))
        assert rows(one, other) == [
            ("same", "Why?", "Why?"),
            ("changed", "The clock.", "The key."),
            ("removed", "And the key.", None),
            ("same", "Thanks.", "Thanks."),
            ("added", None, "Bye."),
        ]

    def test_what_a_fork_shares_is_counted_and_not_listed(self, actor, talk, rows, compare):
        one = talk(ask("Why?"), answer("The clock."), ask("Sure?"))
        found = MESSAGES.list_messages(conversation_id=one.uid, actor=actor).results
        fork = CONVERSATIONS.fork_conversation(conversation_id=one.uid, message_id=found[1].uid, actor=actor)
        extend(actor, fork, ask("Why that?"))
        assert rows(one, fork) == [("changed", "Sure?", "Why that?")]
        comparison = compare(one, fork).comparison
        assert (comparison.shared, comparison.divergence) == (2, 2)
        again = CONVERSATIONS.fork_conversation(
            conversation_id=fork.uid, message_id=found[0].uid, actor=actor
        )
        assert compare(fork, again).comparison.shared == 1
        assert rows(again, fork) == [("added", None, "The clock."), ("added", None, "Why that?")]

    def test_pages_stay_at_what_the_first_has_seen(self, actor, talk):
        one, other = talk(ask("a"), ask("b")), talk(ask("a"), ask("c"))
        how = {"conversation_id": one.uid, "other": other.uid, "actor": actor, "limit": 1}
        page = ENGINE.diff_rows(**how)
        extend(actor, other, ask("d"))
        second = ENGINE.diff_rows(**how, cursor=page.next)
        assert [row.change for row in (*page.rows, *second.rows)] == ["same", "changed"]
        assert second.next is None
        with pytest.raises(Invalid):
            ENGINE.diff_rows(**{**how, "conversation_id": other.uid}, cursor=page.next)

    def test_one_conversation_on_two_branches(self, actor, talk, compare):
        one = talk(ask("a"))
        BranchManager().create_branch(name="task/x", actor=actor)
        extend(actor, one, ask("ours"))
        extend(actor, one, ask("theirs"), ask("more"), branch="task/x")
        comparison = compare(one, one, other_branch="task/x").comparison
        assert (comparison.shared, comparison.divergence) == (1, 1)
        assert [len(side.messages) for side in (comparison.first, comparison.second)] == [1, 2]


class TestLayers:
    def test_of_a_thing_with_itself(self, talk, compare):
        one = talk(ask("Why?"), call("Read", {"path": "a"}), answer("The clock."))
        found = compare(one, one)
        assert found.verdict == "equivalent"
        assert (found.comparison.divergence, found.comparison.shared) == (None, 3)

    def test_of_equal_ones(self, talk, compare):
        said = ask("Why?"), call("Read", {"path": "a"}), answer("The clock.")
        found = compare(talk(*said), talk(*said))
        assert (found.verdict, found.actions.similarity, found.reasoning.similarity) == ("equivalent", 1, 1)
        assert (found.comparison.divergence, found.actions.argument_changes) == (None, [])

    def test_actions(self, talk, compare):
        one = talk(
            call("Read", {"path": "a"}),
            call("Edit", {"to": "x"}),
            call("Bash", {}, "Exit code: 1"),
        )
        other = talk(call("Read", {"path": "b"}), call("Grep"), call("Bash", {}, "fine"))
        actions = compare(one, other).actions
        assert (actions.aligned, actions.only_first, actions.only_second) == (2, {"Edit": 1}, {"Grep": 1})
        assert [(one.tool, one.arguments) for one in actions.argument_changes] == [("Read", ["path"])]
        assert actions.failures == (1, 0)
        assert (actions.sequence, actions.tools, actions.order) == (0.6667, 0.5, 0.3333)
        assert actions.similarity == pytest.approx(0.5417, abs=1e-4)

    def test_calls_in_the_shape_of_other_programs(self, talk, compare):
        function = {"name": "Read", "arguments": '{"path": "a"}'}
        asked = answer("", tool_calls=[{"id": "c1", "type": "function", "function": function}])
        result = {"role": "tool_result", "content": "text", "metadata": {"tool_call_id": "c1"}}
        found = compare(talk(asked, result), talk(call("Read", {"path": "a"}, "text")))
        assert (found.actions.similarity, found.actions.argument_changes) == (1, [])
        assert found.outcome.tool_calls == (1, 1)

    def test_tools_on_one_side_only(self, talk, compare):
        found = compare(talk(ask("a"), call("Read")), talk(ask("a")))
        assert (found.actions.similarity, found.verdict) == (0, "divergent")

    def test_reasoning_by_words_without_an_embedder(self, settings, talk, compare):
        one = talk(answer("The clock is wrong"), answer("Set the clock"))
        other = talk(answer("The clock is wrong"), answer("Herons eat fish"))
        found = compare(one, other)
        assert (found.reasoning.method, found.reasoning.aligned) == (WORDS, 1)
        assert found.reasoning.segments == (2, 2)
        assert "by their words" in found.notes[0]

    @pytest.mark.slow
    def test_reasoning_by_vectors(self, actor, settings, talk, compare):
        settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
        one = talk(answer("The login fails because the clock is wrong."))
        other = talk(answer("Wrong system time makes signing in impossible."))
        far = talk(answer("Herons eat fish."))
        EmbeddingEngine().embed_pending(actor.project_id)
        near, distant = compare(one, other).reasoning, compare(one, far).reasoning
        assert near.method == VECTORS
        assert near.similarity > distant.similarity

    @pytest.mark.slow
    def test_a_side_that_says_nothing_beside_one_with_vectors(self, actor, settings, talk, compare):
        settings.DAY1 = {**settings.DAY1, "embedder": "minilm"}
        one, silent = talk(ask("a"), answer("The clock is wrong.")), talk(ask("a"))
        EmbeddingEngine().embed_pending(actor.project_id)
        for found in (compare(one, silent), compare(silent, one)):
            assert (found.reasoning.similarity, found.outcome.result_similarity) == (0, 0)

    def test_outcome(self, talk, compare):
        one = talk(ask("a"), call("Bash", {}, "Exit code: 2"), answer("It failed."))
        other = talk(ask("a"), call("Bash", {}, "fine"), call("Bash", {}, "fine"), answer("It works."))
        outcome = compare(one, other).outcome
        assert (outcome.messages, outcome.failures, outcome.tool_calls) == ((3, 4), (1, 0), (1, 2))
        assert (outcome.first_result, outcome.second_result) == ("It failed.", "It works.")

    def test_empty_ones(self, talk, compare):
        assert compare(talk(), talk()).verdict == "equivalent"


def build(kind, text):
    makers = {"ask": ask, "answer": answer}
    return makers[kind](text) if kind in makers else call(kind, {"x": text})


MESSAGE = st.sampled_from(["ask", "answer", "Read", "Bash"])
THREAD = st.lists(st.tuples(MESSAGE, st.sampled_from(["red heron", "blue clock", "red clock"])), max_size=6)


@pytest.mark.slow
@given(THREAD, THREAD)
def test_from_both_sides_it_is_the_same(first, second):
    actor = some_actor()
    sides = []
    for messages in (first, second):
        made = CONVERSATIONS.create_conversation(actor=actor)
        sides.append(extend(actor, made, *(build(kind, text) for kind, text in messages)))
    one, other = (
        ENGINE.semantic_diff(conversation_id=a.uid, other=b.uid, actor=actor) for a, b in (sides, sides[::-1])
    )
    assert (one.verdict, one.comparison.divergence) == (other.verdict, other.comparison.divergence)
    assert one.actions.similarity == other.actions.similarity
    assert one.reasoning.similarity == pytest.approx(other.reasoning.similarity, abs=2e-4)
    assert one.outcome.tokens == other.outcome.tokens[::-1]
    assert (one.comparison.divergence is None) == (first == second)


class TestRefusals:
    def test_what_is_not_there(self, actor, talk):
        with pytest.raises(NotFound):
            ENGINE.semantic_diff(conversation_id=talk().uid, other=uuid4(), actor=actor)

    def test_too_many_messages(self, monkeypatch, talk, compare):
        monkeypatch.setattr(comparison, "MAX_COMPARED", 1)
        with pytest.raises(TooLarge, match="1 messages a side"):
            compare(talk(ask("a"), ask("b")), talk(ask("a")))


class TestNotes:
    def test_other_arguments_and_silence_are_named(self, talk, compare):
        one, other = talk(call("Bash", {"command": "ls"})), talk(call("Bash", {"command": "rm -rf /"}))
        found = compare(one, other)
        assert found.verdict == "equivalent"
        assert found.notes[:2] == [
            "The arguments of 1 of 1 calls of the same tool differ.",
            "Neither side says anything: only what they did was compared.",
        ]


class TestBounds:
    def test_many_different_words_need_no_more_memory(self, actor, talk, compare):
        def write(side):
            return [answer(" ".join(f"w{side}x{i}y{j}" for j in range(1500)), embed=False) for i in range(4)]

        one, other = talk(*write(1)), talk(*write(2))
        found = compare(one, other)
        assert (found.reasoning.method, found.verdict) == (WORDS, "mixed")
        assert found.reasoning.similarity < 0.1
        assert found.reasoning.diverged == found.reasoning.aligned
        tracemalloc.start()
        compare(one, other)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 16 * 2**20

    def test_shared_columns_keep_similarities(self):
        words = [f"w{i}" for i in range(MAX_WIDTH + 1)]
        rows = [Message(content=" ".join(part)) for part in (words[:1000], words[500:1500], words[1500:])]
        for number, row in enumerate(rows):
            row.content_hash = str(number)
        rows += [Message(content=" ".join(words[-1900:]), content_hash="3")]
        found = compare_texts(uuid4(), rows[:2], rows).matrix
        assert (found[0, 0], found[1, 1]) == (1.0, 1.0)
        assert abs(found[0, 1] - 0.5) < 0.05
        assert found[0, 2] < 0.05

    def test_texts_over_the_limit_are_refused(self, talk, compare, monkeypatch):
        monkeypatch.setattr(comparison, "MAX_COMPARED_BYTES", 2**20)
        one, other = talk(answer("a " * 500_000), answer("b " * 500_000)), talk(answer("a"))
        with pytest.raises(TooLarge, match="1 MiB a side"):
            compare(one, other)

    def test_answers_over_the_limit_are_refused(self, talk, compare, monkeypatch):
        monkeypatch.setattr(engine, "MAX_SEGMENTS", 2)
        with pytest.raises(TooLarge, match="2 answers a side"):
            compare(talk(answer("a"), answer("b"), answer("c")), talk(answer("d")))

    @pytest.mark.parametrize("seqs", [["1"], ["1", "1", "1"], [], "12", 5, {"a": 1}, ["1", "x"], ["1", None]])
    def test_cursors_made_by_hand_are_refused(self, api, talk, seqs):
        one, other = talk(ask("a"), ask("b")), talk(ask("c"), ask("d"), ask("e"))
        path = f"/conversations/{one.uid}/diff/{other.uid}?limit=1"
        position = unpack_cursor(api.get(path).json()["next"])
        cursor = write_cursor({**position, "seqs": seqs})
        problem = refused(api.get(f"{path}&cursor={cursor}"), 400, "invalid", "cursor")
        assert problem["detail"] == NOT_OURS
