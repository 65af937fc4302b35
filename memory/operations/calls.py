"""An operation carried out for surfaces whose values are no request, and what stands in its path."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.engines.fields.common import WAIT
from memory.engines.support import validation as c
from memory.operations.base import Operation
from memory.operations.inputs import Values, parse_integer
from memory.operations.parameters import take_parameters


def parse_key(name: str, text: str) -> UUID | int:
    """Return the id of a row or its number in the project. Raises Invalid."""
    is_number = text.isascii() and text.isdigit() and len(text) < 10
    return int(text) if is_number else c.parse_uuid(name, text)


PARSERS: dict[str, Callable[[str, str], Any]] = {
    "int": lambda name, text: parse_integer(name, int(text) if c.NUMBER.fullmatch(text) else text),
    "uuid": c.parse_uuid,
    "key": parse_key,
    "path": lambda _, text: text,
    "": lambda _, text: text,
}


def read_place(name: str, kind: str, value: Any) -> Any:
    """Return a value of a path; a text is read as its kind says. Raises Invalid."""
    return PARSERS[kind](name, value) if isinstance(value, str) else value


def call_operation(
    operation: Operation, actor: Actor, values: Mapping[str, Any], places: Mapping[str, Any]
) -> Any:
    """Return what its method returns. ``places`` stand in its path, ``values`` are what it takes beside.

    Raises Invalid for the first value that is missing or wrong, then as the method does.
    """
    arguments = take_parameters(operation.inputs, Values(values))
    origin = {one.name: arguments.pop(one.name) for one in operation.stated if one.name in arguments}
    if any(origin.values()):
        actor = actor.with_origin(**origin)
    arguments.pop(WAIT.name, None)  # for who reads the answer
    if not operation.serves_end_users:
        actor.require_every_user()
    own = {name: read_place(name, kind, places[name]) for name, kind in operation.places.items()}
    return operation.run(**own, **arguments, actor=actor)
