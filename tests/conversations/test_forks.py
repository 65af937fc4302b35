"""Forks: what they share and for how long, numbers, moments, refusals."""

from uuid import uuid4

import pytest

from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.forks import MAX_FORK_DEPTH
from conversations.engines.messages import MessageEngine
from conversations.engines.statistics import count_thread
from conversations.models import Conversation, Message
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.sessions.manager import SessionManager
from memory.exceptions import BranchExists, Exists, Invalid, NotFound
from memory.models import Branch, Fact

pytestmark = pytest.mark.django_db(transaction=True)

CONVERSATIONS, MESSAGES = ConversationEngine(), MessageEngine()


@pytest.fixture
def begin(actor, main):
    return lambda title="Talk", **more: CONVERSATIONS.create_conversation(actor=actor, title=title, **more)


@pytest.fixture
def say(actor):
    def say(talk, *texts, branch="main", **more):
        messages = [{"role": "user", "content": text, **more} for text in texts]
        return MESSAGES.write_messages(
            conversation_id=talk.uid, messages=messages, actor=actor, branch_name=branch
        )

    return say


@pytest.fixture
def fork(actor):
    def fork(talk, message, branch="main", **more):
        return CONVERSATIONS.fork_conversation(
            conversation_id=talk.uid, message_id=message.uid, actor=actor, branch_name=branch, **more
        )

    return fork


@pytest.fixture
def thread(actor):
    """Return (number, text) of all messages that a conversation shows, read in pages of two."""

    def thread(talk, branch="main", **more):
        found, cursor = [], ""
        while True:
            page = MESSAGES.list_messages(
                conversation_id=talk.uid, actor=actor, branch_name=branch, limit=2, cursor=cursor, **more
            )
            found += [(row.sequence_num, row.content) for row in page.results]
            if not (cursor := page.next or ""):
                return found

    return thread


class TestPrefix:
    def test_a_fork_shares_what_came_before(self, begin, say, fork, thread):
        talk = begin(model="m1", task_id="t1", session_id="s1")
        _one, two, _three = say(talk, "one", "two", "three")
        made = fork(talk, two)
        assert (made.parent_conversation_id, made.fork_point_message_id) == (talk.uid, two.uid)
        assert (made.title, made.model, made.task_id, made.session_id) == ("Talk", "m1", "t1", "")
        assert (made.status, made.message_count) == ("active", 2)
        say(made, "else")
        say(talk, "four")
        assert thread(made) == [(1, "one"), (2, "two"), (3, "else")]
        assert thread(talk) == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]
        assert Message._base_manager.count() == 5

    def test_pages_go_back_over_the_fork_point(self, actor, begin, say, fork):
        talk = begin()
        rows = say(talk, "one", "two", "three")
        made = fork(talk, rows[2])
        say(made, "four", "five")
        how = {"conversation_id": made.uid, "actor": actor, "limit": 2}
        first = MESSAGES.list_messages(**how)
        second = MESSAGES.list_messages(**how, cursor=first.next)
        back = MESSAGES.list_messages(**how, cursor=second.previous)
        shown = [[row.content for row in page.results] for page in (first, second, back)]
        assert shown == [["one", "two"], ["three", "four"], ["one", "two"]]
        assert back.previous is None

    def test_roles_are_filtered_in_the_prefix_too(self, begin, say, fork, thread):
        talk = begin()
        say(talk, "one")
        (two,) = say(talk, "two", role="assistant")
        made = fork(talk, two)
        say(made, "three")
        assert thread(made, roles=["user"]) == [(1, "one"), (3, "three")]

    def test_a_fork_of_a_fork_and_at_a_shared_message(self, begin, say, fork, thread):
        talk = begin()
        one, two = say(talk, "one", "two")
        first = fork(talk, two)
        (three,) = say(first, "three")
        second, early = fork(first, three), fork(first, one)
        say(second, "four")
        say(early, "other")
        assert thread(second) == [(1, "one"), (2, "two"), (3, "three"), (4, "four")]
        assert thread(early) == [(1, "one"), (2, "other")]
        assert early.parent_conversation_id == talk.uid

    def test_the_source_of_an_ended_one_may_be_forked(self, actor, begin, say, fork, thread):
        talk = begin()
        (one,) = say(talk, "one")
        CONVERSATIONS.close_conversation(conversation_id=talk.uid, actor=actor)
        made = fork(talk, one, title="Again", model="m2")
        assert (made.status, made.title, made.model) == ("active", "Again", "m2")
        assert thread(made) == [(1, "one")]

    def test_a_past_point_shows_the_thread_as_it_was(self, project, begin, say, fork, thread):
        talk = begin()
        (one,) = say(talk, "one")
        made = fork(talk, one)
        then = Branch.objects.get(project=project, name="main").head
        say(made, "two")
        assert thread(made, at=then) == [(1, "one")]

    def test_lists_by_parent(self, actor, begin, say, fork):
        talk = begin()
        (one,) = say(talk, "one")
        made, _other = fork(talk, one), begin()
        filters = ConversationFilter.from_values({"parent_conversation_id": [str(talk.uid)]})
        page = CONVERSATIONS.list_conversations(actor=actor, filters=filters)
        assert [row.uid for row in page.results] == [made.uid]


class TestNumbers:
    def test_shared_numbers_take_no_message(self, begin, say, fork, thread):
        talk = begin()
        say(talk, "one")
        (five,) = say(talk, "five", sequence_num=5)
        made = fork(talk, five)
        for conversation in (made, talk):
            with pytest.raises(Exists, match="up to 5"):
                say(conversation, "between", sequence_num=3)
        say(made, "seven", sequence_num=7)
        say(made, "six", sequence_num=6)
        assert thread(made) == [(1, "one"), (5, "five"), (6, "six"), (7, "seven")]

    def test_counts_are_of_the_whole_thread(self, actor, begin, say, fork):
        talk = begin()
        one, _two = say(talk, "one", "two", token_count=10)
        made = fork(talk, one)
        say(made, "else", token_count=3)
        seen = CONVERSATIONS.get_conversation(conversation_id=made.uid, actor=actor)
        assert (seen.message_count, seen.total_tokens, seen.shared_messages) == (2, 13, 1)
        stats = count_thread(conversation_id=made.uid, actor=actor)
        assert (stats.messages, stats.tokens, stats.depth, stats.forks) == (2, 13, 1, 0)
        assert (stats.shared_messages, stats.shared_tokens, dict(stats.roles)) == (1, 10, {"user": 2})
        assert count_thread(conversation_id=talk.uid, actor=actor).forks == 1
        empty = count_thread(conversation_id=begin().uid, actor=actor)
        assert (empty.messages, empty.began_at) == (0, None)


class TestOnce:
    def test_a_search_finds_a_shared_message_once_with_its_neighbours(self, actor, begin, say, fork):
        talk = begin()
        one, two = say(talk, "The lighthouse keeper sleeps", "two")
        made = fork(talk, two)
        (three,) = say(made, "A heron stands in the reeds")
        found = MESSAGES.search_messages(query="lighthouse", actor=actor, search_type="keyword")
        assert [hit.row.uid for hit in found.hits] == [one.uid]
        found = MESSAGES.search_messages(query="heron", actor=actor, search_type="keyword")
        assert [(hit.row.uid, [row.uid for row in hit.around]) for hit in found.hits] == [
            (three.uid, [two.uid])
        ]

    def test_the_context_of_a_session_repeats_nothing(self, actor, begin, say, fork):
        talk = begin(session_id="s1")
        one, _two = say(talk, "one", "two")
        made = fork(talk, one, session_id="s1")
        say(made, "else")
        context = SessionManager().get_session_context(session_id="s1", actor=actor)
        shown = [[row["content"] for row in one["messages"]] for one in context.parts["conversations"]]
        assert shown == [["one", "else"], ["two"]]


class TestFates:
    def test_of_a_source_that_is_erased(self, actor, begin, say, fork, thread):
        talk = begin(session_id="s1")
        (one,) = say(talk, "one")
        made = fork(talk, one, session_id="s2")
        say(made, "two")
        ErasureEngine().erase(actor=actor, scope="session", target="s1", confirm="s1")
        assert "one" not in [text for _, text in thread(made)]
        assert thread(made)[-1] == (2, "two")

    def test_of_a_fork_that_is_erased(self, actor, begin, say, fork, thread):
        talk = begin(session_id="s1")
        (one,) = say(talk, "one")
        made = fork(talk, one, session_id="s2")
        say(made, "two")
        ErasureEngine().erase(actor=actor, scope="session", target="s2", confirm="s2")
        assert thread(talk) == [(1, "one")]

    def test_of_a_point_that_is_reverted(self, project, actor, begin, say, fork, thread):
        talk = begin()
        say(talk, "one")
        (two,) = say(talk, "two")
        written = Branch.objects.get(project=project, name="main").commits.latest("seq")
        made = fork(talk, two)
        say(made, "three")
        RevertEngine().revert_commit(commit_id=written.pk, actor=actor)
        assert thread(made) == [(1, "one"), (3, "three")]

    def test_of_a_tail_that_a_merge_forks(self, actor, begin, say, fork, thread, without_gates):
        talk = begin()
        say(talk, "one")
        BranchManager().create_branch(name="task/x", actor=actor)
        (two,) = say(talk, "theirs", branch="task/x")
        say(talk, "ours")
        made = fork(talk, two, branch="task/x")
        say(made, "further", branch="task/x")
        expected = [(1, "one"), (2, "theirs"), (3, "further")]
        assert thread(made, "task/x") == expected
        MergeEngine().merge_branch(source="task/x", target="main", actor=actor)
        assert thread(made) == thread(made, "task/x") == expected
        assert thread(talk) == [(1, "one"), (2, "ours")]

    def test_of_a_fork_without_messages_that_both_sides_continue(
        self, actor, begin, say, fork, thread, without_gates
    ):
        talk = begin()
        (one,) = say(talk, "one")
        made = fork(talk, one)
        BranchManager().create_branch(name="task/x", actor=actor)
        say(made, "theirs", branch="task/x")
        say(made, "ours")
        MergeEngine().merge_branch(source="task/x", target="main", actor=actor)
        (tail,) = [
            row
            for row in Conversation.objects.on(Branch.objects.get(project=actor.project_id, name="main"))
            if row.parent_conversation_id == made.uid
        ]
        assert thread(made) == [(1, "one"), (2, "ours")]
        assert thread(tail) == [(1, "one"), (2, "theirs")]


class TestMemoryBranch:
    def test_it_holds_what_was_known_at_the_message(self, project, actor, begin, say, fork, thread):
        talk = begin()
        FactEngine().write_fact(fact_text="Known before.", actor=actor)
        (one,) = say(talk, "one")
        FactEngine().write_fact(fact_text="Learned later.", actor=actor)
        say(talk, "two")
        made = fork(talk, one, memory_branch="task/again")
        branch = Branch.objects.get(project=project, name="task/again")
        assert [row.fact_text for row in Fact.objects.on(branch)] == ["Known before."]
        say(made, "else", branch="task/again")
        assert thread(made, "task/again") == [(1, "one"), (2, "else")]
        assert thread(talk, "task/again") == [(1, "one")]
        with pytest.raises(NotFound):
            thread(made)

    def test_at_a_message_that_a_branch_inherits(self, project, actor, begin, say, fork, thread):
        talk = begin()
        (one,) = say(talk, "one")
        FactEngine().write_fact(fact_text="Learned later.", actor=actor)
        BranchManager().create_branch(name="task/x", actor=actor)
        made = fork(talk, one, branch="task/x", memory_branch="task/again")
        branch = Branch.objects.get(project=project, name="task/again")
        assert (branch.parent.name, list(Fact.objects.on(branch))) == ("main", [])
        assert thread(made, "task/again") == [(1, "one")]

    def test_a_branch_is_made_with_its_fork_or_not_at_all(self, monkeypatch, begin, say, fork, thread):
        def kill(*args, **more):
            raise KeyboardInterrupt

        talk = begin()
        (one,) = say(talk, "one")
        with monkeypatch.context() as patch:
            patch.setattr(ConversationEngine, "begin", kill)
            with pytest.raises(KeyboardInterrupt):
                fork(talk, one, memory_branch="task/z")
        assert not Branch.objects.filter(name="task/z").exists()
        assert thread(fork(talk, one, memory_branch="task/z"), "task/z") == [(1, "one")]

    def test_a_name_that_is_taken(self, actor, begin, say, fork):
        talk = begin()
        (one,) = say(talk, "one")
        with pytest.raises(BranchExists):
            fork(talk, one, memory_branch="main")
        assert Conversation._base_manager.count() == 1


class TestRefusals:
    def test_a_message_of_another_conversation(self, begin, say, fork):
        talk, other = begin(), begin()
        one, two = say(talk, "one", "two")
        (elsewhere,) = say(other, "elsewhere")
        for conversation, message in ((talk, elsewhere), (fork(talk, one), two)):
            with pytest.raises(Invalid, match="another conversation") as refused:
                fork(conversation, message)
            assert refused.value.data["field"] == "message_id"

    def test_what_is_not_there(self, begin, say, fork):
        talk = begin()
        (one,) = say(talk, "one")
        for conversation, message in ((Conversation(uid=uuid4()), one), (talk, Message(uid=uuid4()))):
            with pytest.raises(NotFound):
                fork(conversation, message)

    @pytest.mark.slow
    def test_a_depth_over_32(self, begin, say, fork, thread):
        talk = begin()
        (last,) = say(talk, "1")
        for number in range(MAX_FORK_DEPTH):
            talk = fork(talk, last)
            (last,) = say(talk, str(number + 2))
        assert thread(talk) == [(n, str(n)) for n in range(1, MAX_FORK_DEPTH + 2)]
        with pytest.raises(Invalid, match="at most 32 deep"):
            fork(talk, last)
