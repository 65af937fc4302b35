"""``Day1`` and ``AsyncDay1``: every operation in groups by noun, and a few words that read well."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

import httpx

from day1_client.codes import Exists
from day1_client.operations import AsyncOperations, Operations
from day1_client.sending import AsyncSender, Sender, Target

if TYPE_CHECKING:
    from day1_client import types as t

URL = "http://127.0.0.1:8765"  # of `python3 manage.py up` on this machine
TIMEOUT = 60.0
Then = Literal["keep", "merge", "discard"]
Said = Sequence["t.RememberedMessageInput | str"]
M = TypeVar("M", bound="Placed")
D = TypeVar("D", bound="Day1")
A = TypeVar("A", bound="AsyncDay1")


def make_target(
    url: str | None, key: str | None, branch: str | None, user: str | None, agent: str | None, retries: int
) -> Target:
    """Return what is given, else what the environment says. Raises ValueError."""
    address = (url or os.environ.get("DAY1_URL") or URL).rstrip("/").removesuffix("/api/v1")
    session = os.environ.get("DAY1_SESSION")
    defaults = name_place(branch, user, agent) | ({"day1_session": session} if session else {})
    return Target(address, key or os.environ.get("DAY1_KEY", ""), defaults, retries)


def name_place(branch: str | None, user: str | None, agent: str | None) -> dict[str, str]:
    """Return what of these is given, by the API's names.

    Raises ValueError for a name that could be read as nobody's, which is everybody, or as several.
    """
    given = {"branch": branch, "user_id": user, "agent_id": agent}
    for field, name in given.items():
        if name is not None and (not name.strip() or "," in name):
            said = field.removesuffix("_id")
            raise ValueError(f"{said} is a name without commas, not {name[:50]!r}; None leaves it out.")
    return {field: name for field, name in given.items() if name is not None}


@dataclass(frozen=True)
class Recall:
    """What is known on a question: ``str()`` of it is for a prompt, a loop over it gives the facts."""

    answer: t.Found

    @property
    def known(self) -> bool:
        """Return whether what was found is likely to answer the question."""
        return self.answer["known"]

    @property
    def facts(self) -> list[t.FoundFact]:
        return [hit["fact"] for hit in self.answer["results"]]

    def __str__(self) -> str:
        context = self.answer["context"]
        return "\n".join(fact["essence"] for fact in self.facts) if context is None else context

    def __iter__(self) -> Iterator[t.FoundFact]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.answer["results"])


class Placed:
    """A memory that is on a branch, of an end user and used by an agent, as far as these are given."""

    sender: Any

    def on(self: M, *, branch: str | None = None, user: str | None = None, agent: str | None = None) -> M:
        """Return the same memory with another branch, end user or agent, over the same connections."""
        other, target = object.__new__(type(self)), self.sender.target
        defaults = {**target.defaults, **name_place(branch, user, agent)}
        other.sender = self.sender.like(replace(target, defaults=defaults))
        return other


class OnBranch:
    """A memory that a ``with`` block is about."""

    def __init__(
        self, parent: Any, name: str, then: Then = "keep", fields: Mapping[str, Any] | None = None
    ) -> None:
        self.name, self.parent, self.then, self.fields = name, parent, then, dict(fields or {})
        self.memory = parent.on(branch=name)
        self.sender = self.memory.sender
        self.is_open = True

    def on(self, *, branch: str | None = None, user: str | None = None, agent: str | None = None) -> Any:
        """Return this branch for another end user or agent; another branch is a memory, not this block."""
        return self.memory.on(branch=branch, user=user, agent=agent)


class Day1(Operations, Placed):
    """A memory on a Day1 server; ``DAY1_URL`` and ``DAY1_KEY`` say where, unless the arguments do.

    ``project`` is that of the key: where it is another one, the first call is refused. ``branch``, ``user``
    and ``agent`` stand in for what a call leaves out. ``http`` is an httpx client of your own: one for
    each process, since those that fork would read each other's answers.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        project: str | None = None,
        branch: str | None = None,
        user: str | None = None,
        agent: str | None = None,
        timeout: float = TIMEOUT,
        *,
        retries: int = 3,
        http: httpx.Client | None = None,
    ) -> None:
        target = make_target(url, key, branch, user, agent, retries)
        make = None if http else partial(httpx.Client, timeout=timeout)
        self.sender = Sender(target, http or httpx.Client(timeout=timeout), make)
        self.sender.project = project

    @overload
    def remember(self, what: str, **fields: Any) -> t.Written: ...
    @overload
    def remember(self, what: Said, **fields: Any) -> t.Remember: ...
    def remember(self, what: str | Said, **fields: Any) -> t.Written | t.Remember:
        """Store a text as a fact; or messages, of which Day1 learns what is worth keeping.

        ``fields`` are those of ``facts.create`` and of ``messages.remember``.
        """
        if isinstance(what, str):
            return self.facts.create(what, **fields)
        return self.messages.remember(as_messages(what), **fields)

    def recall(self, query: str, max_tokens: int | None = None, **options: Any) -> Recall:
        """Search facts. With ``max_tokens`` what was found is packed for a prompt.

        ``options`` are those of ``facts.search``.
        """
        return Recall(self.facts.search(query, max_tokens=max_tokens, **options))

    def branch(self, name: str, then: Then = "keep", **fields: Any) -> Branch:
        """Return a branch to work on, which a ``with`` begins, from this memory's branch.

        What is written on it stays there: nothing is merged unless ``then="merge"`` says so, or ``merge()``
        is called. After an error the branch is kept. ``fields`` are those of ``branches.create``.
        """
        return Branch(self, name, then, fields)

    def close(self) -> None:
        """Close the connections."""
        self.sender.http.close()

    def __enter__(self: D) -> D:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Branch(OnBranch, Day1):
    """A branch as a memory of its own: what is called on it happens there."""

    parent: Day1

    def __enter__(self) -> Branch:
        """Begin the branch, or go on with the one that has the name."""
        self.fields.setdefault("parent", self.parent.sender.target.defaults.get("branch"))
        with suppress(Exists):
            self.branches.create(self.name, **self.fields)
        return self

    def merge(self, **options: Any) -> t.Merge:
        """Merge into the branch that this one began from, as ``branches.merge`` does. Raises Conflict."""
        options.setdefault("target", self.fields.get("parent"))
        answer = self.branches.merge(self.name, **options)
        self.is_open = self.is_open and bool(options.get("dry_run"))
        return answer

    def discard(self) -> None:
        """Archive the branch: it takes no more writes, and ``branches.restore`` takes it back into use."""
        self.branches.delete(self.name)
        self.is_open = False

    def __exit__(self, kind: object = None, *_error: object) -> None:
        if kind is None and self.is_open and self.then == "merge":
            self.merge()
        elif kind is None and self.is_open and self.then == "discard":
            self.discard()


class AsyncDay1(AsyncOperations, Placed):
    """A memory on a Day1 server, as ``Day1`` is one; its methods are awaited."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        project: str | None = None,
        branch: str | None = None,
        user: str | None = None,
        agent: str | None = None,
        timeout: float = TIMEOUT,
        *,
        retries: int = 3,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        target = make_target(url, key, branch, user, agent, retries)
        make = None if http else partial(httpx.AsyncClient, timeout=timeout)
        self.sender = AsyncSender(target, http or httpx.AsyncClient(timeout=timeout), make)
        self.sender.project = project

    @overload
    async def remember(self, what: str, **fields: Any) -> t.Written: ...
    @overload
    async def remember(self, what: Said, **fields: Any) -> t.Remember: ...
    async def remember(self, what: str | Said, **fields: Any) -> t.Written | t.Remember:
        """Store a text as a fact; or messages, of which Day1 learns what is worth keeping."""
        if isinstance(what, str):
            return await self.facts.create(what, **fields)
        return await self.messages.remember(as_messages(what), **fields)

    async def recall(self, query: str, max_tokens: int | None = None, **options: Any) -> Recall:
        """Search facts. With ``max_tokens`` what was found is packed for a prompt."""
        return Recall(await self.facts.search(query, max_tokens=max_tokens, **options))

    def branch(self, name: str, then: Then = "keep", **fields: Any) -> AsyncBranch:
        """Return a branch to work on, which an ``async with`` begins; nothing is merged unless it is said."""
        return AsyncBranch(self, name, then, fields)

    async def close(self) -> None:
        """Close the connections."""
        await self.sender.http.aclose()

    async def __aenter__(self: A) -> A:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()


class AsyncBranch(OnBranch, AsyncDay1):
    """A branch as a memory of its own: what is called on it happens there."""

    parent: AsyncDay1

    async def __aenter__(self) -> AsyncBranch:
        """Begin the branch, or go on with the one that has the name."""
        self.fields.setdefault("parent", self.parent.sender.target.defaults.get("branch"))
        with suppress(Exists):
            await self.branches.create(self.name, **self.fields)
        return self

    async def merge(self, **options: Any) -> t.Merge:
        """Merge into the branch that this one began from, as ``branches.merge`` does. Raises Conflict."""
        options.setdefault("target", self.fields.get("parent"))
        answer = await self.branches.merge(self.name, **options)
        self.is_open = self.is_open and bool(options.get("dry_run"))
        return answer

    async def discard(self) -> None:
        """Archive the branch: it takes no more writes, and ``branches.restore`` takes it back into use."""
        await self.branches.delete(self.name)
        self.is_open = False

    async def __aexit__(self, kind: object = None, *_error: object) -> None:
        if kind is None and self.is_open and self.then == "merge":
            await self.merge()
        elif kind is None and self.is_open and self.then == "discard":
            await self.discard()


def as_messages(said: Said) -> list[t.RememberedMessageInput]:
    """Return messages, of which one that is a text is a person's. Raises TypeError for what is no list."""
    if isinstance(said, (bytes, Mapping)) or not isinstance(said, Iterable):
        raise TypeError(f"remember takes a text or a list of messages, not {type(said).__name__}.")
    return [
        cast("t.RememberedMessageInput", {"role": "user", "content": one} if isinstance(one, str) else one)
        for one in said
    ]
