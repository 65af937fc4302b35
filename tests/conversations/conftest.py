"""REST clients, shared with tests/memory/api; what is said and done in sessions."""

from collections.abc import Callable
from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Message
from memory.actors import Actor
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Observation
from tests.memory.api.conftest import api, no_requests_counted, stranger

__all__ = ["api", "no_requests_counted", "stranger"]


@pytest.fixture
def say(actor: Actor, main: Any) -> Callable[..., Message]:
    def say(text: str, role: str = "assistant", session: str = "s1", branch: str = "main") -> Message:
        talk = ConversationEngine().create_conversation(actor=actor, session_id=session, branch_name=branch)
        return MessageEngine().write_message(
            conversation_id=talk.uid, role=role, content=text, actor=actor, branch_name=branch
        )

    return say


@pytest.fixture
def did(actor: Actor, main: Any) -> Callable[..., Observation]:
    def did(tool: str, given: Any, output: str = "", session: str = "s1", **more: Any) -> Observation:
        fields = {"tool_name": tool, "raw_input": given, "raw_output": output, "session_id": session, **more}
        return ObservationEngine().write_observation(actor=actor, **fields)

    return did
