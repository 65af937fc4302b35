"""Conditions on the value and the metadata of an item: parsed of JSON, and asked of each row."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from memory.db.fields import dumps
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.models import Fact

ROOTS = ("value", "metadata")
MAX_CONDITIONS = 20
MAX_VALUES = 100
ABSENT = object()


@dataclass(frozen=True)
class Condition:
    """One comparison of what a path leads to."""

    path: tuple[str, ...]
    operator: str
    operand: Any

    def matches(self, row: Fact) -> bool:
        found: Any = getattr(row, self.path[0])
        for segment in self.path[1:]:
            found = _step(found, segment)
        return OPERATORS[self.operator](found, self.operand)


def parse_conditions(name: str, value: Any) -> tuple[Condition, ...]:
    """Parse conditions, all of which must hold. Raises Invalid."""
    if value is None:
        return ()
    if not isinstance(value, Mapping) or len(value) > MAX_CONDITIONS:
        raise Invalid("{field} must be an object of at most {most} paths.", field=name, most=MAX_CONDITIONS)
    return tuple(one for path, stated in value.items() for one in _parse_path(name, path, stated))


def _parse_path(name: str, path: str, stated: Any) -> list[Condition]:
    segments, where = tuple(path.split(".")), f"{name}.{path}"
    if segments[0] not in ROOTS:
        raise Invalid("{field} must begin with value or metadata.", field=where)
    if not isinstance(stated, Mapping):
        return [Condition(segments, "eq", stated)]
    unknown = [one for one in stated if one not in OPERATORS]
    if unknown or not stated:
        word = f" {unknown[0]}" if unknown else ""
        raise Invalid(
            "{field} has no operator{word}: it is one of {known}.", field=where, word=word, known=KNOWN
        )
    return [
        Condition(segments, one, _check_operand(f"{where}.{one}", one, operand))
        for one, operand in stated.items()
    ]


def _check_operand(name: str, operator: str, operand: Any) -> Any:
    if operator in ORDERED and not (_is_number(operand) or isinstance(operand, str)):
        raise Invalid("{field} must be a number or a text.", field=name)
    if operator == "in" and not (isinstance(operand, list) and len(operand) <= MAX_VALUES):
        raise Invalid("{field} must be a list of at most {most}.", field=name, most=MAX_VALUES)
    if operator == "contains" and isinstance(operand, dict | list):
        raise Invalid("{field} must be one value.", field=name)
    return operand


def match_all(conditions: Sequence[Condition]) -> Callable[[Fact], bool]:
    """Return whether a row meets all conditions, as a function."""
    return lambda row: all(one.matches(row) for one in conditions)


def _step(found: Any, segment: str) -> Any:
    """Return what a segment of a path leads to: the value of an object, or the n-th of a list."""
    if isinstance(found, dict):
        return found.get(segment, ABSENT)
    if isinstance(found, list) and c.NUMBER.fullmatch(segment) and 0 <= int(segment) < len(found):
        return found[int(segment)]
    return ABSENT


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _equals(found: Any, operand: Any) -> bool:
    """Compare as JSON does: 1 is 1.0, and not true."""
    if _is_number(found) and _is_number(operand):
        return bool(found == operand)
    return found is not ABSENT and dumps(found) == dumps(operand)


def _compare(holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """Return a comparison of two numbers or two texts; of anything else it is false."""

    def compare(found: Any, operand: Any) -> bool:
        both = (found, operand)
        alike = all(map(_is_number, both)) or all(isinstance(one, str) for one in both)
        return alike and holds(found, operand)

    return compare


def _contains(found: Any, operand: Any) -> bool:
    if isinstance(found, str):
        return isinstance(operand, str) and operand in found
    return isinstance(found, list) and any(_equals(one, operand) for one in found)


ORDERED = ("gt", "gte", "lt", "lte")
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equals,
    "ne": lambda found, operand: not _equals(found, operand),
    "gt": _compare(lambda found, operand: found > operand),
    "gte": _compare(lambda found, operand: found >= operand),
    "lt": _compare(lambda found, operand: found < operand),
    "lte": _compare(lambda found, operand: found <= operand),
    "in": lambda found, operand: any(_equals(found, one) for one in operand),
    "contains": _contains,
}
KNOWN = ", ".join(OPERATORS)
