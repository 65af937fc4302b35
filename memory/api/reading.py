"""What a request says. The surface takes its own words out; what is left over belongs to the engine."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.http import QueryDict
from rest_framework.request import Request

from memory.actors import Actor
from memory.engines import cleaning as c
from memory.engines.branches import MAIN
from memory.engines.fact_rules import STATED
from memory.exceptions import Invalid, UnknownField

NUMBER = re.compile(r"[+-]?\d{1,18}")
LONGEST_CURSOR = 500
MOST_NAMES = 200

count = c.integer(0)
word = c.text(8000)
_safe = c.integer(-(2**53))


def whole(name: str, value: Any) -> int:
    """A whole number; its range is the engine's to say."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid("{field} must be a whole number.", field=name)
    return _safe(name, value)


def names(name: str, value: Any) -> list[str]:
    """One text or a list of texts."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or len(values) > MOST_NAMES:
        raise Invalid("{field} must be a text or a list of at most {most}.", field=name, most=MOST_NAMES)
    return [c.text(200)(name, item) for item in values]


def ids(name: str, value: Any) -> list[UUID]:
    """A list of ids; how many there may be is the engine's to say."""
    if not isinstance(value, list):
        raise Invalid("{field} must be a list of ids.", field=name)
    return [c.identifier(f"{name}[{place}]", item) for place, item in enumerate(value)]


def versions(name: str, value: Any) -> dict[UUID, int]:
    """An object that says of some facts, by id, at which version they were read."""
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object of ids and versions.", field=name)
    return {c.identifier(name, uid): count(f"{name}.{uid}"[:200], n) for uid, n in value.items()}


def point(name: str, value: Any) -> int | UUID | datetime:
    """A point in a branch's past: a seq, a commit's id or a time."""
    try:
        return _point(name, value)
    except Invalid:
        raise Invalid("{field} must be a seq, a commit's id or a time in ISO 8601.", field=name) from None


def _point(name: str, value: Any) -> int | UUID | datetime:
    if not isinstance(value, str):
        return count(name, value)
    if NUMBER.fullmatch(value):
        return count(name, int(value))
    try:
        return UUID(value)
    except ValueError:
        return c.moment(name, value)  # type: ignore[return-value]  # None comes only from None


# A query parameter is always a text: how each check gets the value that a JSON body would hold.
FROM_TEXT: dict[c.Check, Callable[[str], Any]] = {
    whole: lambda text: int(text) if NUMBER.fullmatch(text) else text,
    count: lambda text: int(text) if NUMBER.fullmatch(text) else text,
    c.boolean: lambda text: {"true": True, "false": False}.get(text, text),
    names: lambda text: text.split(","),
}


# Words that would pass as an argument of an engine's method instead of a field of a row.
ARGUMENTS = frozenset(
    ("self", "actor", "branch_name", "fact_id", "old_fact_id", "from_id", "conversation_id")
)  # fmt: skip


class Input:
    """Query and body of one request. Every word is taken once; ``rest`` is what nobody took."""

    def __init__(self, request: Request) -> None:
        self.query: dict[str, Any] = {
            name: values if len(values) > 1 else values[0] for name, values in request.query_params.lists()
        }
        self.body = body_of(request)

    def take(self, name: str, check: c.Check, default: Any = None) -> Any:
        """The value of a word, from the query or the body. Raises Invalid."""
        found = []
        if name in self.query:
            found.append(check(name, self._typed(check, self.query.pop(name))))
        if name in self.body:
            found.append(check(name, self.body.pop(name)))
        if len(found) == 2 and found[0] != found[1]:
            raise Invalid("{field} is given twice, and differently.", field=name)
        return found[0] if found else default

    @staticmethod
    def _typed(check: c.Check, value: Any) -> Any:
        """What a JSON body would hold. A parameter given twice stays a list, which most checks refuse."""
        convert = FROM_TEXT.get(check)
        if convert is None:
            return value
        if isinstance(value, list):
            return [part for text in value for part in text.split(",")] if check is names else value
        return convert(value)

    def branch(self, default: str = MAIN) -> str:
        """The branch, called ``branch`` or ``branch_name``."""
        given = [self.take(name, c.text(200)) for name in ("branch", "branch_name")]
        said = [name for name in given if name is not None]
        if len(set(said)) > 1:
            raise Invalid("branch and branch_name name different branches.", field="branch")
        return said[0] if said and said[0] else default

    def actor(self, actor: Actor) -> Actor:
        """The actor with what the request states of itself. Raises AgentForbidden."""
        stated = {name: self.take(name, check, "") for name, check in STATED.items()}
        return actor.stating(**stated) if any(stated.values()) else actor

    def paging(self, default: int = 50) -> dict[str, Any]:
        """``limit`` and ``cursor`` of a list."""
        cursor = c.text(LONGEST_CURSOR)
        return {"limit": self.take("limit", whole, default), "cursor": self.take("cursor", cursor, "")}

    def some(self, known: Iterable[str]) -> dict[str, Any]:
        """All words of these names, as they are: the engine checks them."""
        found = {}
        for name in known:
            for source in (self.query, self.body):
                if name in source:
                    found[name] = source.pop(name)
        return found

    def rest(self) -> Mapping[str, Any]:
        """The rest of the body. Raises UnknownField for a query parameter that nobody took."""
        self._refuse(self.query)
        return self.body

    def fields(self, known: Collection[str] = ()) -> dict[str, Any]:
        """The rest of the body as the fields of a row, which the engine checks: one of ``known`` where it
        knows no others. Raises UnknownField.
        """
        found = dict(self.rest())
        for name in found:
            if name in ARGUMENTS or (known and name not in known):
                raise UnknownField(field=name)
        return found

    def end(self) -> None:
        """Raises UnknownField for anything that nobody took."""
        self._refuse(self.query)
        self._refuse(self.body)

    @staticmethod
    def _refuse(left: Mapping[str, Any]) -> None:
        for name in left:
            raise UnknownField(field=name)


class Query(Input):
    """The query of a request that Django does not see."""

    def __init__(self, text: str) -> None:
        self.query = {
            name: values if len(values) > 1 else values[0]
            for name, values in parse_qs(text, keep_blank_values=True).items()
        }
        self.body = {}


def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of the body, a copy; {} without one. Raises Invalid."""
    if request.method in ("GET", "HEAD"):
        return {}
    data = request.data
    if isinstance(data, QueryDict):  # no body at all
        return {}
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    return dict(data)


def identity(text: str, name: str = "id") -> UUID:
    """The id in a path. Raises Invalid."""
    return c.identifier(name, text)
