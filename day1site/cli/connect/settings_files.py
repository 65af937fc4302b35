"""Settings files of others: changed as little as can be, with a copy of what was there, and put back."""

import json
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from day1site.cli.connect import jsonc
from day1site.cli.connect.clients import HOOK, Change
from day1site.cli.connect.jsonc import value_at
from day1site.cli.connect.toml_tables import InvalidToml, append_table, parse_toml, remove_table
from day1site.cli.errors import CliError
from memory.file_locks import replace_file

OWN_NAME = "day1"
LINE_END = re.compile(r"(?<!\r)\n")


def apply_changes(file: Path, before: str, changes: Sequence[Change]) -> str:
    """Return the file's text with the changes in it. Raises CliError where it cannot be understood."""
    text = remove_changes(file, before, changes)
    try:
        for change in changes:
            text = apply_change(text, change)
    except (jsonc.NotJson, InvalidToml) as error:
        raise CliError("invalid", f"{file} cannot be changed: {error}. It was left as it is.") from None
    return LINE_END.sub("\r\n", text) if has_crlf(before) else text


def has_crlf(text: str) -> bool:
    """Tell whether all its lines end as on Windows."""
    return "\r\n" in text and not LINE_END.search(text)


def apply_change(text: str, change: Change) -> str:
    if change.is_toml:
        return append_table(text, change.path, change.value)
    if change.appended:
        return jsonc.append(text, change.path, change.value)
    current = value_at(jsonc.loads(text), change.path)
    return text if current == change.value else jsonc.put(text, change.path, change.value)


def find_error(text: str, change: Change) -> str:
    """Return why a file's text is no JSON or TOML; "" where it is."""
    try:
        parse_text(text, change)
    except (jsonc.NotJson, InvalidToml) as error:
        return str(error)
    return ""


def parse_text(text: str, change: Change) -> Any:
    return parse_toml(text) if change.is_toml else jsonc.loads(text)


def holds_change(text: str, change: Change) -> bool:
    """Tell whether a change is in a file's text."""
    try:
        content = parse_text(text, change)
    except (jsonc.NotJson, InvalidToml):
        return False
    current = value_at(content, change.path)
    if change.appended:
        return isinstance(current, list) and change.value in current
    return bool(current == change.value)


def remove_changes(file: Path, text: str, changes: Sequence[Change], original: str | None = None) -> str:
    """Return the text without what Day1 wrote into it earlier; the rest as it is. Raises CliError.

    ``original`` is the text that Day1 found: objects that it lacks go with the last thing in them. Without it
    they stay.
    """
    try:
        for change in changes:
            text = remove_change(text, change, original)
    except (jsonc.NotJson, InvalidToml) as error:
        raise CliError("invalid", f"{file} cannot be read: {error}. It was left as it is.") from None
    return text


def remove_change(text: str, change: Change, original: str | None) -> str:
    if change.is_toml:
        return remove_table(text, change.path)
    if change.appended:
        return remove_hooks(text, change.path, original)
    current = value_at(jsonc.loads(text), change.path)
    is_added = original is not None and value_at(jsonc.loads(original), change.path) is None
    if current is None or not (change.path[-1] == OWN_NAME or (is_added and current == change.value)):
        return text
    return drop_empty(cut_part(text, change.path, original), change.path[:-1], original)


def remove_hooks(text: str, path: Sequence[str], original: str | None) -> str:
    entries = value_at(jsonc.loads(text), path)
    if not isinstance(entries, list):
        return text
    own = [index for index, entry in enumerate(entries) if is_own_hook(entry)]
    for index in reversed(own):
        text = cut_part(text, path, original, index)
    if len(own) == len(entries) and own and original is None:
        return jsonc.remove(text, path)
    return drop_empty(text, path, original) if own else text


def cut_part(text: str, path: Sequence[str], original: str | None, index: int | None = None) -> str:
    """Return the text without a part; a comma behind the last part stays where the original has one."""
    holder = path if index is not None else path[:-1]
    return jsonc.remove(text, path, index, keeps_comma=jsonc.ends_with_comma(original or "", holder))


def drop_empty(text: str, path: Sequence[str], original: str | None) -> str:
    """Return the text without the objects on a path that are empty now and that the original lacks."""
    found = jsonc.loads(original or "") if original is not None else None
    for depth in range(len(path), 0, -1):
        place = path[:depth]
        if found is None or value_at(jsonc.loads(text), place) or value_at(found, place) is not None:
            break
        text = cut_part(text, place, original)
    return text


def is_own_hook(entry: Any) -> bool:
    """Tell whether it runs Day1's hook client, wherever that stood."""
    return f"hooks/client/{HOOK.name}" in json.dumps(entry).replace("\\\\", "/")


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


def check_writable(file: Path) -> None:
    """Refuse a file that may not be written, or a folder in which none may be made. Raises CliError.

    The administrator may write everything, but who has taken every right to write away means it.
    """
    file = file.resolve()
    folder = next(above for above in file.parents if above.exists())
    if file.exists() and not (file.stat().st_mode & 0o222 and os.access(file, os.W_OK)):
        raise CliError("file_error", f"{file} may not be written. It was left as it is.")
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise CliError("file_error", f"In {folder} nothing may be written: {file} was left as it is.")


def list_missing_folders(files: Sequence[Path]) -> list[str]:
    """Return the folders that will be made for these files, the outermost first."""
    missing = {folder for file in files for folder in file.resolve().parents if not folder.exists()}
    return sorted(map(str, missing), key=len)


def remove_folders(folders: Sequence[str]) -> None:
    """Remove the folders that are empty, the innermost first."""
    for folder in sorted(folders, key=len, reverse=True):
        with suppress(OSError):
            Path(folder).rmdir()


def write_file(file: Path, text: str | bytes, new_mode: int = 0o600) -> None:
    """Write a file whole or not at all, behind links too.

    A new file is its owner's alone unless ``new_mode`` says otherwise, an old one keeps its mode.
    """
    file = file.resolve()
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = file.stat().st_mode & 0o777 if file.exists() else new_mode
    handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with open(handle, "wb") as stream:
            stream.write(text.encode() if isinstance(text, str) else text)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(draft, mode)
        replace_file(draft, file)
    finally:
        Path(draft).unlink(missing_ok=True)
