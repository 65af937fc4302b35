"""A context provider of Microsoft's Agent Framework. Needs ``agent-framework-core``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from day1_client import Day1, Day1Error
from day1_client.adapting import append, in_thread, message, recall, to_json, whose_is
from day1_client.extras import needs

with needs("agent-framework"):
    from agent_framework import AgentSession, ContextProvider, Message, SessionContext, SupportsAgentRun
    from agent_framework.exceptions import (
        IntegrationException,
        IntegrationInvalidAuthException,
        IntegrationInvalidRequestException,
    )

PROMPT = "## Memory\nThis is known from earlier conversations; check it before relying on it:"
MAX_TOKENS = 800
UNAUTHORIZED, FORBIDDEN = 401, 403
ROLES = {"user": "user", "assistant": "assistant", "system": "system", "tool": "tool_result"}


class Day1ContextProvider(ContextProvider):
    """What is known on a question comes before the model; what was said is stored and learned from behind it.

    ``user_id`` is a name, or a function of the agent's session that returns one: sessions of several people
    may share a provider. A session of the framework is the session of the same name in Day1.
    """

    DEFAULT_SOURCE_ID: ClassVar[str] = "day1"

    def __init__(
        self,
        source_id: str = DEFAULT_SOURCE_ID,
        memory: Day1 | None = None,
        *,
        user_id: str | Callable[[AgentSession], str] | None = None,
        app_id: str | None = None,
        max_tokens: int = MAX_TOKENS,
        context_prompt: str = PROMPT,
    ) -> None:
        super().__init__(source_id)
        self.memory = memory or Day1()
        self.user_id, self.app_id = user_id, app_id
        self.max_tokens, self.context_prompt = max_tokens, context_prompt

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Add what is known on the new messages to the context. Raises IntegrationException."""
        query = "\n".join(one.text for one in context.input_messages if one.text)
        text = await self._call(
            recall, self.memory, query, self.max_tokens, self._owner(session), name(session, context)
        )
        if text:
            context.extend_messages(self, [Message("user", [f"{self.context_prompt}\n{text}"])])

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],
    ) -> None:
        """Store what was said and done in this run. Raises IntegrationException."""
        said = [*context.input_messages, *(context.response.messages if context.response else ())]
        rows = [row for one in said for row in read_message(one)]
        agent_id = {"agent_id": agent.name} if agent.name else {}
        await self._call(
            append, self.memory, rows, name(session, context), **self._owner(session), **agent_id
        )

    def _owner(self, session: AgentSession) -> dict[str, Any]:
        return whose_is(self.user_id, self.app_id, session)

    async def _call(self, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        try:
            return await in_thread(call, *args, **options)
        except Day1Error as error:
            raise translate(error) from error


def name(session: AgentSession, context: SessionContext) -> str:
    return str(context.session_id or session.session_id)


def read_message(one: Message) -> list[dict[str, Any]]:
    """Return what a message says, and all of it as JSON where it holds more than text."""
    rows = message(ROLES.get(one.role, "user"), one.text)
    if any(content.type != "text" for content in one.contents):
        role = "tool_result" if one.role == "tool" else "tool_call"
        rows += message(role, to_json(one.to_dict()))
    return rows


def translate(error: Day1Error) -> IntegrationException:
    """Return the framework's own error for one of the client's."""
    kind = IntegrationException
    if error.status in (UNAUTHORIZED, FORBIDDEN):
        kind = IntegrationInvalidAuthException
    elif 400 <= error.status < 500:
        kind = IntegrationInvalidRequestException
    return kind(f"Day1: {error}", error)
