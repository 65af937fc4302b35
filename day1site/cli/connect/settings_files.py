"""Settings files of others: changed as little as can be, with a copy of what was there, and put back."""

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from day1site.cli.connect import jsonc
from day1site.cli.connect.clients import HOOK, Change
from day1site.cli.connect.toml_tables import (
    InvalidToml,
    append_table,
    parse_toml,
    remove_table,
    value_at,
)
from day1site.cli.errors import CliError

OWN_NAME = "day1"


def apply_changes(file: Path, before: str, changes: Sequence[Change]) -> str:
    """Return the file's text with the changes in it. Raises CliError where it cannot be understood."""
    text = remove_changes(file, before, changes)
    try:
        for change in changes:
            text = apply_change(text, change)
    except (jsonc.NotJson, InvalidToml) as error:
        raise CliError("invalid", f"{file} cannot be changed: {error}. It was left as it is.") from None
    return text


def apply_change(text: str, change: Change) -> str:
    if change.is_toml:
        return append_table(text, change.path, change.value)
    if change.appended:
        return jsonc.append(text, change.path, change.value)
    current = value_at(jsonc.loads(text), change.path)
    return text if current == change.value else jsonc.put(text, change.path, change.value)


def holds_change(text: str, change: Change) -> bool:
    """Tell whether a change is in a file's text."""
    try:
        content = parse_toml(text) if change.is_toml else jsonc.loads(text)
    except (jsonc.NotJson, InvalidToml):
        return False
    current = value_at(content, change.path)
    if change.appended:
        return isinstance(current, list) and change.value in current
    return bool(current == change.value)


def remove_changes(file: Path, text: str, changes: Sequence[Change]) -> str:
    """Return the text without what Day1 wrote into it earlier; the rest as it is. Raises CliError."""
    try:
        for change in changes:
            text = remove_change(text, change)
    except (jsonc.NotJson, InvalidToml) as error:
        raise CliError("invalid", f"{file} cannot be read: {error}. It was left as it is.") from None
    return text


def remove_change(text: str, change: Change) -> str:
    if change.is_toml:
        return remove_table(text, change.path)
    if change.appended:
        return remove_hooks(text, change.path)
    if change.path[-1] == OWN_NAME and value_at(jsonc.loads(text), change.path) is not None:
        return remove_name(text, change.path)
    return text


def remove_hooks(text: str, path: Sequence[str]) -> str:
    entries = value_at(jsonc.loads(text), path)
    if not isinstance(entries, list):
        return text
    kept = [entry for entry in entries if not is_own_hook(entry)]
    if len(kept) == len(entries):
        return text
    return jsonc.put(text, path, kept) if kept else remove_name(text, path)


def is_own_hook(entry: Any) -> bool:
    """Tell whether it runs Day1's hook client, wherever that stood."""
    return str(Path("hooks", "client", HOOK.name)) in json.dumps(entry)


def remove_name(text: str, path: Sequence[str]) -> str:
    """Return the text without one name; the object that held it is written anew."""
    holder = dict(value_at(jsonc.loads(text), path[:-1]))
    holder.pop(path[-1])
    return jsonc.put(text, path[:-1], holder)


def read_value(file: Path, *path: str) -> Any:
    """Return what a JSON file holds at a path; None where there is nothing, or no JSON."""
    try:
        return value_at(jsonc.loads(read_file(file) or ""), path)
    except (jsonc.NotJson, CliError, OSError):
        return None


# ---- reading and writing -----------------------------------------------------------------------------


def read_file(file: Path) -> str | None:
    """Return the text; None where there is no file. Raises CliError where it is no UTF-8."""
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise CliError("invalid", f"{file} is not UTF-8. It was left as it is.") from None


def write_file(file: Path, text: str) -> None:
    """Write a file whole or not at all, behind links too.

    A new file is its owner's alone, an old one keeps its mode.
    """
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
