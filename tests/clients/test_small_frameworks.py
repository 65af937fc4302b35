"""Frameworks in Day1's locks that have no cases of stores: their pages, and what a refusal becomes."""

import asyncio
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("httpx", reason="httpx is not installed")

from day1_client import Day1
from tests.clients.conftest import play
from tests.clients.serving import memory, port, served  # noqa: F401  fixtures
from tests.frameworks.scripted_chat import ScriptedChat

pytestmark = pytest.mark.django_db(transaction=True)
AWAY = Day1("http://127.0.0.1:9", "day1_no_key", retries=0)


@pytest.mark.parametrize(
    ("heading", "module"),
    [("Pydantic AI", "pydantic_ai"), ("Microsoft Agent Framework", "agent_framework.openai")],
)
def test_the_page_begins_with_what_runs(
    heading: str,
    module: str,
    memory: Day1,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip(module, reason=f"{heading} is not installed")
    with ScriptedChat() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.url_for("/v1"))
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        play("docs/integrations.md", f"## {heading}")
    assert capsys.readouterr().out == "Understood.\n"
    assert len(model.requests) == 2


def test_pydantic_ai_remembers_for_one_person_and_tells_the_model_who_is_away(memory: Day1) -> None:  # noqa: F811
    exceptions = pytest.importorskip("pydantic_ai.exceptions", reason="Pydantic AI is not installed")
    from day1_client.pydantic_ai import Day1Toolset

    ada, bob = (Day1Toolset(memory, user_id=name) for name in ("ada", "bob"))
    run: Any = SimpleNamespace(conversation_id=None, agent=None)
    asyncio.run(ada.remember(run, "The canary of Ada is called Tweety."))
    recalled = [asyncio.run(one.recall(run, "What is the canary of Ada called?")) for one in (ada, bob)]
    assert ["Tweety" in text for text in recalled] == [True, False]
    with pytest.raises(exceptions.ToolFailed):
        asyncio.run(Day1Toolset(AWAY).recall(run, "canary"))


def test_the_agent_framework_recalls_before_a_run_and_stores_behind_it(memory: Day1) -> None:  # noqa: F811
    framework = pytest.importorskip("agent_framework", reason="Microsoft's Agent Framework is not installed")
    exceptions = import_module("agent_framework.exceptions")
    from day1_client.agent_framework import Day1ContextProvider

    helper = SimpleNamespace(name="helper")

    def run(memory: Day1, step: str, *said: tuple[str, str]) -> str:
        session = framework.AgentSession()
        messages = [framework.Message(role, [text]) for role, text in said]
        context = framework.SessionContext(session_id=session.session_id, input_messages=messages)
        provider = Day1ContextProvider(memory=memory, user_id="ada")
        asyncio.run(getattr(provider, step)(agent=helper, session=session, context=context, state={}))
        return "".join(one.text for one in context.get_messages())

    run(memory, "after_run", ("user", "My canary is called Tweety."))
    asked = ("user", "What is my canary called?")
    assert "Tweety" in run(memory, "before_run", asked)
    with pytest.raises(exceptions.IntegrationException, match="does not answer"):
        run(AWAY, "before_run", asked)
