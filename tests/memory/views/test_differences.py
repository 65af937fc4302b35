"""The differences of a branch on its page: every kind of memory."""

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.engines.branches.manager import BranchManager
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine
from tests.memory.views.test_fact_pages import text, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def page(actor, main, viewer):
    BranchManager().create_branch(name="task/x", actor=actor)
    on = {"actor": actor, "branch_name": "task/x"}
    write(actor, "A fact.", branch_name="task/x")
    RelationEngine().write_relation(source_entity="Ada", relation_type="wrote", target_entity="Notes", **on)
    ObservationEngine().write_observation(
        observation_type="insight", summary="It is <b>slow</b>.", session_id="s", **on
    )
    talk = ConversationEngine().create_conversation(title="On caches", **on)
    MessageEngine().write_message(conversation_id=talk.uid, role="user", content="Why is it slow?", **on)
    return lambda **query: text(viewer.get("/p/test/branches/task/x", {"tab": "diff", **query}))


@pytest.mark.parametrize(
    ("kind", "count", "shown"),
    [
        ("relation", "relation added", "Ada wrote Notes"),
        ("observation", "observation added", "It is &lt;b&gt;slow&lt;/b&gt;."),
        ("conversation", "conversation added", "On caches"),
        ("message", "message added", "Why is it slow?"),
    ],
)
def test_a_kind_is_counted_and_listed(page, kind, count, shown):
    facts = page()
    assert count in facts
    assert shown not in facts
    assert shown in page(type=kind)


def test_an_unknown_kind_shows_facts(page):
    assert "A fact." in page(type="magic")
