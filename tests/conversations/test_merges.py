"""Merges of conversations: messages appended on both sides, parts that come along, reverts."""

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation, Message
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.revert import RevertEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import Decision
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.store.snapshots import SnapshotManager
from memory.models import Branch, FactLink, Observation

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fork(actor, main):
    return lambda name="task/x": BranchManager().create_branch(name=name, actor=actor)


@pytest.fixture
def begin(actor, main):
    return lambda branch="main", **more: ConversationEngine().create_conversation(
        actor=actor, branch_name=branch, **more
    )


@pytest.fixture
def say(actor):
    def say(conversation, *texts, branch="main"):
        messages = [{"role": "user", "content": text} for text in texts]
        return MessageEngine().write_messages(
            conversation_id=conversation.uid, messages=messages, actor=actor, branch_name=branch
        )

    return say


@pytest.fixture
def merge(actor, without_gates):
    def merge(source="task/x", target="main", **more):
        return MergeEngine().merge_branch(source=source, target=target, actor=actor, **more)

    return merge


def threads(project, branch="main"):
    """Return the messages of each conversation in their order, by (title, whether it is a fork)."""
    on = Branch.objects.get(project=project, name=branch)
    found = {}
    for one in Conversation.objects.on(on).fetch_all():
        rows = Message.objects.on(on).filter(conversation_id=one.uid).fetch_all()
        lines = [row.content for row in sorted(rows, key=lambda row: row.sequence_num)]
        found[one.title, one.parent_conversation_id is not None] = lines
    return found


class TestMessages:
    def test_a_new_conversation_comes_with_its_messages(self, project, fork, begin, say, merge):
        fork()
        say(begin("task/x", title="t"), "one", "two", branch="task/x")
        assert merge().counts == {"conversation": {"applied": 1}, "message": {"applied": 2}}
        assert threads(project) == {("t", False): ["one", "two"]}
        assert merge().commit is None

    def test_appended_on_one_side(self, project, fork, begin, say, merge):
        talk = begin(title="t")
        say(talk, "one")
        fork()
        say(talk, "two", branch="task/x")
        merge()
        assert threads(project) == {("t", False): ["one", "two"]}

    def test_appended_on_both_sides(self, project, fork, begin, say, merge):
        talk = begin(title="t")
        (last,) = say(talk, "one")
        fork()
        say(talk, "ours")
        say(talk, "theirs", "theirs too", branch="task/x")
        merge()
        expected = {("t", False): ["one", "ours"], ("t", True): ["theirs", "theirs too"]}
        assert threads(project) == expected
        (forked,) = [
            one for one in Conversation.objects.on(_main(project)).fetch_all() if one.parent_conversation_id
        ]
        assert (forked.parent_conversation_id, forked.fork_point_message_id) == (talk.uid, last.uid)
        say(talk, "theirs later", branch="task/x")
        merge()
        expected[("t", True)].append("theirs later")
        assert threads(project) == expected
        merge("main", "task/x")
        assert threads(project, "task/x") == expected
        assert (merge().commit, merge("main", "task/x").commit) == (None, None)

    def test_taken_back_and_decided_for_beside_others(self, project, actor, fork, begin, say, merge):
        talk = begin(title="t")
        say(talk, "one")
        fork()
        say(talk, "theirs", branch="task/x")
        RevertEngine().revert_commit(commit_id=merge().commit.pk, actor=actor)
        say(talk, "ours")
        assert merge(strategy="theirs").counts == {"message": {"conflict": 1}}
        expected = {("t", False): ["one", "ours"], ("t", True): ["theirs"]}
        assert threads(project) == expected
        say(talk, "theirs later", branch="task/x")
        merge()
        expected[("t", True)].append("theirs later")
        assert threads(project) == expected
        merge("main", "task/x")
        assert threads(project, "task/x") == expected
        assert (merge().commit, merge("main", "task/x").commit) == (None, None)

    def test_completed_on_one_side(self, project, actor, fork, begin, say, merge):
        talk = begin(title="t")
        fork()
        say(talk, "theirs", branch="task/x")
        ConversationEngine().close_conversation(conversation_id=talk.uid, actor=actor)
        merge()
        (row,) = Conversation.objects.on(_main(project)).fetch_all()
        assert (row.status, threads(project)) == ("completed", {("t", False): ["theirs"]})

    def test_a_tail_whose_conversation_the_source_deleted(self, project, actor, fork, begin, say, merge):
        talk = begin(title="t")
        for branch, text in (("task/x", "theirs"), ("task/y", "ours")):
            fork(branch)
            say(talk, text, branch=branch)
        empty = SnapshotManager().create_snapshot(name="empty", at=0, actor=actor)
        SnapshotManager().restore_snapshot(snapshot_id=empty.pk, actor=actor)
        merge("main", "task/x", decisions=[Decision(talk.uid, "source", kind="conversation")])
        done = merge("task/x", "task/y")
        assert done.counts == {"conversation": {"conflict": 1}, "message": {"applied": 1}}
        assert threads(project, "task/y") == {("t", False): ["ours"], ("t", True): ["theirs"]}


def _main(project):
    return Branch.objects.get(project=project, name="main")


class TestParts:
    def test_a_revert_of_a_merge_is_settled_with_the_owner(self, project, actor, fork, begin, say, merge):
        fork()
        talk = begin("task/x", title="t")
        say(talk, "one", branch="task/x")
        done = merge()
        RevertEngine().revert_commit(commit_id=done.commit.pk, actor=actor)
        assert threads(project) == {}
        again = merge()
        assert again.counts == {"conversation": {"conflict": 1}, "message": {"rejected": 1}}
        merge(decisions=[Decision(talk.uid, "source", kind="conversation")])
        assert threads(project) == {("t", False): ["one"]}
        assert merge().commit is None

    def test_observations_and_links_to_them(self, project, actor, fork, merge):
        fork()
        seen = ObservationEngine().write_observation(
            actor=actor,
            branch_name="task/x",
            observation_type="insight",
            summary="It is slow.",
            session_id="s",
        )
        fact = FactEngine().write_fact(fact_text="Slow.", actor=actor, branch_name="task/x").fact
        LinkEngine().write_link(
            from_id=fact.uid,
            to_id=seen.uid,
            to_type="observation",
            link_type="DERIVED_FROM",
            actor=actor,
            branch_name="task/x",
        )
        merge(strategy="cherry_pick", ids=[fact.uid])
        assert FactLink.objects.on(_main(project)).fetch_all() == []  # what it comes from is not there
        merge()
        assert len(FactLink.objects.on(_main(project)).fetch_all()) == 1
        assert len(Observation.objects.on(_main(project)).fetch_all()) == 1
