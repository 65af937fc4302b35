"""A toolset of Pydantic AI. Needs ``pydantic-ai-slim``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from day1_client import Day1, Day1Error
from day1_client.adapting import clean, in_thread, name_session, recall, whose_is
from day1_client.errors import ServerTooOld
from day1_client.extras import needs

with needs("pydantic-ai"):
    from pydantic_ai import FunctionToolset, ModelRetry, RunContext
    from pydantic_ai.exceptions import ToolFailed, UserError

INSTRUCTIONS = (
    "You have a memory of earlier conversations. Call recall before you answer what may depend on them, and"
    " remember when you are told something that will matter later: a preference, a decision, a fact."
)
MAX_TOKENS = 800
FOUND_NOTHING = "Nothing is known on this."
Deps = TypeVar("Deps")


class Day1Toolset(FunctionToolset[Deps]):
    """The tools ``remember`` and ``recall`` over the memory of one end user.

    ``user_id`` is a name, or a function of the run's context, such as ``lambda ctx: ctx.deps.user``: the
    model never says whose memory it is. The conversation of a run is its session in Day1.
    """

    def __init__(
        self,
        memory: Day1 | None = None,
        *,
        user_id: str | Callable[[RunContext[Deps]], str] | None = None,
        app_id: str | None = None,
        max_tokens: int = MAX_TOKENS,
        instructions: str | None = INSTRUCTIONS,
        id: str | None = "day1",
        **options: Any,
    ) -> None:
        self.memory = memory or Day1()
        self.user_id, self.app_id, self.max_tokens = user_id, app_id, max_tokens
        super().__init__(instructions=instructions, id=id, **options)
        self.add_function(self.remember, takes_ctx=True)
        self.add_function(self.recall, takes_ctx=True)

    async def remember(self, ctx: RunContext[Deps], text: str, category: str | None = None) -> str:
        """Keep a fact, a preference or a decision for later conversations.

        Args:
            text: One statement that is understood without this conversation.
            category: A word for its kind, such as preference, decision or fact.
        """
        said: dict[str, Any] = {**self._owner(ctx), "wait": "indexed"}
        if ctx.conversation_id:
            said["session_id"] = name_session(ctx.conversation_id)
        if ctx.agent and ctx.agent.name:
            said["agent_id"] = ctx.agent.name
        written = await self._call(self.memory.facts.create, clean(text), category=category, **said)
        return "Remembered." if written["created"] else "That was known already."

    async def recall(self, ctx: RunContext[Deps], query: str) -> str:
        """Look up what is known from earlier conversations.

        Args:
            query: What you want to know, in words.
        """
        found = await self._call(recall, self.memory, query, self.max_tokens, self._owner(ctx))
        return found or FOUND_NOTHING

    def _owner(self, ctx: RunContext[Deps]) -> dict[str, Any]:
        try:
            return whose_is(self.user_id, self.app_id, ctx)
        except ValueError as error:
            raise UserError(str(error)) from error

    async def _call(self, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Call the client: the model may mend what it said, and the program its key or its server."""
        try:
            return await in_thread(call, *args, **options)
        except Day1Error as error:
            if error.status in (401, 403) or isinstance(error, ServerTooOld):
                raise UserError(f"Day1: {error}") from error
            if error.status in (400, 413):
                raise ModelRetry(str(error)) from error
            raise ToolFailed(f"The memory cannot be reached now: {error}") from error
