"""Random histories of conversations and forks, against lists of texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.threads import load_threads
from conversations.models import Conversation, Message
from memory.models import Branch
from tests.memory.test_branches import some_actor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CONVERSATIONS, MESSAGES = ConversationEngine(), MessageEngine()
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(0, 99), st.integers(1, 3)),
        st.tuples(st.just("fork"), st.integers(0, 99), st.integers(0, 99)),
        st.tuples(st.just("close"), st.integers(0, 99), st.just(0)),
    ),
    min_size=3,
    max_size=14,
)


class History:
    """Conversations, and for each the messages that it must show."""

    def __init__(self, steps):
        self.actor, self.said = some_actor(), 0
        self.talks = [CONVERSATIONS.create_conversation(actor=self.actor)]
        self.threads = [[]]
        self.closed = set()
        for name, choice, detail in steps:
            getattr(self, name)(choice, detail)

    def say(self, choice, count):
        n = choice % len(self.talks)
        if n in self.closed:
            return
        texts = [f"text {self.said + i}" for i in range(count)]
        self.said += count
        rows = MESSAGES.write_messages(
            conversation_id=self.talks[n].uid,
            messages=[{"role": "user", "content": text, "token_count": 1} for text in texts],
            actor=self.actor,
        )
        self.threads[n] += [(row.uid, row.content) for row in rows]

    def fork(self, choice, place):
        n = choice % len(self.talks)
        if not self.threads[n]:
            return
        end = place % len(self.threads[n])
        made = CONVERSATIONS.fork_conversation(
            conversation_id=self.talks[n].uid, message_id=self.threads[n][end][0], actor=self.actor
        )
        self.talks.append(made)
        self.threads.append(self.threads[n][: end + 1])

    def close(self, choice, _):
        n = choice % len(self.talks)
        CONVERSATIONS.close_conversation(conversation_id=self.talks[n].uid, actor=self.actor)
        self.closed.add(n)

    def read(self, talk, limit):
        found, numbers, cursor = [], [], ""
        while cursor is not None:
            page = MESSAGES.list_messages(
                conversation_id=talk.uid, actor=self.actor, limit=limit, cursor=cursor
            )
            found += [(row.uid, row.content) for row in page.results]
            numbers += [row.sequence_num for row in page.results]
            cursor = page.next
        return found, numbers


@given(STEPS, st.integers(1, 4))
def test_a_thread_is_its_sources_prefix_and_its_own(steps, limit):
    history = History(steps)
    for talk, expected in zip(history.talks, history.threads, strict=True):
        found, numbers = history.read(talk, limit)
        assert found == expected
        assert numbers == list(range(1, len(expected) + 1))
    page = CONVERSATIONS.list_conversations(actor=history.actor, limit=100).results
    counts = {row.uid: (row.message_count, row.total_tokens) for row in page}
    lengths = {talk.uid: len(one) for talk, one in zip(history.talks, history.threads, strict=True)}
    assert counts == {uid: (length, length) for uid, length in lengths.items()}
    assert sum(row.own_messages for row in page) == history.said


@given(STEPS)
def test_backwards_and_the_last_ones(steps):
    history = History(steps)
    branch = Branch.objects.get(project=history.actor.project_id, name="main")
    rows = Conversation.objects.on(branch).filter(uid__in=[talk.uid for talk in history.talks]).fetch_all()
    threads = load_threads(branch.lineage(), rows)
    for talk, expected in zip(history.talks, history.threads, strict=True):
        messages, thread = Message.objects.on(branch), threads[talk.uid]
        back = [row.uid for row in thread.stream(messages, 100, down=True)]
        assert back == [uid for uid, _ in reversed(expected)]
        keys = thread.last_keys(messages, 3)
        by_key = dict(Message._base_manager.filter(pk__in=keys).values_list("pk", "uid"))
        assert [by_key[key] for key in keys] == [uid for uid, _ in expected[-3:]]
