"""A fork's prefix stays what it was: while its source goes on, on branches, after merges and erasures."""

from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.erasure.engine import ErasureEngine
from memory.engines.merging.engine import MergeEngine
from memory.exceptions import Conflict, NotFound
from memory.models.base import ERASED_MARK
from tests.memory.test_branches import some_actor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
CONVERSATIONS, MESSAGES = ConversationEngine(), MessageEngine()
MAX_BRANCHES = 3
CHOICE = st.integers(0, 99)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), CHOICE, CHOICE),
        st.tuples(st.just("fork"), CHOICE, CHOICE),
        st.tuples(st.just("branch"), CHOICE, CHOICE),
        st.tuples(st.just("merge"), CHOICE, CHOICE),
        st.tuples(st.just("erase"), CHOICE, CHOICE),
    ),
    min_size=4,
    max_size=14,
)


class BranchedHistory:
    """Conversations on branches, and for each fork the messages that it shared when it was made."""

    def __init__(self, steps: Any) -> None:
        self.actor, self.number = some_actor(), 0
        self.branches, self.talks = ["main"], [CONVERSATIONS.create_conversation(actor=self.actor).uid]
        self.prefixes: dict[UUID, list[tuple[UUID, str]]] = {}
        self.erased: set[str] = set()
        self.say(0, 0)
        for name, choice, detail in steps:
            with suppress(NotFound, Conflict):  # not on this branch, or closed by a merge
                getattr(self, name)(choice, detail)

    def choose(self, choice: int) -> tuple[UUID, str]:
        """Return a conversation and a branch."""
        talk = self.talks[choice % len(self.talks)]
        return talk, self.branches[choice // 7 % len(self.branches)]

    def say(self, choice: int, count: int) -> None:
        talk, branch = self.choose(choice)
        rows = []
        for _ in range(1 + count % 2):
            self.number += 1
            rows.append({"role": "user", "content": f"Text number {self.number}x."})
        MESSAGES.write_messages(conversation_id=talk, messages=rows, actor=self.actor, branch_name=branch)

    def fork(self, choice: int, place: int) -> None:
        talk, branch = self.choose(choice)
        thread = self.read(talk, branch)
        if not thread:
            return
        end = place % len(thread)
        made = CONVERSATIONS.fork_conversation(
            conversation_id=talk, message_id=thread[end][0], actor=self.actor, branch_name=branch
        )
        self.talks.append(made.uid)
        self.prefixes[made.uid] = thread[: end + 1]

    def branch(self, choice: int, _: int) -> None:
        if len(self.branches) < MAX_BRANCHES:
            name, parent = f"task/b{len(self.branches)}", self.branches[choice % len(self.branches)]
            BranchManager().create_branch(name=name, parent=parent, actor=self.actor)
            self.branches.append(name)

    def merge(self, choice: int, _: int) -> None:
        if len(self.branches) > 1:
            source = self.branches[1 + choice % (len(self.branches) - 1)]
            MergeEngine().merge_branch(source=source, target="main", actor=self.actor)

    def erase(self, choice: int, _: int) -> None:
        text = f"Text number {1 + choice % self.number}x."
        ErasureEngine().erase(scope="match", target=text, confirm=self.slug, actor=self.actor)
        self.erased.add(text)

    @property
    def slug(self) -> str:
        from memory.models import Project

        return Project.objects.get(pk=self.actor.project_id).slug

    def read(self, talk: UUID, branch: str) -> list[tuple[UUID, str]]:
        page = MESSAGES.list_messages(conversation_id=talk, actor=self.actor, branch_name=branch, limit=100)
        numbers = [row.sequence_num for row in page.results]
        assert numbers == sorted(set(numbers))
        return [(row.uid, row.content) for row in page.results]


@settings(max_examples=max(1, settings().max_examples // 10))  # each makes a store of its own
@given(STEPS)
def test_a_prefix_stays_through_branches_merges_and_erasures(steps: Any) -> None:
    history = BranchedHistory(steps)
    for fork, prefix in history.prefixes.items():
        expected = [
            (uid, ERASED_MARK if content in (*history.erased, ERASED_MARK) else content)
            for uid, content in prefix
        ]
        for branch in history.branches:
            with suppress(NotFound):
                assert history.read(fork, branch)[: len(prefix)] == expected
