"""The list of all forks: over the engine, REST, the command and the page."""

from typing import Any
from uuid import UUID

import pytest
from django.test import Client

from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.fork_tree import list_forks
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.models import Branch
from tests.conversations.conftest import write_talk
from tests.curation.test_queue_pages import text
from tests.memory.views.conftest import browser, curator, maintainer, person, viewer

__all__ = ["browser", "curator", "maintainer", "person", "viewer"]
pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/p/test/conversations"
conversations = ConversationEngine()


@pytest.fixture
def talk(actor: Actor, main: Branch) -> tuple[Conversation, list[Message]]:
    return write_talk(actor, [{"role": "user", "content": f"Word {number}"} for number in range(3)])


def fork(talk: Any, actor: Actor, place: int, **fields: Any) -> Conversation:
    return conversations.fork_conversation(
        conversation_id=talk[0].uid, message_id=talk[1][place].uid, actor=actor, **fields
    )


def test_forks_with_their_sources_and_points_newest_first(talk: Any, actor: Actor) -> None:
    first, second = (fork(talk, actor, place, agent_id=f"a{place}") for place in (0, 2))
    listed = list_forks(actor=actor)
    told = [(one.uid, one.source.uid if one.source else None, one.point) for one in listed]
    assert told == [(second.uid, talk[0].uid, 3), (first.uid, talk[0].uid, 1)]
    page = list_forks(actor=actor, limit=1)
    assert [one.uid for one in list_forks(actor=actor, limit=1, cursor=page.next or "")] == [first.uid]
    only = ConversationFilter.from_values({"agent_id": "a0"})
    assert [one.uid for one in list_forks(actor=actor, filters=only)] == [first.uid]


def test_of_a_branch_and_a_point(talk: Any, actor: Actor, main: Branch) -> None:
    before = Branch.objects.get(pk=main.pk).head
    BranchManager().create_branch(name="task/x", actor=actor)
    fork(talk, actor, 0, title="On main")
    conversations.fork_conversation(
        conversation_id=talk[0].uid, message_id=talk[1][1].uid, actor=actor, branch_name="task/x"
    )
    assert [one.title for one in list_forks(actor=actor)] == ["On main"]
    assert [one.point for one in list_forks(actor=actor, branch_name="task/x")] == [2]
    assert list(list_forks(actor=actor, at=before)) == []


class TestPage:
    def test_what_it_tells(self, viewer: Client, talk: Any, actor: Actor) -> None:
        fork(talk, actor, 1, title="By hand", agent_id="ledger")
        replay = ReplayEngine().create_replay(
            conversation_id=talk[0].uid, message_id=talk[1][0].uid, actor=actor, model="small"
        )
        page = viewer.get(f"{PATH}/forks")
        told = text(page)
        assert "By hand Login at message 2" in told
        assert "a replay" in told
        assert told.index("a replay") < told.index("By hand")
        html = page.content.decode()
        for address in (
            f"/replays/{replay.pk}",
            f"compare/{replay.conversation_id}",
            f"?message={talk[1][0].uid}",
        ):
            assert address in html
        assert f"/replays/{replay.pk}" in viewer.get(f"{PATH}/{replay.conversation_id}").content.decode()
        filtered = text(viewer.get(f"{PATH}/forks?agent_id=ledger"))
        assert ("By hand" in filtered, "a replay" in filtered) == (True, False)
        assert "No fork on this branch" in text(viewer.get(f"{PATH}/forks?agent_id=nobody"))
        assert "No fork on this branch" in text(
            viewer.get(f"{PATH}/forks?parent_conversation_id={UUID(int=1)}")
        )
        assert "There is no filter colour." in text(viewer.get(f"{PATH}/forks?colour=red"))
