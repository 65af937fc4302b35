"""A field and a noun: plain declarations, from which engines and surfaces derive what they need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from functools import cached_property
from typing import Any

from memory.engines.fields.types import Type
from memory.engines.support import validation as c


class Use(Flag):
    """Where a field may be written or read."""

    CREATE = auto()  # given when the noun is made
    UPDATE = auto()  # given when it is changed
    STATE = auto()  # given with any write, and part of the commit: who writes
    INHERIT = auto()  # taken over from the one that it replaces
    ANSWER = auto()  # read in an answer
    VERSION = auto()  # read in an answer about one version: no part of what stands outside the history
    TOOL_CREATE = auto()  # offered by the MCP tool that makes one
    TOOL_UPDATE = auto()  # offered by the MCP tools that change one
    TOOL_ANSWER = auto()  # read in the answer of an MCP tool
    TOOL_BRIEF = auto()  # read in the short answer of an MCP tool that wrote
    FORM = auto()  # offered by the form of the pages
    IMPORT = auto()  # taken over from a line of a file
    IGNORED = auto()  # may stand in a line of a file and is left to the store
    EXPORT = auto()  # written into a line of a file

    @property
    def names(self) -> list[str]:
        """Return the names of its parts in lower case."""
        return [str(one.name).lower() for one in self]


NO_USE = Use(0)
READ = Use.ANSWER | Use.VERSION
WRITE = Use.CREATE | Use.UPDATE
TOOLS = Use.TOOL_CREATE | Use.TOOL_UPDATE | Use.TOOL_ANSWER
LINE = Use.IMPORT | Use.EXPORT
EVERYWHERE = READ | WRITE | TOOLS | Use.FORM | LINE


@dataclass(frozen=True)
class Field:
    """One field of a noun.

    ``help`` is for who writes it, ``answer_help`` for who reads it, ``tool_help`` for models (``help``
    without one), ``label`` and ``form_help`` for the pages.
    """

    name: str
    type: Type
    help: str = ""
    use: Use = EVERYWHERE
    required: bool = False  # when it is made
    null: bool = False
    answer_null: bool = False  # null in answers alone
    attribute: str = ""  # of the model's row, where it has another name
    default: Any = None  # what the store writes when it is not given
    answer_help: str = ""
    tool_help: str = ""
    label: Any = ""
    form_label: Any = ""  # in a form, where it differs
    form_help: Any = ""
    suggestions: str = ""  # the id of the page's list of values that are offered
    tool_excludes: tuple[str, ...] = ()  # choices that the MCP tools do not offer

    @cached_property
    def check(self) -> c.Check:
        """Return the check that an engine applies."""
        check = self.type.check()
        check = c.redact_stored(check) if self.type.redacted else check
        return c.optional_check(check) if self.null else check

    @property
    def title(self) -> Any:
        """Return the label in a form, or the name as words."""
        return self.form_label or self.label or self.name.replace("_", " ").capitalize()

    def changed(self, **changes: Any) -> "Field":
        """Return the same field with some traits changed."""
        return replace(self, **changes)

    def optional(self) -> "Field":
        """Return the same field where nothing is required."""
        return self.changed(required=False) if self.required else self


class Noun(Sequence[Field]):
    """The fields of one noun, in the order of its answers."""

    def __init__(self, name: str, *fields: Field) -> None:
        self.name, self.fields = name, fields
        self._by_name = {field.name: field for field in fields}

    def __getitem__(self, name: Any) -> Any:
        return self.fields[name] if isinstance(name, int | slice) else self._by_name[name]

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def used(self, use: Use, without: Use = NO_USE) -> tuple[Field, ...]:
        """Return the fields with all of these uses and none of the others."""
        return tuple(field for field in self.fields if use in field.use and not field.use & without)

    def names(self, use: Use, without: Use = NO_USE) -> tuple[str, ...]:
        """Return the names of the fields with these uses."""
        return tuple(field.name for field in self.used(use, without))

    def checks(self, use: Use, without: Use = NO_USE) -> dict[str, c.Check]:
        """Return the checks of the fields with these uses, by name."""
        return {field.name: field.check for field in self.used(use, without)}

    def describe(self) -> list[dict[str, Any]]:
        """Return the fields as plain data, for programs that do not load the engines."""
        return [describe_field(field) for field in self.fields]


def describe_field(field: Field) -> dict[str, Any]:
    """Return a field as plain data: name, type with its limits, help, default and uses."""
    words = {"help": field.help, "tool_help": field.tool_help, "label": str(field.title)}
    traits = {"default": field.default, "required": field.required, "null": field.null}
    return {"name": field.name, **describe_type(field.type), **words, **traits, "use": field.use.names}


def describe_type(kind: Type) -> dict[str, Any]:
    """Return a type as plain data: its name and its limits."""
    limits = {name: _describe_limit(name, getattr(kind, name)) for name in kind.__dataclass_fields__}
    return {"type": type(kind).__name__, **limits}


def _describe_limit(name: str, value: Any) -> Any:
    if name == "choices":
        return [str(choice) for choice, _ in value]
    if isinstance(value, Type):
        return describe_type(value)
    return [str(one) for one in value] if isinstance(value, tuple) else value
