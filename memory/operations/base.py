"""An operation: a method of an engine that callers outside of Python may call.

Its parameters are those of the method: a name that every engine uses alike (``branch_name``, ``limit``) is
known by that name, any other says its field in the signature (``agent_id: Annotated[str, AGENT] = ""``), and
``**fields`` are fields of a noun. Path, answer and summary are declared beside it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from inspect import Parameter as Argument
from inspect import signature
from typing import Any, Literal, get_args, get_type_hints

from memory.engines.fields.base import Field, Use
from memory.engines.fields.common import END_USER, WAIT
from memory.engines.fields.filters import FilterField
from memory.engines.fields.types import Choice
from memory.engines.support.ordering import Ordering
from memory.engines.support.pagination import paginate
from memory.operations.columns import Column, describe_columns
from memory.operations.parameters import (
    COMMON,
    ORDERING,
    PAGING,
    Group,
    Parameter,
    make_filter_group,
    make_parameter,
)
from memory.tracing import tracing

Verb = Literal["get", "post", "patch", "put", "delete"]
PASSED_BY_SURFACE = frozenset({"self", "actor", "keep"})
GROUPS = frozenset({"filters", "updates"})  # arguments that take several values together
PLACE = re.compile(r"<(?:(?P<kind>int|path|uuid):)?(?P<name>\w+)>")


@dataclass(frozen=True)
class Answer:
    """What an operation answers: a serializer, and the function that makes such a row of the result.

    ``takes`` are the arguments of the operation that the rendering has as keywords (``branch``, ``actor``).
    ``codes`` are the statuses, where it is not 200, or 201 of ``create``; ``choose_code`` says which one of
    a result, ``is_created`` whether it was made now. Of a list ``is_whole`` renders the page, not a row;
    ``is_complete`` is one of all rows, which has no cursor.
    ``untold`` are the values of what is told once, in the answer that is kept for a repeated request.
    ``others`` are the serializers of statuses that answer another thing. ``files`` are its forms beside JSON
    by their names, such as ``csv``: a function of what was rendered and a name returns the response.
    """

    shape: type | None
    render: Callable[..., Any]
    is_created: Callable[[Any], bool] | None = None
    takes: tuple[str, ...] = ()
    codes: tuple[int, ...] = ()
    choose_code: Callable[[Any], int] | None = None
    is_whole: bool = False
    is_complete: bool = False
    untold: Mapping[str, Any] = field(default_factory=dict)
    others: Mapping[int, type] = field(default_factory=dict)
    files: Mapping[str, Callable[[Any, str], Any]] = field(default_factory=dict)

    def find_code(self, result: Any) -> int:
        """Return the status of the answer to a result; 0 for the usual one."""
        if self.is_created:
            return 201 if self.is_created(result) else 200
        return self.choose_code(result) if self.choose_code else next(iter(self.codes), 0)


GONE = Answer(None, lambda _: None, codes=(204,))  # done, and nothing to show


@dataclass(frozen=True)
class Row:
    """What names a row in an address: the argument of the methods, its name in the address, and its kind.

    ``find`` returns the argument of a text that names the row in another way, such as the end of its id.
    """

    argument: str
    place: str
    kind: str = ""
    pattern: str = "[^/]+"
    find: Callable[..., Any] | None = None  # (place, text, actor=, branch_name=)


@dataclass(frozen=True, eq=False)
class Operation:
    """A method of an engine with its place in the REST API.

    ``path`` goes on from the row that it is about, or from the list where ``row`` is None, with places as
    Django writes them (``objectives/<int:n>``). ``fields`` are what ``**fields`` of the method takes,
    ``origin`` what a caller may say of itself, ``without`` arguments that only Python gives, ``in_query``
    those that stand in the address though there is a body. ``body`` names that in OpenAPI, ``about``
    describes it. One that ``reads`` may be repeated though it is a POST; one that ``is_long`` runs outside of
    a transaction; of one that ``waits`` the caller may wait for the index. One that ``serves_end_users`` can
    be about the memory of one, whom the caller names; others refuse who acts for one. ``operation_id`` is its
    name in OpenAPI, where the path makes a misleading one.
    """

    name: str
    method: Callable[..., Any]
    summary: str
    answer: Answer
    verb: Verb = "post"
    path: str = ""
    row: Row | None = None
    model: Any = None
    body: str = ""
    about: str = ""
    example: Any = None
    fields: tuple[Field, ...] = ()
    origin: tuple[Field, ...] = ()
    without: tuple[str, ...] = ()
    in_query: tuple[str, ...] = ()
    filters: tuple[FilterField, ...] = ()
    order: Ordering | None = None
    columns: tuple[Column, ...] = ()
    prefix: str = ""
    reads: bool = False
    is_long: bool = False
    waits: bool = False
    serves_end_users: bool = False
    operation_id: str = ""

    @cached_property
    def places(self) -> dict[str, str]:
        """Return the arguments of the method that stand in its path, with their kinds."""
        own = {found["name"]: found["kind"] or "" for found in PLACE.finditer(self.path)}
        return {self.row.argument: self.row.kind, **own} if self.row else own

    @cached_property
    def arguments(self) -> dict[str, Argument]:
        """Return the arguments of its method by their names, those of ``**paging`` one by one."""
        known = dict(signature(self.method).parameters)
        if (paging := known.get("paging")) and (declared := get_args(paging.annotation)):
            del known["paging"]
            names = get_type_hints(*declared)
            known |= {one.name: one for one in signature(paginate).parameters.values() if one.name in names}
        return known

    @cached_property
    def is_paged(self) -> bool:
        return "cursor" in self.arguments

    @cached_property
    def answers_page(self) -> bool:
        """Return whether its answer is rows on a page, each rendered."""
        return self.answer.is_complete or (self.is_paged and not self.answer.is_whole)

    @cached_property
    def is_conditional(self) -> bool:
        """Return whether it can be asked to happen only at the version that the caller has read."""
        return "expected_version" in self.arguments

    def run(self, **arguments: Any) -> Any:
        """Call the method of its engine."""
        with tracing.span(self.method.__qualname__):
            return self.method(**arguments)

    @cached_property
    def keeps(self) -> bool:
        """Return whether its method stores the answer to a repeatable request in its own transaction."""
        return "keep" in self.arguments

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Return what it takes beside its path, in the order of the signature. Raises TypeError."""
        return tuple(self._list_parameters())

    @cached_property
    def inputs(self) -> tuple[Parameter, ...]:
        """Return its parameters, and what a caller may say of itself."""
        waits = (WAIT,) if self.waits else ()
        return (*self.parameters, *(Parameter(one, one.name) for one in (*self.stated, *waits)))

    @cached_property
    def stated(self) -> tuple[Field, ...]:
        """Return what a caller may say of itself and of whom it acts for."""
        taken = {one.name for one in self.parameters}
        own = (one for one in END_USER if self.serves_end_users and one.name not in taken)
        return (*self.origin, *own)

    def select_unpaged(self, parameters: Iterable[Parameter]) -> list[Parameter]:
        """Return the parameters without those that every list has, as every list has them."""
        if not self.is_paged:
            return list(parameters)
        return [one for one in parameters if one.field not in PAGING and one.name != ORDERING.name]

    def _list_parameters(self) -> Iterator[Parameter]:
        hints, arguments = get_type_hints(self.method, include_extras=True), self.arguments
        own = {one.name for one in self.fields}
        others = {*own, *self.places, *PASSED_BY_SURFACE, *GROUPS, *self.without}
        named = [one for one in arguments.values() if one.kind is not Argument.VAR_KEYWORD]
        for argument in named:
            if argument.name not in others:
                yield make_parameter(self._find_field(argument.name, hints.get(argument.name)), argument)
        rest = len(named) < len(arguments)  # **fields
        if unknown := [] if rest or "updates" in arguments else sorted(own - arguments.keys()):
            raise TypeError(f"{self.method.__qualname__} does not take {', '.join(unknown)}.")
        filters = make_filter_group(hints["filters"]) if "filters" in arguments else None
        if filters or rest:
            spare = (one for one in self.filters if one.name not in arguments)
            yield from (replace(make_parameter(one), group=filters) for one in spare)
        updates = Group("updates", dict) if "updates" in arguments else None
        is_written = bool(updates or rest)
        made = (make_parameter(one, arguments.get(one.name)) for one in self.fields)
        yield from (replace(one, is_written=is_written, group=updates) for one in made)

    def _find_field(self, name: str, hint: Any) -> Field:
        """Return the field that the signature states, or that every argument of this name is. Raises
        TypeError.
        """
        if name == ORDERING.name and self.order:
            return ORDERING.with_traits(type=Choice([(one, one) for one in self.order.names]))
        known = [one for one in getattr(hint, "__metadata__", ()) if isinstance(one, Field)]
        known += [COMMON[name]] if name in COMMON else []
        known += [one for one in self.filters if one.name == name]
        if not known:
            raise TypeError(f"{self.method.__qualname__} does not say what {name} is.")
        return known[0]

    def describe(self) -> dict[str, Any]:
        """Return it as plain data, for programs that do not load the engines.

        What a caller says of itself is there where commands offer it.
        """
        offered = [one for one in self.inputs if one.field not in self.stated or Use.OPTION in one.field.use]
        takes = [one.describe() for one in self.select_unpaged(offered)]
        about: dict[str, Any] = {"summary": self.summary, "verb": self.verb, "places": self.places}
        about["takes"] = takes
        about |= {"paged": self.is_paged, "sorted": bool(self.order)}
        about |= {"row": self.row.argument if self.row else False}
        about |= {"columns": describe_columns(self.columns) or False}
        return {name: value for name, value in about.items() if value is not False}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Return what its arguments are where they are not given."""
        return {one.argument: one.default for one in self.parameters}

    def bind_render(self, arguments: Mapping[str, Any]) -> Callable[[Any], Any]:
        """Return the rendering of a result, with the arguments that it takes."""
        known = {**self.defaults, **arguments}
        known["branch"] = known.get("branch_name")
        return partial(self.answer.render, **{name: known[name] for name in self.answer.takes})


RESOURCES: dict[str, "Resource"] = {}
USUAL: dict[str, tuple[Verb, bool]] = {  # verb, and whether it is of one row
    "list": ("get", False),
    "create": ("post", False),
    "retrieve": ("get", True),
    "partial_update": ("patch", True),
    "destroy": ("delete", True),
}


class Resource:
    """The operations at one prefix of the REST API; without a ``row`` none of them is about one.

    ``origin`` is what a caller may say of itself with each that writes.
    Keys of the server reach those that are ``is_of_server``, and no others.
    """

    def __init__(
        self,
        prefix: str,
        name: str,
        *,
        row: Row | None = None,
        model: Any = None,
        origin: tuple[Field, ...] = (),
        is_of_server: bool = False,
    ) -> None:
        self.prefix, self.name, self.row, self.model, self.origin = prefix, name, row, model, origin
        self.is_of_server = is_of_server
        self.operations: dict[str, Operation] = {}
        if RESOURCES.setdefault(prefix, self) is not self:
            raise ValueError(f"{prefix} is declared twice.")

    def add(
        self,
        name: str,
        method: Callable[..., Any],
        summary: str,
        answer: Answer,
        *,
        verb: Verb = "post",
        path: str | None = None,
        of_row: bool | str = True,
        row: Row | None = None,
        **traits: Any,
    ) -> None:
        """Declare an operation. One that DRF's router knows by name needs no verb and no path.

        ``of_row`` says whether it is about a row, or what its method calls that; ``row`` is one that the
        address names otherwise.
        """
        path = name if path is None else path
        if name in USUAL:
            (verb, of_row), path = USUAL[name], ""
        if name in self.operations or "<" in PLACE.sub("", path):
            raise ValueError(f"{self.prefix}.{name} is declared twice, or its path is not understood.")
        row = row or self.row
        if isinstance(of_row, str) and row:
            row = replace(row, argument=of_row)
        row = row if of_row else None
        if verb != "get":
            traits.setdefault("origin", self.origin)
        if traits.get("waits"):
            traits["in_query"] = (*traits.get("in_query", ()), WAIT.name)
        self.operations[name] = Operation(
            name, method, summary, answer, verb, path, row, self.model, prefix=self.prefix, **traits
        )

    def add_read(
        self, name: str, method: Callable[..., Any], summary: str, answer: Answer, **traits: Any
    ) -> None:
        """Declare an operation that answers a GET."""
        self.add(name, method, summary, answer, verb="get", **traits)

    def show(self, name: str, *columns: Column) -> None:
        """Declare the columns of a list, for its page and its command."""
        self.operations[name] = replace(self.operations[name], columns=columns)

    def __getitem__(self, name: str) -> Operation:
        return self.operations[name]

    @property
    def filters(self) -> tuple[FilterField, ...]:
        """Return the filters of its list."""
        return self.operations["list"].filters if "list" in self.operations else ()

    def write_path(self, operation: Operation) -> str:
        """Return the address of an operation under the root of the API, with the places in braces."""
        path = PLACE.sub(lambda found: f"{{{found['name']}}}", operation.path)
        row = f"{{{operation.row.argument}}}" if operation.row else ""
        return "/" + "/".join(part for part in (self.prefix, row, path) if part)


def find_operation(name: str) -> Operation:
    """Return an operation by its name, such as ``tasks.complete``."""
    prefix, _dot, own = name.partition(".")
    return RESOURCES[prefix][own]


def list_operations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every operation by its name, such as ``tasks.join``, as plain data."""
    for resource in RESOURCES.values():
        for operation in resource.operations.values():
            about: dict[str, Any] = {"path": resource.write_path(operation)}
            about |= {"of_server": True} if resource.is_of_server else {}
            yield f"{resource.prefix}.{operation.name}", about | operation.describe()
