"""The context of one call: the caller, its arguments, and the branch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from day1site.mcp_profiles import DEFAULT
from memory.actors import Actor
from memory.db.fields import dumps
from memory.engines.access.work_handles import Work, WorkEngine
from memory.engines.facts.short_ids import find_fact_id
from memory.engines.sessions.open_sessions import NOWHERE, Origin, find_origin
from memory.engines.support import validation as c
from memory.engines.support.idempotency import Keep, keep_nothing
from memory.engines.support.rate_limits import count_key_request
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.repositories import find_repository, parse_repository
from memory.exceptions import Invalid
from memory.operations.inputs import Input

SURFACE = "mcp"


@dataclass(frozen=True)
class Caller:
    """Connected client. ``branch`` and ``profile`` are those of the address or a header; ``rate`` 0 means no
    limit.
    """

    actor: Actor
    branch: str = ""
    rate: int = 0
    profile: str = DEFAULT
    origin: Origin = NOWHERE  # what it did not name, and its hooks tell
    base: str = ""  # the address of the server, where it has one
    is_located: bool = True  # else its hooks are asked for that once it calls

    def count(self) -> None:
        """Count a request. Raises RateLimited."""
        if self.rate:
            count_key_request(self.actor.id, self.rate, self.actor.project_id)

    def locate(self) -> "Caller":
        """Return the caller with the repository and the session that its hooks tell."""
        if self.is_located:
            return self
        named = self.actor.repository
        found = find_origin(self.actor, named)
        actor = replace(self.actor, repository=named or found.repository, session_id=found.session_id)
        origin = found._replace(repository="") if named else found
        return replace(self, actor=actor, origin=origin, is_located=True)

    @property
    def usual_branch(self) -> str:
        """Return the branch of calls that name none."""
        return self.branch or self.actor.default_branch or MAIN


def check_list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Invalid("{field} must be a list.", field=name)
    return value


class Arguments(Input):
    """Arguments of a call, each consumed once, as those of a request are."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.query, self.body = {}, dict(values)


class Call:
    """Context of a tool call."""

    def __init__(self, caller: Caller, arguments: Mapping[str, Any]) -> None:
        self.caller, self.inputs = caller.locate(), Arguments(arguments)
        self.canonical_arguments = dumps(dict(arguments))
        self.store: Callable[[dict[str, Any]], None] | None = None  # of the answer to a repeatable call

    def keep_answer(self, describe: Callable[[Any], dict[str, Any]]) -> Keep:
        """Return what a long tool hands to its engine: it stores the answer in the engine's transaction."""
        if (store := self.store) is None:
            return keep_nothing
        return lambda result: store(describe(result))

    @cached_property
    def actor(self) -> Actor:
        """Return the caller with the call's session, agent and task. Raises AgentForbidden."""
        return self.inputs.take_actor(self.caller.actor)

    def take_repository(self) -> str:
        """Take the repository that the caller works in: the argument, else that of the connection, else of
        the work handle, else of its session. Call it before ``actor``.
        """
        own, origin = self.caller.actor, self.caller.origin
        named = self.take("repository", parse_repository, "") or ("" if origin.repository else own.repository)
        named = named or (self.work.repository if self.work else "") or own.repository
        if origin.session_id and named != own.repository:
            own = replace(own, session_id="")  # it is of another repository
        if named:
            self.caller = replace(self.caller, actor=replace(own, repository=named))
        return find_repository(self.caller.actor)

    @cached_property
    def branch(self) -> str:
        """Return the named branch, else the work handle's, else the default one. Raises NotFound."""
        named, work = self.inputs.take_branch(default=""), self.work
        return named or (work.branch_name if work else self.caller.usual_branch)

    @cached_property
    def work(self) -> Work | None:
        """Return what the work handle stands for, if one is given. Raises NotFound."""
        work = self.inputs.take_value("work", c.plain_text, "")
        return WorkEngine().resume_work(work=work, actor=self.caller.actor) if work else None

    @property
    def reading(self) -> dict[str, Any]:
        """Return actor and branch, for tools whose session, agent and task arguments are filters."""
        return {"actor": self.caller.actor, "branch_name": self.branch}

    @property
    def where(self) -> dict[str, Any]:
        """Return actor and branch, as the engines' arguments."""
        return {"actor": self.actor, "branch_name": self.branch}

    def take(self, name: str, check: c.Check, default: Any = None) -> Any:
        return self.inputs.take_value(name, check, default)

    def need(self, name: str, check: c.Check) -> Any:
        """Return a required argument. Raises Invalid."""
        value = self.take(name, check)
        if value is None:
            raise Invalid("{field} is needed.", field=name)
        return value

    def need_fact_id(self, name: str = "fact_id") -> UUID:
        """Return the fact that an argument names, by its id or the end of it. Raises Invalid, NotFound."""
        return self._find_fact(name, self.need(name, lambda _, value: value))

    def need_fact_ids(self, most: int) -> list[UUID]:
        """Return the facts that ``fact_ids`` names. Raises Invalid, NotFound."""
        values = self.need("fact_ids", check_list)
        if not 1 <= len(values) <= most:
            raise Invalid("{field} must be a list of 1 to {most} ids.", field="fact_ids", most=most)
        return [self._find_fact(f"fact_ids[{index}]", value) for index, value in enumerate(values)]

    def _find_fact(self, name: str, value: Any) -> UUID:
        return find_fact_id(name, value, actor=self.caller.actor, branch_name=self.branch)

    def end(self) -> None:
        """Raise UnknownField for an argument that was not consumed."""
        self.inputs.refuse_unknown()
