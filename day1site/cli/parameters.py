"""The types of values, and the options that several commands share."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import click

from day1site.cli.errors import CliError
from day1site.cli.usage import EVERYWHERE, Option, invalid_choice

MAX_DIGITS = 18


def check_point(text: str | None) -> str | None:
    """Return the text of a seq, an id or a time. Raises CliError."""
    if text is None or (text.isdecimal() and len(text) <= MAX_DIGITS):
        return text
    for parse in (UUID, datetime.fromisoformat, parse_loose_time):
        try:
            parse(text)
            return text
        except ValueError:
            continue
    raise CliError("invalid", "at must be a seq, the id of a commit or a time in ISO 8601.")


def parse_loose_time(text: str) -> datetime:
    """Parse a time as the engines do, which take more than ISO 8601. Raises ValueError."""
    from django.utils.dateparse import parse_datetime  # starts nothing

    if (parsed := parse_datetime(text)) is None:
        raise ValueError(text)
    return parsed


Decorator = Callable[[Any], Any]

INCLUDE = ("superseded", "archived", "created", "expired", "outdated", "invalidated")


# ---- types -------------------------------------------------------------------------------------------


def refuse(param: click.Parameter | None, ctx: click.Context | None, reason: str) -> click.UsageError:
    """Return the error that names the parameter at fault."""
    if isinstance(param, click.Option):
        label = "/".join(param.opts)
    else:
        label = param.make_metavar(ctx) if param and ctx else ""
    return click.UsageError(f"argument {label}: {reason}", ctx)


class Converted(click.ParamType):
    """A value that a Python type makes of a word."""

    def __init__(self, name: str, convert: Callable[[str], Any]) -> None:
        self.name, self._convert = name, convert

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._convert(value)
        except ValueError:
            raise refuse(param, ctx, f"invalid {self._convert.__name__} value: {value!r}") from None


class JsonObject(click.ParamType):
    name = "JSON object"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, dict):
            return value
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise refuse(param, ctx, f"not a JSON object: {value}")
        return parsed


class JsonValue(click.ParamType):
    """JSON of any kind; a word that is none is a text."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            found = json.loads(value) if isinstance(value, str) else value
        except (ValueError, RecursionError):
            return value
        if found is None:
            raise refuse(param, ctx, "null is put over REST alone")
        return found


class OneOf(click.Choice[str]):
    """One of some words, as they are written."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value not in self.choices:
            raise refuse(param, ctx, invalid_choice(value, self.choices))
        return value

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        return "{" + ",".join(self.choices) + "}"


WHOLE = Converted("integer", int)
NUMBER = Converted("number", float)
POINT = Converted("point", check_point)
JSON_OBJECT = JsonObject()
JSON_VALUE = JsonValue()


# ---- how commands declare them -------------------------------------------------------------------------


def option(*flags: str, **attrs: Any) -> Decorator:
    return click.option(*flags, cls=Option, **attrs)


def argument(name: str, metavar: str, **attrs: Any) -> Decorator:
    return click.argument(name, metavar=metavar, **attrs)


def switch(flag: str, *name: str, help: str = "", default: bool | None = False) -> Decorator:
    """Declare an option without a value: true where it is given."""
    return option(flag, *name, is_flag=True, flag_value=True, default=default, help=help)


def combine(*decorators: Decorator) -> Decorator:
    """Return one decorator that declares the parameters of all in this order."""

    def declare(function: Any) -> Any:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return declare


def drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in values.items() if value is not None and value != ()}


def _keep_common(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and ctx.obj is not None:
        setattr(ctx.obj, str(param.name), value)


common_options = combine(
    option(
        "--format",
        type=OneOf(("table", "json")),
        expose_value=False,
        callback=_keep_common,
        section=EVERYWHERE,
        help="json prints what the REST API answers",
    ),
    option(
        "--project",
        metavar="SLUG",
        expose_value=False,
        callback=_keep_common,
        section=EVERYWHERE,
        help="of the local store; default: default",
    ),
    # Read before the settings are, by bootstrap.py; declared for --help.
    option(
        "--data-dir",
        metavar="DIR",
        expose_value=False,
        section=EVERYWHERE,
        help="where the local store is",
    ),
)


# ---- options of several commands -----------------------------------------------------------------------

branch_option = option("--branch", default="main", metavar="NAME", help="default main")
branches_option = option(
    "--branch",
    multiple=True,
    metavar="NAME",
    help="default main; several times, or a pattern such as 'task/*', searches them all",
)
at_option = option(
    "--at",
    type=POINT,
    metavar="POINT",
    help="as it was then: a seq, a commit's id or a time such as 2026-05-01",
)
page_options = combine(
    option("--cursor", metavar="TEXT", help="where the page before said that the next one begins"),
    switch("--all", help="every page, one after the other"),
)
paging_options = combine(
    option("--limit", type=WHOLE, metavar="N", help="at most so many, 1 to 100; default 50"),
    page_options,
)
listing_options = combine(
    option(
        "--ordering",
        metavar="NAME",
        help="--ordering=created_at, or --ordering=-created_at for the other direction",
    ),
    paging_options,
)
expected_version_option = option(
    "--expected-version", type=WHOLE, metavar="N", help="only if it is still at this version"
)
search_options = combine(
    option("--limit", type=WHOLE, metavar="N", help="at most so many; default 10"),
    option("--type", "search_type", type=OneOf(("hybrid", "keyword", "vector")), help="default hybrid"),
    option("--recipe", metavar="NAME", help="how the parts of the score are mixed"),
    option(
        "--include",
        multiple=True,
        type=OneOf(INCLUDE),
        metavar="STATE",
        help=f"what is left out otherwise: {', '.join(INCLUDE)}",
    ),
    at_option,
)
