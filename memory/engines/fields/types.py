"""The types of fields: their limits, and the check that the engines apply."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.repository_names import ANY, normalise_repository

MAX_SAFE_INTEGER = 2**53  # the greatest whole number that every JSON reader keeps exact
METADATA_BYTES = 64 * 1024


@dataclass(frozen=True)
class Type:
    """What all types share. Secrets are taken out of a redacted one before it is stored."""

    redacted: ClassVar[bool] = False

    def build_check(self) -> c.Check:
        """Return the check of a value, without redaction."""
        raise NotImplementedError

    def read_text(self, text: str) -> Any:
        """Return the value that JSON would have for a text of an address; what it is not stays a text."""
        return text


@dataclass(frozen=True)
class Text(Type):
    """A text of limited length."""

    max_length: int
    min_length: int = 0
    published: bool = True  # whether the schema of a request states the least length
    redacted: ClassVar[bool] = True

    def build_check(self) -> c.Check:
        return c.text_check(self.max_length, min_length=self.min_length)


@dataclass(frozen=True)
class Reference(Text):
    """A text that names something elsewhere, such as a session: never redacted, many look random."""

    redacted: ClassVar[bool] = False


@dataclass(frozen=True)
class Pattern(Reference):
    """A text of one form, which ``regex`` publishes; its engine says what else it demands."""

    regex: str = ""


@dataclass(frozen=True)
class OwnerName(Reference):
    """The name of an end user or an app. It has no comma: these stand between names in an address."""

    def build_check(self) -> c.Check:
        check = super().build_check()

        def check_name(name: str, value: Any) -> str:
            if "," in (text := check(name, value)) or (text and not text.strip()):
                raise Invalid("{field} is a name without commas.", field=name)
            return text

        return check_name


@dataclass(frozen=True)
class Repository(Text):
    """A repository or a folder, in one form however it was written. ``*`` is none, or with ``any`` kept."""

    max_length: int = 1000
    any: bool = False

    def build_check(self) -> c.Check:
        check = c.text_check(self.max_length)

        def check_repository(name: str, value: Any) -> str:
            repository = check(name, normalise_repository(check(name, value)))  # lower case may be longer
            return "" if repository == ANY and not self.any else repository

        return check_repository


@dataclass(frozen=True)
class ListOf(Type):
    """A list of texts of one type. One with a limit names the place of what is wrong in it."""

    item: Type
    min_items: int = 0
    max_items: int = 0  # 0: no limit is published

    def build_check(self) -> c.Check:
        check, most = self.item.build_check(), self.max_items
        if most and self.item.redacted:
            check = c.redact_stored(check)

        def check_list(name: str, values: Any) -> list[Any]:
            if not isinstance(values, list | tuple | set | frozenset) or (most and len(values) > most):
                text = (
                    "{field} must be a list of at most {most} texts." if most else "{field} must be a list."
                )
                raise Invalid(text, field=name, **({"most": most} if most else {}))
            return [check(f"{name}[{n}]" if most else name, value) for n, value in enumerate(values)]

        return check_list

    def read_text(self, text: str) -> Any:
        return text.split(",")


@dataclass(frozen=True)
class LongText(Type):
    """A text of limited size in UTF-8. Only a ``blank`` one may be empty."""

    max_bytes: int
    blank: bool = False
    published: bool = True  # whether the schema of a request states the limit
    redacted: ClassVar[bool] = True

    def build_check(self) -> c.Check:
        full = c.long_text(self.max_bytes)
        return (lambda name, value: full(name, value) if value != "" else "") if self.blank else full


@dataclass(frozen=True)
class CutText(Type):
    """A text that is cut by its engine, never refused for its length; with ``json`` any value serves."""

    json: bool = False
    redacted: ClassVar[bool] = True

    def build_check(self) -> c.Check:
        return lambda _, value: value


@dataclass(frozen=True)
class Choice(Type):
    """One of the values of a model; ``reserved`` ones are written by Day1 alone."""

    choices: Sequence[tuple[str, Any]]
    reserved: tuple[str, ...] = ()

    @cached_property
    def values(self) -> list[str]:
        return [str(value) for value, _ in self.choices]

    @cached_property
    def open_choices(self) -> list[tuple[str, Any]]:
        """The choices that a caller may write."""
        return [choice for choice in self.choices if choice[0] not in self.reserved]

    def build_check(self) -> c.Check:
        return c.one_of(self.values)


@dataclass(frozen=True)
class OpenChoice(Choice):
    """One of some values, or one that is known no more, such as an action that an older version had."""

    def build_check(self) -> c.Check:
        return c.text_check(200)


@dataclass(frozen=True)
class Number(Type):
    """A number between two others."""

    low: float = 0
    high: float = 1

    def build_check(self) -> c.Check:
        return c.number_check(self.low, self.high)

    def read_text(self, text: str) -> Any:
        try:
            return float(text)
        except ValueError:
            return text


@dataclass(frozen=True)
class Whole(Type):
    """A whole number between two others."""

    low: int = 0
    high: int = MAX_SAFE_INTEGER

    def build_check(self) -> c.Check:
        return c.integer_check(self.low, self.high)

    def read_text(self, text: str) -> Any:
        return int(text) if c.NUMBER.fullmatch(text) else text


@dataclass(frozen=True)
class Flag(Type):
    """True or false; ``in_words`` is one that a body may also have as a text, as an address does."""

    in_words: bool = False

    def build_check(self) -> c.Check:
        return c.check_flag if self.in_words else c.check_boolean

    def read_text(self, text: str) -> Any:
        return c.read_flag(text)


@dataclass(frozen=True)
class Moment(Type):
    """A time in UTC."""

    def build_check(self) -> c.Check:
        return c.parse_time


@dataclass(frozen=True)
class Point(Type):
    """A point in a branch's past: a seq, a commit's id or a time."""

    def build_check(self) -> c.Check:
        return c.parse_point


@dataclass(frozen=True)
class Identifier(Type):
    """A UUID."""

    def build_check(self) -> c.Check:
        return c.parse_uuid


@dataclass(frozen=True)
class TagList(Type):
    """At most 50 different short texts."""

    max_items: ClassVar[int] = 50
    max_length: ClassVar[int] = 100
    redacted: ClassVar[bool] = True

    def build_check(self) -> c.Check:
        return c.parse_tags

    def read_text(self, text: str) -> Any:
        return text.split(",")


@dataclass(frozen=True)
class ObjectList(Type):
    """A list of JSON objects, of limited size together."""

    max_bytes: int
    redacted: ClassVar[bool] = True

    def build_check(self) -> c.Check:
        return c.json_objects(self.max_bytes)


@dataclass(frozen=True)
class JSONObject(Type):
    """A JSON object of limited size."""

    max_bytes: int = METADATA_BYTES
    redacted: ClassVar[bool] = True

    def build_check(self) -> c.Check:
        return c.json_object(self.max_bytes)


@dataclass(frozen=True)
class JSONValue(Type):
    """JSON of any kind and of limited size, stored as it is given."""

    max_bytes: int = METADATA_BYTES

    def build_check(self) -> c.Check:
        return c.json_value(self.max_bytes)

    def read_text(self, text: str) -> Any:
        try:
            return json.loads(text)
        except ValueError:
            return text


@dataclass(frozen=True)
class Record(Type):
    """A JSON object of fields, which its engine checks; OpenAPI knows it by its name."""

    name: str
    about: str
    fields: tuple[Any, ...] = field(compare=False)  # each a Field

    def build_check(self) -> c.Check:
        return lambda _, value: value


@dataclass(frozen=True)
class Versions(Type):
    """The versions that were read of some rows, by their ids."""

    def build_check(self) -> c.Check:
        return c.parse_versions
