"""Text files in folders, each an item: what a memory made of files needs, whatever program asks for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from day1_client import Day1
from day1_client import types as t
from day1_client.codes import KeyTaken, NotFound, StaleVersion

Parts = Sequence[str]  # the names of a path, the root's first


def locate(parts: Parts) -> dict[str, Any]:
    """Return where the item of a path stands."""
    return {"namespace": "/".join(parts[:-1]), "key": parts[-1]}


def path_of(file: t.Item) -> list[str]:
    """Return the names of a file's path."""
    return [*file["namespace"].split("/"), file["key"]]


def measure(files: list[t.Item], parts: Parts) -> dict[str, int]:
    """Return the sizes of what is at most two levels below a folder, by path; hidden files are left out."""
    sizes: dict[str, int] = {}
    for file in files:
        below = path_of(file)[len(parts) :]
        for end in range(min(2, len(below)) + 1 if not any(one.startswith(".") for one in below) else 0):
            path = "/".join(["", *parts, *below[:end]]) + ("/" if 0 < end < len(below) else "")
            sizes[path] = sizes.get(path, 0) + len(file["value"].encode())
    return sizes


def format_size(size: float) -> str:
    """Return a size in a few letters, such as 1.5K."""
    power = min(3, max(0, int(size).bit_length() - 1) // 10)
    return f"{size / 1024**power:.1f}".removesuffix(".0") + "BKMG"[power]


class Files:
    """The files below a root, on the branch and of the end user of a memory."""

    def __init__(self, memory: Day1) -> None:
        self.memory = memory

    def read(self, parts: Parts, at: int | None = None) -> t.Item | None:
        """Return a file, as it was at a commit's seq if given; None where there is none."""
        try:
            return self.memory.items.get(**locate(parts), at=at) if len(parts) > 1 else None
        except NotFound:
            return None

    def list_below(self, parts: Parts) -> list[t.Item]:
        """Return all files below a folder."""
        return list(self.memory.items.list(prefix="/".join(parts), limit=100))

    def list_at(self, parts: Parts) -> list[t.Item]:
        """Return the file of a path, or all below the folder that it is."""
        return [file] if (file := self.read(parts)) else self.list_below(parts)

    def is_free(self, parts: Parts) -> bool:
        """Return whether a file may stand there: nothing does, and what is above is no file."""
        above = any(self.read(parts[:end]) for end in range(2, len(parts) + 1))
        return len(parts) > 1 and not above and not self.list_below(parts)

    def create(self, parts: Parts, text: str) -> bool:
        """Make a file; return whether it was made, as it is not where something stands there."""
        try:
            return self.is_free(parts) and bool(
                self.memory.items.put(**locate(parts), value=text, only_new=True)
            )
        except KeyTaken:
            return False

    def edit(self, parts: Parts, change: Callable[[str], str]) -> tuple[str, str] | None:
        """Change a file, whoever else does so meanwhile; return what it was and is, None without a file."""
        while file := self.read(parts):
            new = change(file["value"])
            try:
                self.memory.items.put(**locate(parts), value=new, expected_version=file["version"])
                return file["value"], new
            except StaleVersion:
                continue
        return None

    def delete(self, files: Sequence[t.Item]) -> None:
        """Delete files in one commit."""
        self._batch([{"op": "delete", **locate(path_of(file))} for file in files])

    def move(self, files: Sequence[t.Item], source: Parts, target: Parts) -> None:
        """Move files from below one path to below another in one commit. Raises KeyTaken, StaleVersion."""
        calls: list[dict[str, Any]] = []
        for file in files:
            old, new = path_of(file), [*target, *path_of(file)[len(source) :]]
            calls.append({"op": "delete", **locate(old), "expected_version": file["version"]})
            calls.append({"op": "put", **locate(new), "value": file["value"], "only_new": True})
        self._batch(calls)

    def history(self, parts: Parts) -> list[t.Version]:
        """Return the versions of a file, the newest first, also of one that was deleted; [] for none."""
        branch = self.memory.sender.target.defaults.get("branch", "main")
        log = self.memory.branches.log(branch, limit=100).results
        for seq in [None, *(commit["seq"] - 1 for commit in log)]:  # what is gone was there before a commit
            if file := self.read(parts, at=seq):
                return list(self.memory.facts.history(file["id"]))
        return []

    def undo(self, parts: Parts) -> t.Commit | None:
        """Undo the commit that changed a file last, with all that it changed; None where there is none."""
        versions = self.history(parts)
        commit = versions[0]["commit"] if versions else None
        return self.memory.commits.revert(commit["id"]) if commit else None

    def _batch(self, calls: list[dict[str, Any]]) -> None:
        self.memory.items.batch(cast("list[t.ItemCallInput]", calls))
