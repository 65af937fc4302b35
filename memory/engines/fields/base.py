"""A field and a noun: plain declarations, from which engines and surfaces derive what they need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Flag, auto
from functools import cached_property
from typing import Any, TypeVar

from memory.engines.fields.types import Choice, Type
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
    OPTION = auto()  # offered by the commands that write one
    IMPORT = auto()  # taken over from a line of a file
    IGNORED = auto()  # may stand in a line of a file and is left to the store
    EXPORT = auto()  # written into a line of a file

    @property
    def names(self) -> list[str]:
        """Return the names of its parts in lower case."""
        return [str(one.name).lower() for one in self]


Filter = TypeVar("Filter", bound="Field")
NO_USE = Use(0)
READ = Use.ANSWER | Use.VERSION
WRITE = Use.CREATE | Use.UPDATE
TOOLS = Use.TOOL_CREATE | Use.TOOL_UPDATE | Use.TOOL_ANSWER
LINE = Use.IMPORT | Use.EXPORT
EVERYWHERE = READ | WRITE | TOOLS | Use.FORM | Use.OPTION | LINE


@dataclass(frozen=True)
class Option:
    """The words of the command line, where they differ from what the field's name, type and help make."""

    help: str = ""
    flag: str = ""
    metavar: str = ""
    checked: bool = False  # a choice that the command line itself refuses, as wrong usage


@dataclass(frozen=True)
class Field:
    """One field of a noun.

    ``help`` is for who writes it, ``answer_help`` for who reads it, ``tool_help`` for models (``help``
    without one), ``label`` and ``form_help`` for the pages. ``form_choices`` are values with words. A text
    has ``form_rows`` lines in a form, a list an item on each, and all choices are shown. A request may call
    it by its ``alias`` too.
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
    form_choices: Sequence[tuple[str, Any]] = ()
    form_rows: int = 0
    suggestions: str = ""  # the id of the page's list of values that are offered
    tool_excludes: tuple[str, ...] = ()  # choices that the MCP tools do not offer
    option: Option = Option()
    alias: str = ""

    @cached_property
    def check(self) -> c.Check:
        """Return the check that an engine applies."""
        check = self.type.build_check()
        check = c.redact_stored(check) if self.type.redacted else check
        return c.optional_check(check) if self.null else check

    @property
    def title(self) -> Any:
        """Return the label in a form, or the name as words."""
        return self.form_label or self.label or self.name.replace("_", " ").capitalize()

    def with_traits(self, **changes: Any) -> "Field":
        """Return the same field with some traits changed."""
        return replace(self, **changes)

    def as_optional(self) -> "Field":
        """Return a copy of the field that a request may leave out."""
        return self.with_traits(required=False) if self.required else self


NOUNS: dict[str, "Noun"] = {}


class Noun(Sequence[Field]):
    """The fields of one noun, in the order of its answers, and the filters of its lists.

    ``commands`` are the module of its commands and what the help says of them, where the command line's
    own table does not name them.
    """

    def __init__(self, name: str, *fields: Field, commands: tuple[str, str] = ("", "")) -> None:
        self.name, self.fields, self.commands = name, fields, commands
        self.filters: tuple[Any, ...] = ()
        self._by_name = {field.name: field for field in fields}
        NOUNS[name] = self

    def __getitem__(self, name: Any) -> Any:
        return self.fields[name] if isinstance(name, int | slice) else self._by_name[name]

    def __len__(self) -> int:
        return len(self.fields)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def select_fields(self, use: Use, without: Use = NO_USE) -> tuple[Field, ...]:
        """Return the fields with all of these uses and none of the others."""
        return tuple(field for field in self.fields if use in field.use and not field.use & without)

    def field_names(self, use: Use, without: Use = NO_USE) -> tuple[str, ...]:
        """Return the names of the fields with these uses."""
        return tuple(field.name for field in self.select_fields(use, without))

    def field_checks(self, use: Use, without: Use = NO_USE) -> dict[str, c.Check]:
        """Return the checks of the fields with these uses, by name."""
        return {field.name: field.check for field in self.select_fields(use, without)}

    def filtered_by(self, *filters: Filter) -> tuple[Filter, ...]:
        """Declare the filters of its lists and searches, and return them."""
        self.filters = filters
        return filters

    def describe_fields(self) -> dict[str, list[Any]]:
        """Return all of it as plain data, for programs that do not load the engines."""
        return {
            "commands": [name for name in self.commands if name],
            "fields": [describe_field(field) for field in self.fields],
            "filters": [describe_field(field) | drop_empty({"many": field.many}) for field in self.filters],
        }


def describe_field(field: Field) -> dict[str, Any]:
    """Return a field as plain data: name, type with its limits, help, uses, and the words of its option."""
    words = {"help": field.help, "option": describe_option(field)}
    traits = {"default": field.default, "required": field.required, "null": field.null}
    about = {"name": field.name, **describe_type(field.type), **words, **traits, "use": field.use.names}
    return drop_empty(about)


def describe_option(field: Field) -> dict[str, Any]:
    """Return the words of the command line, taken from the field where it has none of its own."""
    help = field.option.help or field.tool_help or field.help
    if field.option.checked and not field.option.help and isinstance(field.type, Choice):
        help = f"one of {', '.join(field.type.values)}"
    flag = field.option.flag or f"--{field.name.replace('_', '-')}"
    metavar, checked = field.option.metavar, field.option.checked
    return drop_empty({"flag": flag, "help": help, "metavar": metavar, "checked": checked})


def describe_type(kind: Type) -> dict[str, Any]:
    """Return a type as plain data: its name and its limits."""
    limits = {name: _describe_limit(name, getattr(kind, name)) for name in kind.__dataclass_fields__}
    return drop_empty({"type": type(kind).__name__, **limits})


def drop_empty(values: dict[str, Any]) -> dict[str, Any]:
    return {n: value for n, value in values.items() if value is not False and value not in (None, "", [])}


def _describe_limit(name: str, value: Any) -> Any:
    if name == "choices":
        return [str(choice) for choice, _ in value]
    if name == "fields":
        return [one.name for one in value]
    if isinstance(value, Type):
        return describe_type(value)
    return [str(one) for one in value] if isinstance(value, tuple) else value
