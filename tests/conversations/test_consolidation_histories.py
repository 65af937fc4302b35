"""Random sessions: consolidating all of them twice, in any two orders, is consolidating them once."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from memory.actors import Actor
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from tests.conversations.test_consolidation_runs import ARGON, NEARLY, by_words, shown
from tests.memory.test_branches import some_actor
from tests.memory.test_versions import random_histories

__all__ = ["by_words"]
pytestmark = pytest.mark.django_db(transaction=True)
SAID = (
    ARGON,
    NEARLY,
    "We no longer use argon2 for the shop; use bcrypt instead.",
    "Keep the timeout at 30 seconds.",
)
DONE = (
    ("make check", "ok"),
    ("make check 2>&1 | tail -5", "ok"),
    ("npm ci", "ok"),
    ("npm ci", "Exit code 1\nno network"),
    ("git status", "ok"),
)
KEYS = ("s1", "s2", "s3")
steps = st.tuples(
    st.sampled_from(KEYS),
    st.one_of(st.sampled_from([("user", one) for one in SAID]), st.sampled_from(DONE)),
)
histories = st.lists(steps, min_size=4, max_size=16)
orders = st.permutations(KEYS)


def play(history: list[tuple[str, tuple[str, str]]]) -> Actor:
    """Write the sessions, and end them."""
    actor = some_actor()
    for key in KEYS:
        own = actor.with_origin(session_id=key)
        talk = ConversationEngine().create_conversation(actor=own)
        for _, (first, second) in [step for step in history if step[0] == key]:
            if first == "user":
                said = {"role": "user", "content": second}
                MessageEngine().write_message(conversation_id=talk.uid, actor=own, **said)
            else:
                call: dict[str, Any] = {"tool_name": "Bash", "raw_input": {"command": first}}
                ObservationEngine().write_observation(raw_output=second, actor=own, **call)
        SessionManager().end_session(session_id=key, actor=actor)
    return actor


@pytest.mark.slow
@random_histories(40)
@given(histories, orders, orders)
def test_twice_is_once(history: Any, first: list[str], second: list[str]) -> None:
    actor = play(history)
    for key in first:
        ConsolidationEngine().consolidate_session(session_id=key, actor=actor)
    before = shown(actor)
    for key in second:
        run = ConsolidationEngine().consolidate_session(session_id=key, actor=actor).run
        assert (run.created, run.updated, run.commits) == (0, 0, [])
    assert shown(actor) == before
