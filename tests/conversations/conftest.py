"""REST clients, shared with tests/memory/api; what is said and done in sessions."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Conversation, Message, Replay
from memory.actors import Actor
from memory.engines.sessions.observations import ObservationEngine
from memory.models import Observation
from tests.conversations.fake_model import FakeModel, used
from tests.memory.api.conftest import api, no_requests_counted, stranger
from tests.waiting import TIMEOUT_SECONDS

__all__ = ["api", "no_requests_counted", "stranger"]


def write_talk(actor: Actor, rows: Sequence[dict[str, Any]]) -> tuple[Conversation, list[Message]]:
    """Create a conversation with these messages, and return both."""
    talk = ConversationEngine().create_conversation(actor=actor, title="Login")
    return talk, list(
        MessageEngine().write_messages(conversation_id=talk.uid, messages=list(rows), actor=actor)
    )


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


@pytest.fixture
def model(settings: Any) -> Iterator[FakeModel]:
    fake = FakeModel()
    fake.server.start()
    fake.server.expect_request("/v1/chat/completions", method="POST").respond_with_handler(fake.answer)
    settings.DAY1 = {
        **settings.DAY1,
        "replay_model": "other",
        "replay_base_url": fake.server.url_for("/v1"),
        "replay_api_key": "sk-not-to-be-told",
        "replay_timeout": float(TIMEOUT_SECONDS),
    }
    yield fake
    fake.server.stop()


@pytest.fixture
def source(actor: Actor, main: Any) -> tuple[Conversation, list[Message]]:
    talk = ConversationEngine().create_conversation(actor=actor, title="Login", model="first")
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Why does the login fail?"},
        used("Read", {"path": "auth.py"}, "the clock"),
        used("Bash", {"command": "date"}, "yesterday"),
        {"role": "assistant", "content": "The clock is wrong."},
    ]
    rows = MessageEngine().write_messages(conversation_id=talk.uid, messages=messages, actor=actor)
    return talk, rows


@pytest.fixture
def begin(actor: Actor, source: Any) -> Callable[..., Replay]:
    def begin(place: int = 1, **parameters: Any) -> Replay:
        talk, rows = source
        return ReplayEngine().create_replay(
            conversation_id=talk.uid, message_id=rows[place].uid, actor=actor, **parameters
        )

    return begin


@pytest.fixture
def run(actor: Actor) -> Callable[..., Replay]:
    def run(replay: Replay) -> Replay:
        ReplayEngine().run_replay(replay_id=replay.pk, actor=actor)
        ReplayEngine().execute_replay(replay.pk)
        return ReplayEngine().get_replay(replay_id=replay.pk, actor=actor)

    return run
