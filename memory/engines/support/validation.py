"""Validation of callers' values, the same for every surface. Each refusal names the field."""

import json
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from django.utils.dateparse import parse_datetime

from memory import redaction
from memory.db.fields import dumps
from memory.exceptions import Invalid, TooLarge, UnknownField
from memory.models import Project

Check = Callable[[str, Any], Any]
Item = TypeVar("Item")
NUMBER = re.compile(r"[+-]?\d{1,18}")  # a whole number in an address
# An escaped NUL in JSON; after an odd number of backslashes it is the text \\u0000 itself.
NUL_IN_JSON = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


def validate(values: Mapping[str, Any], checks: Mapping[str, Check]) -> dict[str, Any]:
    """Validate the values; return them in the form of their fields. Raises UnknownField, Invalid,
    TooLarge.
    """
    found = {}
    for name, value in values.items():
        if (check := checks.get(name)) is None:
            raise UnknownField(field=name)
        found[name] = check(name, value)
    return found


def drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters that were given: "" and None filter nothing."""
    return {name: value for name, value in values.items() if value}


def redact_stored(check: Check) -> Check:
    """Return a check that also removes and counts secrets, for fields that others read.

    Ids are not checked this way: many look random, as secrets do.
    """

    def check_redacted(name: str, value: Any) -> Any:
        value = check(name, value)
        if value is None or (found := without_secrets(name, value)) == value:
            return value
        return check(name, found)

    return check_redacted


def without_secrets(name: str, value: Any) -> Any:
    """Return a text or JSON value without its secrets, and note its name and their number for the response.

    In a project that keeps secrets the value is returned as it is.
    """
    found = redaction.redact_all(value)
    if found != value and found != redaction.limit_depth(value):
        if secrets_found.are_kept():
            return value
        secrets_found.add(name, redaction.count_marks(found) - redaction.count_marks(value))
    return found


def refuse_secret(name: str, value: str, *, drawn: bool = True) -> None:
    """Refuse the name of a new row that holds a secret: others refer to it, so it cannot be redacted.

    Without ``drawn`` it may look random, as ids do. Raises Invalid, which does not repeat the name.
    """
    if (kind := redaction.find_kind(value, drawn=drawn)) and not secrets_found.are_kept():
        mark = f"{redaction.MARK}{kind}]"
        raise Invalid(
            "The name looks like it holds a secret ({mark}): choose another.", mark=mark, field=name
        )


class SecretsFound:
    """The secrets removed from this thread's writes since they were last read: in which fields, how many."""

    def __init__(self) -> None:
        self._local = threading.local()

    def start(self, project_id: UUID) -> None:
        """Begin anew, for a call that writes to a project."""
        self.take()
        self._local.project_id = project_id

    def are_kept(self) -> bool:
        """Return whether the project of this call stores secrets; False where none is known."""
        self._local.seen = self.get_seen() + 1
        project_id = getattr(self._local, "project_id", None)
        return Project.objects.filter(pk=project_id, redact_secrets=False).exists() if project_id else False

    def add(self, name: str, count: int) -> None:
        self._local.count = getattr(self._local, "count", 0) + max(count, 1)
        if not hasattr(self._local, "fields"):
            self._local.fields = {}
        self._local.fields[f"{getattr(self._local, 'place', '')}{name}"] = None

    def walk(self, name: str, items: Sequence[Item]) -> Iterator[Item]:
        """Yield the items of a list; fields of one of several are named by its place, such as facts[2]."""
        for at, item in enumerate(items):
            self._local.place = f"{name}[{at}]." if len(items) > 1 else ""
            yield item
        self._local.place = ""

    def list_fields(self) -> list[str]:
        """Return the names of the fields, in the order in which they were checked."""
        return list(getattr(self._local, "fields", ()))

    def get_seen(self) -> int:
        """Return how many secrets this thread has come upon, kept or removed."""
        return getattr(self._local, "seen", 0)

    def get_count(self) -> int:
        return getattr(self._local, "count", 0)

    def take(self) -> int:
        """Return the number of secrets, and forget all; the call is over."""
        count = self.get_count()
        self._local.count, self._local.project_id, self._local.fields, self._local.place = 0, None, {}, ""
        return count


secrets_found = SecretsFound()


def text_check(max_length: int, *, min_length: int = 0) -> Check:
    """Return a check for a string of ``min_length`` to ``max_length`` characters without NUL."""

    def check_text(name: str, value: Any) -> str:
        value = plain_text(name, value)
        if len(value) > max_length:
            raise Invalid("{field} has at most {most} characters.", field=name, most=max_length)
        if len(value.strip()) < min_length:
            raise Invalid("{field} may not be empty.", field=name)
        return value

    return check_text


def long_text(most_bytes: int) -> Check:
    """Return a check for a string that is not blank, of at most so many bytes in UTF-8."""

    def check_text(name: str, value: Any) -> str:
        value = plain_text(name, value)
        if len(value) * 4 > most_bytes and len(value.encode()) > most_bytes:
            raise TooLarge(what=name, limit=f"{most_bytes // 1024} KiB", field=name)
        if not value.strip():
            raise Invalid("{field} may not be empty.", field=name)
        return value

    return check_text


def plain_text(name: str, value: Any) -> str:
    """Check for a string that every database can store."""
    if not isinstance(value, str):
        raise Invalid("{field} must be a text.", field=name)
    if "\x00" in value:
        raise Invalid("{field} holds a NUL character, which no text may.", field=name)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Invalid(
                "{field} is not valid Unicode: it holds half a surrogate pair.", field=name
            ) from None
    return value


def one_of(allowed: Collection[str]) -> Check:
    def check_choice(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise Invalid("{field} must be one of {allowed}.", field=name, allowed=", ".join(sorted(allowed)))
        return value

    return check_choice


def blank_or(check: Check) -> Check:
    """Return a check that lets "" pass: an empty filter filters nothing."""
    return let_pass(("",), check)


def let_pass(values: Collection[Any], check: Check) -> Check:
    """Return a check that lets these values pass."""
    return lambda name, value: value if value in values else check(name, value)


def number_check(low: float, high: float) -> Check:
    def check_number(name: str, value: Any) -> float:
        right = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
        if not right:
            raise Invalid("{field} must be a number from {low} to {high}.", field=name, low=low, high=high)
        return float(value)

    return check_number


def as_integer(value: Any) -> int | None:
    """Return a whole number, which JSON may also write as 5.0; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value)


def integer_check(low: int, high: int = 2**53) -> Check:
    def check_integer(name: str, value: Any) -> int:
        number = as_integer(value)
        if number is None or not low <= number <= high:
            raise Invalid(
                "{field} must be a whole number from {low} to {high}.", field=name, low=low, high=high
            )
        return number

    return check_integer


_check_seq = integer_check(0)


def check_boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise Invalid("{field} must be true or false.", field=name)
    return value


def read_flag(text: str) -> bool | str:
    """Return the value of the text true or false, and any other text as it is."""
    return {"true": True, "false": False}.get(text, text)


def check_flag(name: str, value: Any) -> bool:
    """Check true or false, which a query has as a text. Raises Invalid."""
    return check_boolean(name, read_flag(value) if isinstance(value, str) else value)


def parse_time(name: str, value: Any) -> datetime | None:
    """Parse a time to UTC, from a datetime or ISO 8601; without a zone it is UTC; None stays None."""
    if value is None or isinstance(value, datetime):
        parsed = value
    else:
        parsed = parse_iso(value)
        if parsed is None:
            raise Invalid("{field} must be a time in ISO 8601, such as 2026-05-01T12:00:00Z.", field=name)
    if parsed is None:
        return None
    try:
        return parsed.replace(tzinfo=UTC) if parsed.tzinfo is None else parsed.astimezone(UTC)
    except OverflowError:
        raise Invalid("{field} is a time outside of the years 1 to 9999 in UTC.", field=name) from None


def parse_iso(value: Any) -> datetime | None:
    try:
        return parse_datetime(value) or datetime.fromisoformat(value)
    except (TypeError, ValueError, OverflowError):
        return None


def parse_uuid(name: str, value: Any) -> UUID:
    """Parse a UUID, from one or from its text."""
    if isinstance(value, UUID):
        return value
    try:
        return UUID(value)
    except (TypeError, ValueError, AttributeError):
        raise Invalid("{field} must be a UUID.", field=name) from None


def parse_versions(name: str, value: Any) -> dict[UUID, int]:
    """Parse an object of ids and the versions that were read. Raises Invalid."""
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object of ids and versions.", field=name)
    check = integer_check(0)
    return {parse_uuid(name, uid): check(f"{name}.{uid}"[:200], n) for uid, n in value.items()}


def parse_point(name: str, value: Any) -> int | UUID | datetime:
    """Parse a point in a branch's past: a seq, a commit's id or a time. Raises Invalid."""
    if isinstance(value, UUID | datetime):
        return value
    try:
        return _parse_point(name, value)
    except Invalid:
        raise Invalid("{field} must be a seq, a commit's id or a time in ISO 8601.", field=name) from None


def _parse_point(name: str, value: Any) -> int | UUID | datetime:
    if not isinstance(value, str):
        return _check_seq(name, value)
    if NUMBER.fullmatch(value):
        return _check_seq(name, int(value))
    try:
        return UUID(value)
    except ValueError:
        moment = parse_time(name, value)
        assert moment is not None  # which comes only from None
        return moment


def optional_check(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


_check_tag = text_check(100, min_length=1)


def parse_tags(name: str, value: Any) -> list[str]:
    """Check for at most 50 distinct short texts without a comma, which separates them in filters."""
    if not isinstance(value, list | tuple) or len(value) > 50:
        raise Invalid("{field} must be a list of at most 50 texts.", field=name)
    found = list(dict.fromkeys(_check_tag(name, tag) for tag in value))
    if any("," in tag for tag in found):
        raise Invalid("A tag in {field} may not hold a comma.", field=name)
    return found


def json_object(most_bytes: int) -> Check:
    """Return a check for a JSON object of limited size that every database can store."""

    check_value = json_value(most_bytes)

    def check_object(name: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Invalid("{field} must be an object.", field=name)
        found: dict[str, Any] = check_value(name, value)
        return found

    return check_object


def json_value(most_bytes: int) -> Check:
    """Return a check for JSON of any kind, of limited size, that every database can store."""

    def check_value(name: str, value: Any) -> Any:
        try:
            packed = dumps(value)
            value = json.loads(packed, parse_constant=_no_constant)  # as it will be read again
            plain_text(name, packed)
        except (TypeError, ValueError, RecursionError):
            raise Invalid("{field} must be plain JSON.", field=name) from None
        if NUL_IN_JSON.search(packed):
            raise Invalid("{field} holds a NUL character, which no text may.", field=name)
        if len(packed.encode()) > most_bytes:
            raise TooLarge(what=name, limit=f"{most_bytes // 1024} KiB", field=name)
        return value

    return check_value


def json_objects(most_bytes: int) -> Check:
    """Return a check for a list of JSON objects of limited size. Raises Invalid, TooLarge."""
    check_object = json_object(most_bytes)

    def check_objects(name: str, value: Any) -> list[Any]:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise Invalid("{field} must be a list of objects.", field=name)
        checked: list[Any] = check_object(name, {"calls": value})["calls"]
        return checked

    return check_objects


def _no_constant(name: str) -> Any:
    raise ValueError(name)
