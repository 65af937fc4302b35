"""Titles that forks, replays and picks took over: an erasure of the conversation takes them too."""

import pytest

from conversations.engines.cherry_pick import ConversationCherryPick
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.engines.erasure.engine import ErasureEngine
from memory.models import Branch

pytestmark = pytest.mark.django_db(transaction=True)
TITLE = "Of the portcullis"


def test_an_erasure_takes_the_titles_that_were_taken_over(actor: Actor, main: Branch) -> None:
    talks, ada = ConversationEngine(), actor.with_origin(agent_id="ada", session_id="ada-1")
    talk = talks.create_conversation(title=TITLE, actor=actor.with_origin(session_id="eve-1"))
    first = MessageEngine().write_message(
        conversation_id=talk.uid, role="user", content="What of it?", actor=actor
    )
    where = {"conversation_id": talk.uid, "message_id": first.uid, "actor": ada}
    fork = talks.fork_conversation(**where)
    talks.fork_conversation(conversation_id=fork.uid, message_id=first.uid, actor=ada)
    talks.fork_conversation(**where, title="Ada's own")
    ReplayEngine().create_replay(**where)
    ConversationCherryPick().pick(conversation_id=talk.uid, message_ids=[first.uid], actor=ada)
    talks.create_conversation(title=TITLE, actor=ada)
    own = MessageEngine().write_message(conversation_id=fork.uid, role="user", content="Ada asks.", actor=ada)
    ErasureEngine().erase(scope="session", target="eve-1", confirm="eve-1", actor=actor)
    main.refresh_from_db()
    titles = sorted(row.title for row in Conversation.objects.on(main).fetch_all())
    assert titles == ["Ada's own", TITLE, *["[erased]"] * 5]
    assert [row.content for row in Message.objects.on(main).filter(uid=own.uid)] == ["Ada asks."]
