"""The pace of refusals: who goes on after being refused gets the next answers later.

Otherwise a client that never waits would keep the processor busy with requests whose answer is known. Its
connections wait, not a thread. See docs/decisions/0069.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from time import monotonic
from typing import Any

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

PER_SECOND = 10.0  # refusals of one key, for each process
BURST_SECONDS = 2.0  # whose refusals come at once, after a rest
MAX_WAIT_SECONDS = 30.0
MAX_KEYS = 1000
PACED_CODES = ("quota_exceeded", "rate_limited")
PACED_STATUSES = (403, 429)  # with Retry-After


class RefusalPace:
    """Turns of refusals, by who is refused."""

    def __init__(self) -> None:
        self._turns: dict[Any, float] = {}

    def take_turn(self, who: Any, now: float) -> float:
        """Return the seconds until the turn of another refusal."""
        rested = now - BURST_SECONDS
        turn = max(self._turns.get(who, rested), rested) + 1 / PER_SECOND
        if len(self._turns) >= MAX_KEYS and who not in self._turns:
            self._turns = {key: at for key, at in self._turns.items() if at > rested}
        if turn <= now + MAX_WAIT_SECONDS and len(self._turns) < MAX_KEYS:
            self._turns[who] = turn
        return min(max(0.0, turn - now), MAX_WAIT_SECONDS)

    async def wait_turn(self, who: Any) -> None:
        if wait := self.take_turn(who, monotonic()):
            await asyncio.sleep(wait)


pace = RefusalPace()


class PacedSend:
    """A send function that delays a refusal until ``release``."""

    def __init__(self, send: Send, who: bytes) -> None:
        self.send, self.who = send, who
        self._delayed: list[Message] = []

    async def __call__(self, message: Message) -> None:
        if self._delayed or (self.who and is_paced(message)):
            self._delayed.append(message)
        else:
            await self.send(message)

    async def release(self) -> None:
        """Send a refusal that was delayed, when it is its turn."""
        if self._delayed:
            await pace.wait_turn(self.who)
        for message in self._delayed:
            await self.send(message)


def is_paced(message: Message) -> bool:
    """Return whether a message begins a refusal that says when to come again."""
    if message["type"] != "http.response.start" or message["status"] not in PACED_STATUSES:
        return False
    return any(name == b"retry-after" for name, _ in message["headers"])
