"""Changes in the text of a JSON file that may hold comments and trailing commas: all else stays as it is."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|[{}\[\],:]|[^\s{}\[\],:"/]+|\s+|.', re.S)
BLANK = re.compile(r"\s+|//|/\*")


class NotJson(ValueError):
    """The text is no JSON, comments aside."""


@dataclass
class Node:
    """A value and where it stands; ``items`` of an object by name, of a list in order."""

    start: int
    end: int = 0
    begin: int = 0  # where its name stands; in a list its own start
    items: dict[str, "Node"] = field(default_factory=dict)
    parts: list["Node"] = field(default_factory=list)
    last: int = 0  # behind its last part; its first letter where it has none
    comma: bool = False  # whether a comma stands behind the last part


def loads(text: str) -> Any:
    """Return the value, without comments. Raises NotJson."""
    tokens = [token for token in TOKEN.findall(text.lstrip("\ufeff")) if not BLANK.match(token)]
    plain = [
        token
        for token, after in zip(tokens, [*tokens, ""][1:], strict=True)
        if not (token == "," and after in ("}", "]"))
    ]
    try:
        return json.loads(" ".join(plain)) if plain else {}
    except (ValueError, RecursionError) as error:
        raise NotJson(str(error)) from None


def put(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at a path of names; objects on the way are made."""
    return _change(text, path, value, listed=False)


def append(text: str, path: Sequence[str], value: Any) -> str:
    """Return the text with a value at the end of the list at a path, which is made where it is missing."""
    return _change(text, path, value, listed=True)


def ends_with_comma(text: str, path: Sequence[str]) -> bool:
    """Tell whether the last part of what stands at a path has a comma behind it."""
    if not text.strip().strip("\ufeff") or value_at(loads(text), path) is None:
        return False
    return _find(text, path).comma


def remove(text: str, path: Sequence[str], index: int | None = None, keeps_comma: bool = False) -> str:
    """Return the text without the value at a path, or without one part of the list that stands there.

    ``keeps_comma`` leaves the comma before the last part.
    """
    loads(text)
    holder = _find(text, path if index is not None else path[:-1])
    place = holder.parts.index(holder.items[path[-1]]) if index is None else index
    part = holder.parts[place]
    comma = _find_comma(text, part.end)
    if place + 1 < len(holder.parts):
        return text[: part.begin] + text[comma + 1 :].lstrip()
    after = text[(part.end if comma < 0 else comma + 1) :]
    if not place:
        inner = text[holder.start + 1 : part.begin] + after[: -len(text[holder.end - 1 :])]
        return text[: holder.start + 1] + (inner if inner.strip() else "") + text[holder.end - 1 :]
    previous = holder.parts[place - 1]
    gap = text[previous.end : part.begin]
    if comma < 0 and not keeps_comma:  # the part before it is the last one now
        place = _find_comma(text, previous.end) - previous.end
        gap = gap[:place] + gap[place + 1 :]
    return text[: previous.end] + _close_line(gap.rstrip(), after) + after


def value_at(content: Any, path: Sequence[str]) -> Any:
    for name in path:
        content = content.get(name) if isinstance(content, dict) else None
    return content


def _find(text: str, path: Sequence[str]) -> Node:
    node = _read(text)
    for name in path:
        node = node.items[name]
    return node


def _find_comma(text: str, start: int) -> int:
    """Return where the comma behind a part is; -1 where none is."""
    for found in TOKEN.finditer(text, start):
        if not BLANK.match(found[0]):
            return found.start() if found[0] == "," else -1
    return -1


def _close_line(gap: str, after: str) -> str:
    """Return the gap so that a comment at its end does not swallow what follows."""
    is_open = "//" in gap.rpartition("\n")[2]
    return gap + "\n" if is_open and not after.lstrip(" \t\r").startswith("\n") else gap


def _change(text: str, path: Sequence[str], value: Any, listed: bool) -> str:
    loads(text)
    text = text if text.strip().strip("\ufeff") else "{}\n"
    node, rest = _read(text), list(path)
    while rest and rest[0] in node.items:
        node = node.items[rest.pop(0)]
    depth = len(path) - len(rest)
    if rest:
        for name in reversed([*rest[1:], *([None] if listed else [])]):
            value = [value] if name is None else {name: value}
        return _insert(text, node, "{", f"{json.dumps(rest[0])}: {_dumped(value, depth + 1)}", depth + 1)
    if listed:
        return _insert(text, node, "[", _dumped(value, depth + 1), depth + 1)
    return text[: node.start] + _dumped(value, depth) + text[node.end :]


def _insert(text: str, node: Node, kind: str, piece: str, depth: int) -> str:
    """Add a part at the end of an object or list."""
    if text[node.start] != kind:
        raise NotJson(f"an {'object' if kind == '{' else 'array'} is expected")
    indent = "  " * depth
    if not node.parts:
        inner = text[node.start + 1 : node.end - 1]
        kept = inner.rstrip() if inner.strip() else ""
        body = f"{kept}\n{indent}{piece}\n{indent[2:]}"
        return text[: node.start + 1] + body + text[node.end - 1 :]
    before, tail, after = text[: node.last], text[node.last : node.end - 1], text[node.end - 1 :]
    mark = "" if node.comma else ","
    # A comment may follow the last part on its line: it stays there.
    return f"{before}{mark}{tail.rstrip()}\n{indent}{piece}\n{indent[2:]}{after}"


def _dumped(value: Any, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def _read(text: str) -> Node:
    """Return the outermost value with its parts."""
    stack: list[Node] = []
    names: list[tuple[str, int]] = []
    root: Node | None = None
    token = ""
    for found in TOKEN.finditer(text):
        before, token = token, found[0]
        if BLANK.match(token) or token == "\ufeff":
            token = before
            continue
        if token in "}]":
            node = stack.pop()
            node.end = found.end()
            _close(stack, found.end())
        elif token == ",":
            stack[-1].comma, stack[-1].last = True, found.end()
        elif token == ":":
            continue
        elif stack and text[stack[-1].start] == "{" and before in ("{", ","):
            names.append((json.loads(token), found.start()))
        else:
            node = Node(found.start(), found.end())
            root = root or node
            if stack:
                _add(stack[-1], node, names, text)
            if token in "{[":
                stack.append(node)
            else:
                _close(stack, found.end())
    if root is None:
        raise NotJson("it is empty")
    return root


def _add(parent: Node, node: Node, names: list[tuple[str, int]], text: str) -> None:
    parent.parts.append(node)
    parent.comma = False
    node.begin = node.start
    if text[parent.start] == "{":
        name, node.begin = names.pop()
        parent.items[name] = node


def _close(stack: list[Node], end: int) -> None:
    if stack:
        stack[-1].last = end
