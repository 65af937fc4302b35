"""What a later session changed, as memory_context shows it: in agreement with the start of a session."""

from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.sessions.manager import SessionManager
from memory.models import Fact, Session
from tests.mcp.conftest import Agent
from tests.site.hook_events import CONSOLIDATOR

OLD = "We decided that the gateway listens on port 9443."
NEW = "The gateway listens on port 8443 now, we decided."
SHOP = "github.com/acme/shop"


@pytest.fixture
def changed(settings: Any, actor: Any, agent: Agent) -> None:
    """Let two sessions of a repository decide, the second one otherwise."""
    settings.DAY1 = {**settings.DAY1, "consolidator": CONSOLIDATOR}
    for key, text in (("s1", OLD), ("s2", NEW)):
        SessionManager().create_session(session_id=key, actor=actor, project_path=SHOP)
        talk = ConversationEngine().create_conversation(actor=actor, session_id=key)
        MessageEngine().write_messages(
            conversation_id=talk.uid, messages=[{"role": "user", "content": text}], actor=actor
        )
        SessionManager().end_session(session_id=key, actor=actor)
        SessionManager().consolidate_session(Session.objects.get(key=key).pk)


def find_id(text: str) -> str:
    return str(Fact.objects.all_versions().filter(fact_text=text).latest("rid").uid)


def test_what_was_replaced_is_not_among_the_newest(agent: Agent, changed: None) -> None:
    told = agent.call("memory_context", repository=SHOP)
    assert [(row["line"], "replaced_by" in row) for row in told["newest_facts"]] == [(NEW, False)]


def test_what_an_earlier_session_wrote_names_what_took_its_place(agent: Agent, changed: None) -> None:
    (row,) = agent.call("memory_context", session_id="s1")["facts"]
    assert (row["line"], row["replaced_by"]) == (OLD, find_id(NEW))


def test_what_a_curator_verified_stays_and_names_it_too(agent: Agent, changed: None, actor: Any) -> None:
    FactEngine().set_verification(fact_id=find_id(OLD), verdict="verified", actor=actor)
    told = agent.call("memory_context", repository=SHOP)
    assert [(row["line"], row.get("replaced_by")) for row in told["newest_facts"]] == [
        (NEW, None),
        (OLD, find_id(NEW)),
    ]
