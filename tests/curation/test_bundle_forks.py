"""Bundles with forks of conversations: what a fork shares arrives with its parent."""

from typing import Any
from uuid import UUID

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation
from curation.engines.bundles.engine import KnowledgeBundleEngine
from memory.actors import Actor
from memory.models import Branch
from tests.curation.test_bundles import TARGET, bring, document, other, reseal, rows  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
engine, talks, messages = KnowledgeBundleEngine(), ConversationEngine(), MessageEngine()


def say(actor: Actor, talk: Conversation, *texts: str) -> list[UUID]:
    rows = [{"role": "user", "content": text} for text in texts]
    return [one.uid for one in messages.write_messages(conversation_id=talk.uid, messages=rows, actor=actor)]


@pytest.fixture
def data(actor: Actor, main: Branch) -> dict[str, Any]:
    """Return a bundle's document: a conversation, a fork at its second message, a fork of that."""
    root = talks.create_conversation(title="root", actor=actor)
    said = say(actor, root, "one", "two", "three")
    fork = talks.fork_conversation(conversation_id=root.uid, message_id=said[1], title="fork", actor=actor)
    own = say(actor, fork, "three again", "four again")
    leaf = talks.fork_conversation(conversation_id=fork.uid, message_id=own[0], title="leaf", actor=actor)
    say(actor, leaf, "four once more")
    return document(engine.create_bundle(name="clocks", conversations=True, actor=actor))


def said_in(actor: Actor, title: str, branch: str = TARGET) -> list[str]:
    (talk,) = [one for one in rows(Conversation, actor, branch) if one.title == title]
    page = messages.list_messages(conversation_id=talk.uid, branch_name=branch, actor=actor)
    return [one.content for one in page.results]


def test_forks_arrive_with_what_they_share(data: dict[str, Any], other: Actor) -> None:  # noqa: F811
    report = bring(other, data)
    assert report.counts["conversations"] == {"new": 3, "duplicate": 0, "refused": 0}
    assert report.counts["messages"] == {"new": 6, "duplicate": 0, "refused": 0}
    assert said_in(other, "root") == ["one", "two", "three"]
    assert said_in(other, "fork") == ["one", "two", "three again", "four again"]
    assert said_in(other, "leaf") == ["one", "two", "three again", "four once more"]
    again = bring(other, data)
    assert again.counts["messages"] == {"new": 0, "duplicate": 6, "refused": 0}


def list_forks(data: dict[str, Any]) -> list[Any]:
    return data["content"]["conversations"]


def without_parent(data: dict[str, Any]) -> None:
    del list_forks(data)[0]


def unknown_point(data: dict[str, Any]) -> None:
    list_forks(data)[1]["fork_point_message_id"] = "0197b3f0-0000-7000-8000-000000000001"


def point_of_another(data: dict[str, Any]) -> None:
    list_forks(data)[1]["fork_point_message_id"] = list_forks(data)[2]["messages"][0]["id"]


def its_own_parent(data: dict[str, Any]) -> None:
    fork = list_forks(data)[1]
    fork |= {"parent_conversation_id": fork["id"], "fork_point_message_id": fork["messages"][0]["id"]}


def numbers_before_the_point(data: dict[str, Any]) -> None:
    list_forks(data)[1]["messages"][0]["sequence_num"] = 1


def no_number(data: dict[str, Any]) -> None:
    del list_forks(data)[1]["messages"][0]["sequence_num"]


def no_ids(data: dict[str, Any]) -> None:
    list_forks(data)[1] |= {"parent_conversation_id": [], "fork_point_message_id": {"a": 1}}


def in_a_circle(data: dict[str, Any]) -> None:
    root, fork = list_forks(data)[:2]
    root |= {"parent_conversation_id": fork["id"], "fork_point_message_id": fork["messages"][0]["id"]}
    list_forks(data)[:2] = [fork, root]


@pytest.mark.parametrize(
    "harm",
    [
        without_parent,
        unknown_point,
        point_of_another,
        its_own_parent,
        numbers_before_the_point,
        no_number,
        no_ids,
        in_a_circle,
    ],
)
def test_a_fork_without_a_sound_parent_stands_for_itself(
    data: dict[str, Any],
    other: Actor,  # noqa: F811
    harm: Any,
) -> None:
    harm(data)
    bring(other, reseal(data))
    assert said_in(other, "fork")[-2:] == ["three again", "four again"]
    assert len(said_in(other, "fork")) == 2
