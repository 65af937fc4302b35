"""Anthropic's memory tool on files of Day1, with history, review and undo. Needs ``anthropic``."""

from __future__ import annotations

import asyncio
from typing import Any

from day1_client import Day1, Day1Error
from day1_client import types as t
from day1_client.extras import needs
from day1_client.files import Files, format_size, measure

with needs("anthropic"):
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

ROOT = "memories"
GONE = "The path {} does not exist. Please provide a valid path."
HEADER = "Here're the files and directories up to 2 levels deep in {}, excluding hidden items:\n"
EDITED = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
NOT_THERE = "No replacement was performed, old_str `{}` did not appear verbatim in {}."
TWICE = "No replacement was performed. Multiple occurrences of old_str `{}` in lines: {}."
NO_LINE = "Invalid `insert_line` parameter: {}. It should be within the range [0, {}]."


class Day1MemoryTool(BetaAbstractMemoryTool):
    """The files below /memories, on the branch and of the end user of ``memory``.

    Each edit is a version: ``history`` lists those of a file, ``undo`` takes its last change back, and where
    ``memory`` is on a branch of its own ``review`` asks people to look at what it changed.
    """

    def __init__(self, memory: Day1 | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.memory = memory or Day1()
        self.files = Files(self.memory)

    def execute(self, command: Any) -> Any:
        """Run a command of a model. Raises ToolError, also for what Day1 refuses or when it is away."""
        try:
            return super().execute(command)
        except Day1Error as error:
            raise ToolError(str(error)) from error

    def view(self, command: Any) -> str:
        parts = parse(command.path)
        if file := self.files.read(parts):
            lines, (first, last) = file["value"].split("\n"), command.view_range or (1, -1)
            shown = lines[max(1, first) - 1 : None if last == -1 else last]
            return f"Here's the content of {command.path} with line numbers:\n{number(shown, max(1, first))}"
        sizes = measure(self.files.list_below(parts), parts)
        if not sizes and len(parts) > 1:
            raise ToolError(GONE.format(command.path))
        rows = sorted(sizes.items()) or [(f"/{ROOT}", 0)]
        return HEADER.format(command.path) + "\n".join(f"{format_size(size)}\t{path}" for path, size in rows)

    def create(self, command: Any) -> str:
        if not self.files.create(parse(command.path), command.file_text):
            raise ToolError(f"File {command.path} already exists")
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        def replace(text: str) -> str:
            places = [at for at in range(len(text)) if text.startswith(command.old_str, at)]
            if not places:
                raise ToolError(NOT_THERE.format(command.old_str, command.path))
            if len(places) > 1:
                lines = ", ".join(str(text[:at].count("\n") + 1) for at in places)
                raise ToolError(f"{TWICE.format(command.old_str, lines)} Please ensure it is unique")
            return text.replace(command.old_str, command.new_str)

        old, new = self._edit(command.path, replace)
        line = old[: old.find(command.old_str)].count("\n")
        return EDITED + number(new.split("\n")[max(0, line - 2) : line + 3], max(1, line - 1))

    def insert(self, command: Any) -> str:
        def add(text: str) -> str:
            lines = text.removesuffix("\n").split("\n") if text else []
            if not 0 <= command.insert_line <= len(lines):
                raise ToolError(NO_LINE.format(command.insert_line, len(lines)))
            lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
            return "\n".join(lines).removesuffix("\n") + "\n"

        self._edit(command.path, add)
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        self.files.delete(self._find(command.path, "delete"))
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        files, target = self._find(command.old_path, "rename"), parse(command.new_path)
        if not self.files.is_free(target):
            raise ToolError(f"The destination {command.new_path} already exists")
        self.files.move(files, parse(command.old_path), target)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def history(self, path: str) -> list[t.Version]:
        """Return the versions of a file, the newest first, each with the commit that made it."""
        return self.files.history(parse(path))

    def undo(self, path: str) -> t.Commit:
        """Undo the commit that changed a file last, whatever else it changed, such as a whole folder."""
        if commit := self.files.undo(parse(path)):
            return commit
        raise ToolError(GONE.format(path))

    def review(self, title: str, target: str = "main") -> t.MergeRequest:
        """Ask people to review what was changed on the memory's branch, and to merge it."""
        branch = self.memory.sender.target.defaults.get("branch", "main")
        return self.memory.merge_requests.create(branch, target=target, title=title)

    def _find(self, path: str, verb: str) -> list[t.Item]:
        if len(parts := parse(path)) == 1:
            raise ToolError(f"Cannot {verb} the /memories directory itself")
        if files := self.files.list_at(parts):
            return files
        raise ToolError(f"The path {path} does not exist")

    def _edit(self, path: str, change: Any) -> tuple[str, str]:
        if edited := self.files.edit(parse(path), change):
            return edited
        is_folder = self.files.list_below(parse(path))
        raise ToolError(f"The path {path} is not a file." if is_folder else GONE.format(path))


class AsyncDay1MemoryTool(BetaAsyncAbstractMemoryTool):
    """The same files, beside the event loop; ``tool`` has the history, review and undo."""

    def __init__(self, memory: Day1 | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.tool = Day1MemoryTool(memory)

    async def _run(self, command: Any) -> Any:
        return await asyncio.to_thread(self.tool.execute, command)

    view = create = str_replace = insert = delete = rename = _run


def parse(path: str) -> list[str]:
    """Return the names of a path. Raises ToolError for one that leads out of /memories."""
    parts = path.removesuffix("/").split("/")[1:]
    if not f"{path}/".startswith(f"/{ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {path}")
    if any(not one.strip(". ") or "%" in one for one in parts):
        raise ToolError(f"Path {path} would escape /memories directory")
    return parts


def number(lines: list[str], first: int) -> str:
    return "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines, first))
