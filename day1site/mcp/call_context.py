"""One call: who makes it, what it says, and on which branch it works."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memory.actors import Actor
from memory.api.reading import Input
from memory.db.fields import dumps
from memory.engines import cleaning as c
from memory.engines.branches import MAIN
from memory.engines.handles import WorkEngine
from memory.engines.rates import count_request
from memory.exceptions import Invalid

SURFACE = "mcp"


@dataclass(frozen=True)
class Caller:
    """Who is connected. ``branch`` is that of the address or a header; ``rate`` 0 knows no limit."""

    actor: Actor
    branch: str = ""
    rate: int = 0

    def count(self) -> None:
        """Count a request. Raises RateLimited."""
        if self.rate:
            count_request(self.actor.id, self.rate)

    @property
    def usual_branch(self) -> str:
        """Where a call works that names none."""
        return self.branch or self.actor.default_branch or MAIN


class Given(Input):
    """The arguments of a call, taken once each as those of a request are."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.query, self.body = {}, dict(values)


class Call:
    """What a tool works with."""

    def __init__(self, caller: Caller, arguments: Mapping[str, Any]) -> None:
        self.caller, self.given = caller, Given(arguments)
        self.said = dumps(dict(arguments))

    @cached_property
    def actor(self) -> Actor:
        """The caller, with what the call states of itself. Raises AgentForbidden."""
        return self.given.actor(self.caller.actor)

    @cached_property
    def branch(self) -> str:
        """The branch named, else that of the work handle, else the usual one. Raises NotFound."""
        named = self.given.branch(default="")
        work = self.given.take("work", c.plain_text, "")
        if named or not work:
            return named or self.caller.usual_branch
        return WorkEngine().branch_of(work=work, actor=self.caller.actor)

    @property
    def reading(self) -> dict[str, Any]:
        """Who and where, for tools whose session, agent and task are filters."""
        return {"actor": self.caller.actor, "branch_name": self.branch}

    @property
    def where(self) -> dict[str, Any]:
        """Who and where, as the engines take it."""
        return {"actor": self.actor, "branch_name": self.branch}

    def take(self, name: str, check: c.Check, default: Any = None) -> Any:
        return self.given.take(name, check, default)

    def need(self, name: str, check: c.Check) -> Any:
        """An argument that must be there. Raises Invalid."""
        value = self.take(name, check)
        if value is None:
            raise Invalid("{field} is needed.", field=name)
        return value

    def end(self) -> None:
        """Raises UnknownField for an argument that nobody took."""
        self.given.end()
