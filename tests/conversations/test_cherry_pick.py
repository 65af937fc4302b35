"""Cherry-picks of messages: order, repetition, rights, facts, and what takes copies with their originals."""

from dataclasses import replace
from uuid import uuid4

import pytest

from conversations.engines.cherry_pick import ConversationCherryPick
from conversations.engines.consolidation.session import SessionConsolidation
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.exceptions import Conflict, Invalid, NotFound, ScopeMissing
from memory.models import Branch, Commit, Fact, FactLink, Session

pytestmark = pytest.mark.django_db(transaction=True)
CONVERSATIONS, MESSAGES = ConversationEngine(), MessageEngine()


@pytest.fixture
def talk(actor, main):
    return CONVERSATIONS.create_conversation(actor=actor, title="Talk", model="m", session_id="s1")


@pytest.fixture
def said(actor, talk):
    texts = ("one", "two", "three", "four")
    messages = [{"role": "user", "content": text} for text in texts]
    return MESSAGES.write_messages(conversation_id=talk.uid, messages=messages, actor=actor)


@pytest.fixture
def pick(actor, talk):
    def pick(*rows, **more):
        how = {"conversation_id": talk.uid, "actor": actor, **more}
        return ConversationCherryPick().pick(message_ids=[row.uid for row in rows], **how)

    return pick


def texts_of(actor, conversation, branch="main"):
    page = MESSAGES.list_messages(conversation_id=conversation.uid, actor=actor, branch_name=branch)
    return [(row.sequence_num, row.content) for row in page.results]


class TestCopies:
    def test_into_a_new_conversation_in_the_order_given(self, actor, talk, said, pick):
        made = pick(said[3], said[1])
        assert texts_of(actor, made.conversation) == [(1, "four"), (2, "two")]
        assert [row.picked_from for row in made.messages] == [said[3].uid, said[1].uid]
        assert (made.added, made.conversation.title, made.conversation.model) == (2, "Talk", "m")
        assert {row.session_id for row in made.messages} == {"s1"}
        assert texts_of(actor, talk) == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]

    def test_again_adds_nothing(self, said, pick):
        first = pick(said[3], said[1])
        commits = Commit.objects.count()
        again = pick(said[3], said[1], said[3])
        assert (again.conversation.uid, again.added) == (first.conversation.uid, 0)
        assert [row.uid for row in again.messages] == [row.uid for row in first.messages]
        assert Commit.objects.count() == commits

    def test_into_an_existing_one_what_is_missing(self, actor, said, pick):
        other = CONVERSATIONS.create_conversation(actor=actor)
        MESSAGES.write_message(conversation_id=other.uid, actor=actor, role="user", content="before")
        pick(said[1], target_conversation_id=other.uid)
        made = pick(said[2], said[1], said[0], target_conversation_id=other.uid)
        assert made.added == 2
        assert texts_of(actor, other) == [(1, "before"), (2, "two"), (3, "three"), (4, "one")]

    def test_into_its_own_conversation_adds_nothing(self, talk, said, pick):
        made = pick(said[0], target_conversation_id=talk.uid)
        assert (made.added, made.messages[0].uid) == (0, said[0].uid)

    def test_into_a_fork_that_shows_it_adds_nothing(self, actor, talk, said, pick):
        fork = CONVERSATIONS.fork_conversation(conversation_id=talk.uid, message_id=said[1].uid, actor=actor)
        assert pick(said[0], said[3], target_conversation_id=fork.uid).added == 1
        assert texts_of(actor, fork) == [(1, "one"), (2, "two"), (3, "four")]

    def test_of_a_message_that_a_fork_shares(self, actor, talk, said, pick):
        fork = CONVERSATIONS.fork_conversation(conversation_id=talk.uid, message_id=said[1].uid, actor=actor)
        made = pick(said[0], conversation_id=fork.uid)
        assert texts_of(actor, made.conversation) == [(1, "one")]

    def test_onto_another_branch(self, actor, said, pick):
        BranchManager().create_branch(name="task/x", actor=actor)
        made = pick(said[0], target_branch="task/x", title="Best of")
        assert (made.branch, made.conversation.title) == ("task/x", "Best of")
        assert texts_of(actor, made.conversation, "task/x") == [(1, "one")]
        with pytest.raises(NotFound):
            texts_of(actor, made.conversation)

    def test_what_was_reverted_may_be_picked_again(self, actor, said, pick):
        made = pick(said[0])
        written = Commit.objects.latest("at")
        RevertEngine().revert_commit(commit_id=written.pk, actor=actor)
        again = pick(said[0])
        assert (again.conversation.uid, again.added) == (made.conversation.uid, 1)
        assert texts_of(actor, again.conversation) == [(1, "one")]


class TestFacts:
    @pytest.fixture
    def learned(self, actor, main, said):
        BranchManager().create_branch(name="task/x", actor=actor)
        (row,) = Message.objects.on(Branch.objects.get(name="task/x", project=actor.project_id)).filter(
            uid=said[1].uid
        )
        fact = FactEngine().write_fact(fact_text="Two is two.", actor=actor, branch_name="task/x").fact
        LinkEngine().write_link(
            from_id=fact.uid,
            to_id=row.uid,
            to_type="message",
            link_type="CONSOLIDATED_FROM",
            actor=actor,
            branch_name="task/x",
        )
        return fact

    def test_they_come_along_linked_to_the_copies(self, actor, main, said, pick, learned, without_gates):
        made = pick(said[0], said[1], branch_name="task/x", target_branch="main", with_facts=True)
        branch = Branch.objects.get(pk=main.pk)
        assert made.fact_ids == [learned.uid]
        assert [row.uid for row in Fact.objects.on(branch)] == [learned.uid]
        links = FactLink.objects.on(branch).filter(to_id=made.messages[1].uid)
        assert [(link.from_id, link.link_type) for link in links] == [(learned.uid, "CONSOLIDATED_FROM")]
        commits = Commit.objects.count()
        pick(said[0], said[1], branch_name="task/x", target_branch="main", with_facts=True)
        assert Commit.objects.count() == commits

    def test_they_stay_where_the_target_has_ended(self, actor, said, pick, learned, without_gates):
        BranchManager().create_branch(name="task/y", actor=actor)
        other = CONVERSATIONS.create_conversation(actor=actor, branch_name="task/y")
        CONVERSATIONS.close_conversation(conversation_id=other.uid, actor=actor, branch_name="task/y")
        heads = dict(Branch.objects.values_list("name", "head"))
        where = {"branch_name": "task/x", "target_branch": "task/y", "target_conversation_id": other.uid}
        with pytest.raises(Conflict, match="completed"):
            pick(said[1], with_facts=True, **where)
        assert FactEngine().list_facts(actor=actor, branch_name="task/y").results == []
        assert dict(Branch.objects.values_list("name", "head")) == heads

    def test_without_them_none_comes(self, main, said, pick, learned):
        made = pick(said[1], branch_name="task/x", target_branch="main")
        assert (made.fact_ids, list(Fact.objects.on(main))) == ([], [])

    def test_they_need_the_scope_merge_and_nothing_is_written_without(self, actor, said, pick, learned):
        writer = replace(actor, scopes=frozenset({"write"}))
        with pytest.raises(ScopeMissing):
            pick(said[1], branch_name="task/x", target_branch="main", with_facts=True, actor=writer)
        assert Conversation._base_manager.count() == 1


class TestOriginals:
    def test_an_erasure_takes_the_copies_too(self, actor, talk, said, pick):
        other = CONVERSATIONS.create_conversation(actor=actor, session_id="s2")
        made = pick(said[0], target_conversation_id=other.uid)
        further = pick(made.messages[0], conversation_id=other.uid)
        Message._base_manager.exclude(picked_from=None).update(session_id="s2")  # as any other way in
        ErasureEngine().erase(actor=actor, scope="session", target="s1", confirm="s1")
        assert not Message._base_manager.filter(content="one").exists()
        assert further.messages[0].picked_from == made.messages[0].uid

    def test_copies_are_not_learned_from(self, actor, main, talk):
        row = MESSAGES.write_message(
            conversation_id=talk.uid, actor=actor, role="user", content="We decided to use SQLite for tests."
        )
        ConversationCherryPick().pick(conversation_id=talk.uid, message_ids=[row.uid], actor=actor)
        session = Session.objects.get(project=actor.project_id, key="s1")
        assert SessionConsolidation().consolidate_session(session=session, actor=actor) == 1
        links = FactLink.objects.on(Branch.objects.get(pk=main.pk))
        assert {link.to_id for link in links} == {row.uid}


class TestRefusals:
    def test_messages_of_another_conversation(self, actor, said, pick):
        other = CONVERSATIONS.create_conversation(actor=actor)
        with pytest.raises(Invalid, match="another conversation"):
            pick(said[0], conversation_id=other.uid)

    def test_what_is_not_there(self, said, pick):
        with pytest.raises(NotFound):
            pick(said[0], Message(uid=uuid4()))
        with pytest.raises(NotFound):
            pick(said[0], target_conversation_id=uuid4())
        with pytest.raises(NotFound):
            pick(said[0], conversation_id=uuid4())
        with pytest.raises(Invalid, match="at least one"):
            pick()
        assert Conversation._base_manager.count() == 1

    def test_a_target_that_has_ended(self, actor, said, pick):
        other = CONVERSATIONS.create_conversation(actor=actor)
        CONVERSATIONS.close_conversation(conversation_id=other.uid, actor=actor)
        with pytest.raises(Conflict, match="completed"):
            pick(said[0], target_conversation_id=other.uid)
