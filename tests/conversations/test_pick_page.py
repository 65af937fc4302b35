"""The page on which a person picks messages of a conversation."""

from typing import Any

import pytest
from django.test import Client

from conversations.engines.conversations import ConversationEngine
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.engine import FactEngine
from memory.engines.facts.links import LinkEngine
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
    call = {"id": "c1", "name": "Bash", "input": {"command": "date -u"}}
    rows = [
        {"role": "user", "content": "Why <b>?"},
        {"role": "tool_call", "content": "", "tool_calls": [call]},
        {"role": "assistant", "content": "The clock."},
    ]
    return write_talk(actor, rows)


def list_texts(uid: Any) -> list[str]:
    rows = Message._base_manager.filter(conversation_id=uid).order_by("sequence_num")
    return [row.content for row in rows]


def test_into_a_new_conversation_and_again(curator: Client, talk: Any) -> None:
    address, rows = f"{PATH}/{talk[0].uid}/pick?message={talk[1][1].uid}", talk[1]
    assert f"pick?message={rows[0].uid}" in curator.get(f"{PATH}/{talk[0].uid}").content.decode()
    page = curator.get(address)
    assert "Bash date -u" in text(page)
    assert "Why &lt;b&gt;?" in curator.get(f"{PATH}/{talk[0].uid}/pick").content.decode()
    sent = {"message": [str(rows[0].uid), str(rows[2].uid)], "title": "Picked"}
    made = curator.post(address, sent, follow=True)
    assert "2 messages were picked." in text(made)
    target = Conversation.objects.all_versions().get(title="Picked")
    assert list_texts(target.uid) == ["Why <b>?", "The clock."]
    more = {
        "message": [str(row.uid) for row in rows],
        "target_conversation_id": f"http://x{PATH}/{target.uid}?end=1",
    }
    again = text(curator.post(address, more, follow=True))
    assert "1 message was picked. 2 were there before." in again
    assert list_texts(target.uid) == ["Why <b>?", "The clock.", ""]


def test_to_another_branch_with_facts(curator: Client, maintainer: Client, talk: Any, actor: Actor) -> None:
    BranchManager().create_branch(name="task/x", actor=actor)
    fact = FactEngine().write_fact(fact_text="The clock was wrong.", actor=actor).fact
    LinkEngine().write_link(
        from_id=fact.uid, to_id=talk[1][2].uid, to_type="message", link_type="MESSAGE_OF", actor=actor
    )
    address = f"{PATH}/{talk[0].uid}/pick"
    assert "With the facts" not in text(curator.get(address))
    assert "With the facts" in text(maintainer.get(address))
    sent = {"message": str(talk[1][2].uid), "target_branch": "task/x", "with_facts": "on"}
    made = maintainer.post(address, sent, follow=True)
    assert "1 message was picked. 1 fact belongs to them." in text(made)
    assert "branch=task%2Fx" in made.redirect_chain[0][0]
    assert "→ 1 fact The clock was wrong." in text(made)


@pytest.mark.parametrize(
    ("sent", "status", "words"),
    [
        ({}, 400, "Tick the messages to pick."),
        ({"message": "moon"}, 400, "must be a UUID"),
        ({"target_conversation_id": "moon"}, 400, "This is not the id of a conversation."),
        ({"target_branch": "task/none"}, 404, "task/none"),
        ({"target_conversation_id": "0197a3f2-0000-7000-8000-000000000000"}, 404, "No conversation"),
    ],
)
def test_what_is_refused_keeps_ticks_and_words(
    curator: Client, talk: Any, sent: dict[str, str], status: int, words: str
) -> None:
    given = {"message": str(talk[1][0].uid), "title": "Typed", **sent} if sent else {"title": "Typed"}
    answer = curator.post(f"{PATH}/{talk[0].uid}/pick", given)
    assert (answer.status_code, words in text(answer)) == (status, True)
    html = answer.content.decode()
    assert ('value="Typed"' in html, html.count("checked") > 0) == (
        True,
        "message" in given and given["message"] != "moon",
    )
    assert Conversation._base_manager.count() == 1
