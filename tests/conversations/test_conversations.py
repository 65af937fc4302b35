"""Conversations and messages: created, numbered, read in order, closed."""

import threading
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import connection

from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.messages import MessageEngine, may_read_thinking
from conversations.models import Conversation, Message
from memory.actors import local_actor
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.observations import ObservationEngine
from memory.exceptions import Conflict, Exists, Invalid, NotFound, ScopeMissing, TooLarge, UnknownField
from memory.models import Branch, Commit, Session
from tests.memory.api.client import nothing_left

CONVERSATIONS, MESSAGES = ConversationEngine(), MessageEngine()
OBSERVATIONS = ObservationEngine()


@pytest.fixture
def conversation(actor):
    return CONVERSATIONS.create_conversation(actor=actor, session_id="s1", title="Talk")


@pytest.fixture
def say(actor, conversation):
    def write(content="hello", role="user", **fields):
        where = {"conversation_id": conversation.uid, "actor": actor}
        return MESSAGES.write_message(**{**where, "role": role, "content": content, **fields})

    return write


def spoken(actor, conversation, **how):
    page = MESSAGES.list_messages(conversation_id=conversation.uid, actor=actor, **how)
    return [(row.sequence_num, row.content) for row in page.results]


class TestConversations:
    def test_one_begins_with_its_session(self, conversation, project):
        assert (conversation.status, conversation.session_id) == ("active", "s1")
        assert (conversation.message_count, conversation.total_tokens) == (0, 0)
        assert Session.objects.get(project=project).key == "s1"

    def test_messages_and_tokens_are_counted(self, conversation, say, actor):
        say("four", token_count=3)
        say("word", role="assistant", token_count=4)
        seen = CONVERSATIONS.get_conversation(conversation_id=conversation.uid, actor=actor)
        assert (seen.message_count, seen.total_tokens, seen.version) == (2, 7, 1)

    def test_lists_filter_and_page(self, actor):
        for i in range(3):
            CONVERSATIONS.create_conversation(actor=actor, session_id=f"s{i}", title=f"t{i}")
        filters = ConversationFilter.from_values({"session_id": ["s0", "s2"]})
        first = CONVERSATIONS.list_conversations(actor=actor, filters=filters, limit=1)
        rest = CONVERSATIONS.list_conversations(actor=actor, filters=filters, cursor=first.next)
        assert [row.title for row in [*first.results, *rest.results]] == ["t2", "t0"]

    def test_the_newest_of_a_session(self, conversation, actor):
        newer = CONVERSATIONS.create_conversation(actor=actor, session_id="s1")
        found = CONVERSATIONS.get_conversation_by_session(session_id="s1", actor=actor)
        assert found.uid == newer.uid
        for unknown in ("s9", ""):
            with pytest.raises(NotFound):
                CONVERSATIONS.get_conversation_by_session(session_id=unknown, actor=actor)

    @pytest.mark.django_db(transaction=True)
    def test_a_closed_one_takes_no_messages(self, conversation, say, actor):
        closed = CONVERSATIONS.close_conversation(conversation_id=conversation.uid, actor=actor)
        again = CONVERSATIONS.close_conversation(conversation_id=conversation.uid, actor=actor)
        assert (closed.status, again.version) == ("completed", closed.version)
        with pytest.raises(Conflict, match="completed"):
            say()
        assert not Message._base_manager.exists()


class TestNumbering:
    def test_numbers_follow_each_other_and_may_be_given(self, say, actor, conversation):
        say("a")
        say("c", sequence_num=7)
        say("d")
        say("b", sequence_num=2)
        assert spoken(actor, conversation) == [(1, "a"), (2, "b"), (7, "c"), (8, "d")]

    @pytest.mark.django_db(transaction=True)
    def test_a_taken_number_is_refused_and_the_batch_with_it(self, say, actor, conversation):
        say("a")
        with pytest.raises(Exists, match="message 1"):
            say("again", sequence_num=1)
        batch = [{"role": "user", "content": "x"}, {"role": "user", "content": "y", "sequence_num": 2}]
        with pytest.raises(Exists, match="message 2"):
            MESSAGES.write_messages(conversation_id=conversation.uid, messages=batch, actor=actor)
        assert spoken(actor, conversation) == [(1, "a")]

    def test_a_batch_is_one_commit_in_the_order_given(self, actor, conversation):
        batch = [{"role": "user", "content": str(i)} for i in range(1000)]
        rows = MESSAGES.write_messages(conversation_id=conversation.uid, messages=batch, actor=actor)
        assert [row.sequence_num for row in rows] == list(range(1, 1001))
        assert Commit.objects.get(kind="message.write").added == 1000

    def test_a_branch_goes_on_from_what_it_inherited(self, say, actor, conversation):
        say("both")
        BranchManager().create_branch(name="side", actor=actor)
        say("here")
        say("there", branch_name="side")
        assert spoken(actor, conversation) == [(1, "both"), (2, "here")]
        assert spoken(actor, conversation, branch_name="side") == [(1, "both"), (2, "there")]

    @pytest.mark.django_db(transaction=True)
    def test_rival_writers_never_share_a_number(self, say, actor, conversation):
        trouble = []

        def talk():
            try:
                for i in range(10):
                    say(str(i))
            except Exception as error:
                trouble.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=talk) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert trouble == []
        numbers = [n for n, _ in spoken(actor, conversation, limit=100)]
        assert numbers == list(range(1, 81))

    def test_each_users_turn_advances_the_cycle(self, say, main):
        say()
        say(role="assistant")
        say()
        assert Branch.objects.get(pk=main.pk).cycle == 2

    def test_facts_are_stamped_with_the_cycle_of_their_branch(self, say, actor, main):
        engine = FactEngine()
        before = engine.write_fact(fact_text="Before any turn.", actor=actor).fact
        say()
        say()
        fact = engine.write_fact(fact_text="After two turns.", actor=actor).fact
        told = engine.write_fact(fact_text="Told of cycle 9.", actor=actor, created_cycle=9).fact
        say()
        updated = engine.update_fact(fact_id=fact.uid, updates={"priority": "P1"}, actor=actor)
        ahead = engine.update_fact(fact_id=told.uid, updates={"priority": "P1"}, actor=actor)
        assert [(one.created_cycle, one.updated_cycle) for one in (before, fact, updated, ahead)] == [
            (0, 0),
            (2, 2),
            (2, 3),
            (9, 9),
        ]


class TestMessages:
    def test_pages_go_both_ways(self, say, actor, conversation):
        for i in range(5):
            say(str(i))
        where = {"conversation_id": conversation.uid, "actor": actor, "limit": 2}
        first = MESSAGES.list_messages(**where)
        second = MESSAGES.list_messages(**where, cursor=first.next)
        third = MESSAGES.list_messages(**where, cursor=second.next)
        back = MESSAGES.list_messages(**where, cursor=third.previous)
        pages = [[row.content for row in page.results] for page in (first, second, third, back)]
        assert pages == [["0", "1"], ["2", "3"], ["4"], ["2", "3"]]
        assert (first.previous, third.next) == (None, None)

    def test_roles_can_be_chosen(self, say, actor, conversation):
        say("q")
        say("a", role="assistant")
        assert spoken(actor, conversation, roles=["assistant"]) == [(2, "a")]

    def test_who_and_where_come_from_the_conversation(self, say):
        row = say()
        assert row.session_id == "s1"

    def test_only_people_and_models_are_embedded(self, say):
        rows = [say(role=role) for role in ("user", "assistant", "tool_call", "tool_result", "system")]
        assert [row.embed for row in rows] == [True, True, False, False, False]
        assert say(role="tool_result", embed=True).embed

    def test_a_tool_call_may_have_no_words(self, say):
        row = say("", role="tool_call", tool_calls=[{"name": "Bash", "input": {"command": "ls"}}])
        assert row.tool_calls[0]["name"] == "Bash"

    @pytest.mark.parametrize("text", ["日本語 مرحبا 👩‍👩‍👧", "<script>", "a\r\nb\tc", "x" * 1024 * 1024])
    def test_texts_come_back_as_they_were(self, say, actor, text):
        row = say(text)
        assert MESSAGES.get_message(message_id=row.uid, actor=actor).content == text

    @pytest.mark.django_db(transaction=True)
    def test_refusals_leave_nothing(self, say, actor, conversation, other_project):
        refused = [
            ({"content": ""}, Invalid),
            ({"content": "a\x00b"}, Invalid),
            ({"content": "x" * (1024 * 1024 + 1)}, TooLarge),
            ({"role": "boss"}, Invalid),
            ({"sequence_num": 0}, Invalid),
            ({"sequence_num": 2**31}, Invalid),
            ({"tool_calls": "x"}, Invalid),
            ({"colour": "red"}, UnknownField),
            ({"conversation_id": uuid4()}, NotFound),
            ({"actor": local_actor(other_project.pk)}, NotFound),
            ({"actor": replace(actor, scopes=frozenset({"read"}))}, ScopeMissing),
        ]
        for fields, error in refused:
            with pytest.raises(error):
                say(**fields)
        with pytest.raises(TooLarge):
            MESSAGES.write_messages(
                conversation_id=conversation.uid, messages=[{"role": "user"}] * 1001, actor=actor
            )
        assert not Message._base_manager.exists()
        assert Conversation._base_manager.count() == 1

    def test_thoughts_are_for_curators(self, actor):
        assert may_read_thinking(actor)
        assert not may_read_thinking(replace(actor, scopes=frozenset({"write"})))


class TestObservedMessages:
    """Observations whose message must be one of the same branch."""

    def test_one_that_is_there(self, say, actor):
        message = say(role="tool_result")
        row = OBSERVATIONS.write_observation(summary="s", message_id=message.uid, actor=actor)
        assert row.message_id == message.uid

    @pytest.mark.django_db(transaction=True)
    def test_one_that_is_nowhere_or_elsewhere(self, say, actor, other_project):
        message = say(role="tool_result")
        BranchManager().create_branch(name="side", actor=actor, at=0)
        stranger = local_actor(other_project.pk)
        tries = [(uuid4(), actor, "main"), (message.uid, actor, "side"), (message.uid, stranger, "main")]
        for uid, who, branch in tries:
            fields = [{"summary": "s", "message_id": message.uid}, {"summary": "s", "message_id": uid}]
            with nothing_left(), pytest.raises(Invalid, match=f"There is no message {uid} on") as refused:
                OBSERVATIONS.write_observations(
                    observations=fields[who is not actor or branch != "main" :], actor=who, branch_name=branch
                )
            assert refused.value.data["field"] == "message_id"


class TestUndone:
    """Reverts of a conversation's creation, possible only while it has no messages."""

    def undo(self, actor, branch, kind):
        found = Commit.objects.filter(branch=branch, kind=kind).latest("seq")
        return RevertEngine().revert_commit(commit_id=found.pk, actor=actor)

    @pytest.mark.django_db(transaction=True)
    def test_with_messages_it_is_refused(self, conversation, say, actor, main):
        message = say()
        with nothing_left(), pytest.raises(Conflict) as refused:
            self.undo(actor, main, "conversation.create")
        assert refused.value.data["changed"] == [str(conversation.uid)]
        assert MESSAGES.get_message(message_id=message.uid, actor=actor).content == "hello"

    def test_after_its_messages_it_is_undone(self, conversation, say, actor, main):
        message = say()
        self.undo(actor, main, "message.write")
        self.undo(actor, main, "conversation.create")
        with pytest.raises(NotFound):
            CONVERSATIONS.get_conversation(conversation_id=conversation.uid, actor=actor)
        with pytest.raises(NotFound):
            MESSAGES.get_message(message_id=message.uid, actor=actor)

    @pytest.mark.django_db(transaction=True)
    def test_messages_come_back_after_it(self, conversation, say, actor, main):
        message = say()
        self.undo(actor, main, "message.write")
        taken_back = Commit.objects.latest("seq").pk
        self.undo(actor, main, "conversation.create")
        begun_no_more = Commit.objects.latest("seq").pk
        revert = RevertEngine().revert_commit
        with nothing_left(), pytest.raises(Conflict) as refused:
            revert(commit_id=taken_back, actor=actor)
        assert refused.value.data["changed"] == [str(conversation.uid)]
        revert(commit_id=begun_no_more, actor=actor)
        revert(commit_id=taken_back, actor=actor)
        assert MESSAGES.get_message(message_id=message.uid, actor=actor).content == "hello"

    def test_empty_it_is_undone(self, conversation, actor, main):
        self.undo(actor, main, "conversation.create")
        assert CONVERSATIONS.list_conversations(actor=actor).results == []
