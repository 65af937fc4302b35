"""One table in the text of a TOML file: put at its end, or taken out; all else stays as it is."""

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Comment, Table

from day1site.cli.connect.jsonc import value_at

Tables = dict[str, Any]


class InvalidToml(ValueError):
    """The text is no TOML, or the change would do more than it should."""


def parse_toml(text: str) -> Tables:
    """Return what the text holds. Raises InvalidToml."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidToml(str(error)) from None


def append_table(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """Return the text with a table at its end, or in the inline table of its kind. Raises InvalidToml."""
    expected = with_value(parse_toml(text), path, values)
    try:
        return check_content(append_block(text, path, values), expected)
    except InvalidToml:
        return check_content(insert_inline(text, path, values), expected)


def append_block(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    table = tomlkit.table()
    for name, value in values.items():
        table[name] = to_inline(value)
    block = f"[{'.'.join(path)}]\n{table.as_string()}"
    return f"{text.rstrip()}\n\n{block}" if text.strip() else block


def insert_inline(text: str, path: Sequence[str], values: Mapping[str, Any]) -> str:
    """Return the text with the values in a table that is written inline, which no block can add to."""
    try:
        document = tomlkit.parse(text)
        holder: Any = document
        for name in path[:-1]:
            holder = holder[name]
        holder[path[-1]] = to_inline({name: to_inline(value) for name, value in values.items()})
        return document.as_string()
    except (TOMLKitError, KeyError, TypeError, AttributeError) as error:
        raise InvalidToml(str(error)) from None


def to_inline(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    inline = tomlkit.inline_table()
    inline.update(value)
    return inline


def remove_table(text: str, path: Sequence[str]) -> str:
    """Return the text without a table and those below it. Raises InvalidToml."""
    content = parse_toml(text)
    if value_at(content, path) is None:
        return text
    try:
        document = tomlkit.parse(text)
        holder: Any = document
        for name in path[:-1]:
            holder = holder[name]
        tail = trailing_comments(holder[path[-1]])
        del holder[path[-1]]
        removed = document.as_string()
    except (TOMLKitError, KeyError, TypeError, AttributeError) as error:
        raise InvalidToml(str(error)) from None
    return check_content(put_back(text, removed, tail), without_value(content, path))


def trailing_comments(table: Any) -> str:
    """Return the comments behind the last value of a table: they speak of what follows it."""
    if not isinstance(table, Table):
        return ""
    items = [item for _, item in table.value.body]
    last = max((index for index, (key, _) in enumerate(table.value.body) if key is not None), default=-1)
    if last >= 0 and isinstance(items[last], Table):
        return trailing_comments(items[last]) + "".join(item.as_string() for item in items[last + 1 :])
    tail = items[last + 1 :]
    return "".join(item.as_string() for item in tail) if any(isinstance(i, Comment) for i in tail) else ""


def put_back(text: str, removed: str, tail: str) -> str:
    """Return the removed text with the tail at the place that the table stood at."""
    length = len(text) - len(removed)
    for start in range(len(removed) + 1) if tail else ():
        same = text[:start] == removed[:start] and text[start + length :] == removed[start:]
        if same and text[start : start + length].endswith(tail):
            return removed[:start] + tail.lstrip("\r\n") + removed[start:]
    return removed


# ---- what a file holds ---------------------------------------------------------------------------------


def check_content(text: str, expected: Tables) -> str:
    """Return the text where it holds what it should. Raises InvalidToml."""
    if drop_empty_tables(parse_toml(text)) != drop_empty_tables(expected):
        raise InvalidToml("its tables cannot be changed one by one")
    return text


def drop_empty_tables(content: Tables) -> Tables:
    return {name: value for name, value in content.items() if value != {}}


def with_value(content: Tables, path: Sequence[str], value: Any) -> Tables:
    name, rest = path[0], path[1:]
    inner = content.get(name, {})
    if rest and not isinstance(inner, dict):
        raise InvalidToml(f"{name} is no table")
    return {**content, name: with_value(inner, rest, value) if rest else value}


def without_value(content: Tables, path: Sequence[str]) -> Tables:
    name, rest = path[0], path[1:]
    if not rest:
        return {key: value for key, value in content.items() if key != name}
    return {**content, name: without_value(content[name], rest)}
