"""A session of the OpenAI Agents SDK on Day1, with its real package and a scripted model's server."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

pytest.importorskip("agents", reason="The OpenAI Agents SDK is not installed")

from agents.memory import Session, SessionSettings

from day1_client import Day1, Unreachable
from day1_client.openai_agents import Day1Session
from tests.adapters.test_agents_session import CASES, Open
from tests.amounts import is_thorough, take_share
from tests.clients.conftest import play
from tests.clients.serving import ScriptedModel, memory, port, served  # noqa: F401  fixtures

pytestmark = [pytest.mark.nightly, pytest.mark.django_db(transaction=True)]


class Played:
    """The cases' session: that of the SDK, waited for."""

    def __init__(self, memory: Day1, name: str) -> None:  # noqa: F811
        self.session = Day1Session(name, memory)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *values: asyncio.run(getattr(self.session, name)(*values))


@pytest.mark.parametrize("play", take_share(CASES, 6), ids=lambda play: play.__name__)
def test_the_session_of_the_sdk(play: Callable[[Open], None], memory: Day1) -> None:  # noqa: F811
    play(cast(Open, lambda name: Played(memory, name)))


def reply(text: str) -> dict[str, Any]:
    """Return an answer of the Responses API."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    fixed = {"object": "response", "created_at": 1, "model": "m", "parallel_tool_calls": False, "tools": []}
    return {"id": "r", "output": [message], "usage": usage | details, "tool_choice": "auto", **fixed}


def test_the_page_begins_with_what_runs(
    memory: Day1,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ScriptedModel(reply("Hello Ada."), reply("You are Ada.")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url_for("/v1"))
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
        play("docs/integrations.md", "## OpenAI Agents SDK")
    assert capsys.readouterr().out == "You are Ada.\n"
    said = [one["content"] for one in model.asked[1]["input"]]
    assert (said[0], said[1][0]["text"], said[2]) == ("My name is Ada.", "Hello Ada.", "What is my name?")
    assert len(asyncio.run(Day1Session("chat-7").get_items())) == 4


@pytest.mark.skipif(not is_thorough(), reason="a thousand messages: make nightly")
def test_the_settings_of_a_session_limit_what_is_read(memory: Day1) -> None:  # noqa: F811
    session = Day1Session("s", memory, session_settings=SessionSettings(limit=2))
    assert isinstance(session, Session)
    asyncio.run(session.add_items([{"role": "user", "content": str(number)} for number in range(1_005)]))
    assert [one["content"] for one in asyncio.run(session.get_items())] == ["1003", "1004"]
    assert len(asyncio.run(session.get_items(1_005))) == 1_005


def test_what_was_popped_and_cleared_is_in_the_history(memory: Day1) -> None:  # noqa: F811
    session = Day1Session("s", memory)
    asyncio.run(session.add_items([{"role": "user", "content": "secret plan"}]))
    asyncio.run(session.clear_session())
    assert asyncio.run(session.get_items()) == []
    last = memory.branches.log("main").results[0]
    memory.commits.revert(last["id"])
    assert asyncio.run(session.get_items()) == [{"role": "user", "content": "secret plan"}]


def test_one_who_is_cancelled_is_told_when_the_write_is_done(memory: Day1) -> None:  # noqa: F811
    session = Day1Session("s", memory)

    async def cancel_soon() -> bool:
        task = asyncio.ensure_future(session.add_items([{"role": "user", "content": "once"}]))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    assert asyncio.run(cancel_soon())
    assert asyncio.run(session.get_items()) == [{"role": "user", "content": "once"}]


def test_without_a_network_it_says_so() -> None:
    with pytest.raises(Unreachable):
        asyncio.run(Day1Session("s", Day1("http://127.0.0.1:1", "day1_a_b", retries=0)).get_items())
