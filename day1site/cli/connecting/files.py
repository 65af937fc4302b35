"""Settings files of others: changed as little as can be, with a copy of what was there, and put back."""

import json
import os
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from day1site.cli.connecting import jsonc
from day1site.cli.connecting.programs import HOOK, Change
from day1site.cli.errors import CliError

OURS = "day1"


def changed(file: Path, before: str, changes: Sequence[Change]) -> str:
    """The file's text with the changes in it. Raises CliError where it cannot be understood."""
    text = without(file, before, changes)
    try:
        for change in changes:
            text = _apply(text, change)
    except (jsonc.NotJson, tomllib.TOMLDecodeError) as error:
        raise CliError("invalid", f"{file} cannot be changed: {error}. It was left as it is.") from None
    return text


def _apply(text: str, change: Change) -> str:
    if change.file.suffix == ".toml":
        text = f"{text.rstrip()}\n\n{change.value}".lstrip() if text.strip() else change.value
        tomllib.loads(text)
        return text
    if not change.appended:
        here = _at(jsonc.loads(text), change.path)
        return text if here == change.value else jsonc.put(text, change.path, change.value)
    return jsonc.append(text, change.path, change.value)


def holds(text: str, change: Change) -> bool:
    """Whether a change is in a file's text."""
    try:
        if change.file.suffix == ".toml":
            return bool(
                _at(tomllib.loads(text), change.path) == _at(tomllib.loads(change.value), change.path)
            )
        here = _at(jsonc.loads(text), change.path)
    except (jsonc.NotJson, tomllib.TOMLDecodeError):
        return False
    if change.appended:
        return isinstance(here, list) and change.value in here
    return bool(here == change.value)


def without(file: Path, text: str, changes: Sequence[Change]) -> str:
    """The text without what Day1 wrote into it earlier; the rest as it is."""
    try:
        if file.suffix == ".toml":
            return _without_table(text) if "mcp_servers" in tomllib.loads(text) else text
        for change in changes:
            if change.appended:
                text = _without_hooks(text, change.path)
            elif change.path[-1] == OURS and _at(jsonc.loads(text), change.path) is not None:
                text = _removed(text, change.path)
    except (jsonc.NotJson, tomllib.TOMLDecodeError) as error:
        raise CliError("invalid", f"{file} cannot be read: {error}. It was left as it is.") from None
    return text


def _without_table(text: str) -> str:
    """Without [mcp_servers.day1] and the lines that belong to it."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            inside = line.strip().replace('"', "").split("#")[0].strip().startswith("[mcp_servers.day1")
        if not inside:
            kept.append(line)
    return "".join(kept)


def _without_hooks(text: str, path: Sequence[str]) -> str:
    entries = _at(jsonc.loads(text), path)
    if not isinstance(entries, list):
        return text
    kept = [entry for entry in entries if str(HOOK.name) not in json.dumps(entry) or not _is_ours(entry)]
    if len(kept) == len(entries):
        return text
    return jsonc.put(text, path, kept) if kept else _removed(text, path)


def _is_ours(entry: Any) -> bool:
    """Whether it runs Day1's hook client, wherever that stood."""
    return str(Path("hooks", "client", HOOK.name)) in json.dumps(entry)


def _removed(text: str, path: Sequence[str]) -> str:
    """Without one name; the object that held it is written anew."""
    holder = dict(_at(jsonc.loads(text), path[:-1]))
    holder.pop(path[-1])
    return jsonc.put(text, path[:-1], holder)


def value_at(file: Path, *path: str) -> Any:
    """What a JSON file holds at a place; None where there is nothing, or no JSON."""
    try:
        return _at(jsonc.loads(read(file) or ""), path)
    except (jsonc.NotJson, CliError, OSError):
        return None


def _at(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


# ---- reading and writing -----------------------------------------------------------------------------


def read(file: Path) -> str | None:
    """The text; None where there is no file. Raises CliError where it is no UTF-8."""
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise CliError("invalid", f"{file} is not UTF-8. It was left as it is.") from None


def write(file: Path, text: str) -> None:
    """Whole or not at all, behind links too; a new file is its owner's alone, an old one keeps its mode."""
    file = file.resolve()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = file.stat().st_mode & 0o777 if file.exists() else 0o600
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "wb") as stream:
            stream.write(text.encode())
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(draft, mode)
        os.replace(draft, file)
    finally:
        Path(draft).unlink(missing_ok=True)
