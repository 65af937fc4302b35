"""Parsing of requests: the surface takes its own parameters; the engine validates the remaining fields."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from django.http import QueryDict
from rest_framework.request import Request

from memory.actors import Actor
from memory.engines.fields.common import END_USER, STATED
from memory.engines.support import validation as c
from memory.engines.support.pagination import MAX_CURSOR_LENGTH
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Invalid, UnknownField

MAX_NAMES = 200

count = c.integer_check(0)
word = c.text_check(8000)
parse_point = c.parse_point
_safe = c.integer_check(-(2**53))


def parse_integer(name: str, value: Any) -> int:
    """Parse a whole number; the engine checks its range. Raises Invalid."""
    number = c.as_integer(value)
    if number is None:
        raise Invalid("{field} must be a whole number.", field=name)
    return _safe(name, number)


def parse_names(name: str, value: Any, most: int = MAX_NAMES) -> list[str]:
    """Parse a text or a list of texts. Raises Invalid."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or len(values) > most:
        raise Invalid("{field} must be a text or a list of at most {most}.", field=name, most=most)
    return [c.text_check(200)(name, item) for item in values]


def parse_object(name: str, value: Any) -> dict[str, Any]:
    """Parse an object; the engine checks what is in it. Raises Invalid."""
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object.", field=name)
    return value


def parse_ids(name: str, value: Any) -> list[UUID]:
    """Parse a list of ids; the engine limits their number. Raises Invalid."""
    if not isinstance(value, list):
        raise Invalid("{field} must be a list of ids.", field=name)
    return [c.parse_uuid(f"{name}[{index}]", item) for index, item in enumerate(value)]


# Query parameters are always texts: conversions to the value that a JSON body would have.
FROM_TEXT: dict[c.Check, Callable[[str], Any]] = {
    parse_integer: lambda text: int(text) if c.NUMBER.fullmatch(text) else text,
    count: lambda text: int(text) if c.NUMBER.fullmatch(text) else text,
    c.check_boolean: c.read_flag,
    parse_names: lambda text: text.split(","),
}


# Names that would pass as an argument of an engine's method instead of a field of a row.
ARGUMENTS = frozenset(
    ("self", "actor", "branch_name", "fact_id", "old_fact_id", "from_id", "conversation_id")
)


class Input:
    """Query and body of one request. Each name is taken once."""

    def __init__(self, request: Request) -> None:
        self.query: dict[str, Any] = {
            name: values if len(values) > 1 else values[0] for name, values in request.query_params.lists()
        }
        self.body = read_request_body(request)

    def holds(self, name: str) -> bool:
        """Return whether a value is left to take."""
        return name in self.query or name in self.body

    def take_value(
        self, name: str, check: c.Check, default: Any = None, read: Callable[[str], Any] | None = None
    ) -> Any:
        """Take a value from the query or the body; ``read`` makes the value of a text in the query.

        Raises Invalid if it is invalid or both differ.
        """
        found = []
        if name in self.query:
            value, read = self.query.pop(name), read or FROM_TEXT.get(check)
            found.append(check(name, read_values(value, read) if read else value))
        if name in self.body:
            found.append(check(name, self.body.pop(name)))
        if len(found) == 2 and found[0] != found[1]:
            raise Invalid("{field} is given twice, and differently.", field=name)
        return found[0] if found else default

    def take_needed(self, name: str, check: c.Check) -> Any:
        """Take a value that must be there. Raises Invalid."""
        if (value := self.take_value(name, check)) is None:
            raise Invalid("{field} is needed.", field=name)
        return value

    def take_branch(self, default: str = MAIN) -> str:
        """Take the branch, named ``branch`` or ``branch_name``. Raises Invalid if they differ."""
        self.accept_alias("branch_name", "branch")
        return self.take_value("branch", c.text_check(200)) or default

    def accept_alias(self, alias: str, name: str) -> None:
        """Read another name as the field ``name``. Raises Invalid if both are there and differ."""
        for source in (self.query, self.body):
            if alias not in source:
                continue
            value = source.pop(alias)
            if source.setdefault(name, value) != value:
                raise Invalid("{field} and {alias} say different things.", field=name, alias=alias)

    def take_actor(self, actor: Actor) -> Actor:
        """Return the actor with the request's session, task and agent ids. Raises AgentForbidden."""
        return actor.with_origin(**{one.name: self.take_value(one.name, one.check, "") for one in STATED})

    def take_end_user(self, actor: Actor) -> Actor:
        """Return the actor as it acts for the request's end user and app. Raises UserForbidden."""
        return actor.with_origin(**{one.name: self.take_value(one.name, one.check, "") for one in END_USER})

    def take_paging(self, default: int = 50) -> dict[str, Any]:
        """Take ``limit`` and ``cursor`` of a list."""
        return {
            "limit": self.take_value("limit", parse_integer, default),
            "cursor": self.take_value("cursor", c.text_check(MAX_CURSOR_LENGTH), ""),
        }

    def take_unchecked(self, known: Iterable[str]) -> dict[str, Any]:
        """Take all values of these names unchecked: the engine checks them."""
        found = {}
        for name in known:
            for source in (self.query, self.body):
                if name in source:
                    found[name] = source.pop(name)
        return found

    def take_fields(self, known: Collection[str] = ()) -> dict[str, Any]:
        """Return the rest of the body as the fields of a row, which the engine validates.

        With ``known``, only these names are allowed. Raises UnknownField.
        """
        self._refuse_unknown(self.query)
        self._refuse_unknown(name for name in self.body if name in ARGUMENTS or (known and name not in known))
        return dict(self.body)

    def refuse_others(self, in_query: Collection[str], in_body: Collection[str]) -> None:
        """Refuse every other name in the query and the body. Raises UnknownField."""
        self._refuse_unknown([name for name in self.query if name not in in_query])
        self._refuse_unknown([name for name in self.body if name not in in_body])

    def refuse_unknown(self) -> None:
        """Refuse unknown fields. Raises UnknownField for any unused name."""
        self._refuse_unknown(self.query)
        self._refuse_unknown(self.body)

    @staticmethod
    def _refuse_unknown(left: Iterable[str]) -> None:
        for name in left:
            raise UnknownField(field=name)


def read_values(value: str | list[str], read: Callable[[str], Any]) -> Any:
    """Return what ``read`` makes of a text; of several, their lists in one, else the texts as they are."""
    if isinstance(value, str):
        return read(value)
    parts = [read(text) for text in value]
    is_list = all(isinstance(part, list) for part in parts)
    return [item for part in parts for item in part] if is_list else value


class Query(Input):
    """The query of a request that Django does not handle."""

    def __init__(self, text: str) -> None:
        self.query = {
            name: values if len(values) > 1 else values[0]
            for name, values in parse_qs(text, keep_blank_values=True).items()
        }
        self.body = {}


class Values(Input):
    """Values that a surface has read by itself, such as those of a form."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.query, self.body = {}, dict(values)


def read_request_body(request: Request) -> dict[str, Any]:
    """Return a copy of the body's JSON object; {} without a body. Raises Invalid."""
    if request.method in ("GET", "HEAD"):
        return {}
    data = request.data
    if isinstance(data, QueryDict):  # no body at all
        return {}
    if not isinstance(data, dict):
        raise Invalid("The body must be a JSON object.")
    return dict(data)


def parse_id(text: str, name: str = "id") -> UUID:
    """Parse an id in a path. Raises Invalid."""
    return c.parse_uuid(name, text)


def read_id(query: Mapping[str, str], name: str) -> UUID | None:
    """Return the id in the query of a page's address; None without one. Raises Invalid."""
    return parse_id(text, name) if (text := query.get(name, "")) else None
