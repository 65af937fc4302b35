"""What every command works with: the same questions and answers for the local store and for a server.

Answers are plain dicts in the shapes of the REST API. Both raise errors with ``code`` and ``text``.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from day1site.cli.errors import CliError, UsageError

Answer = dict[str, Any]
Given = Mapping[str, Any]
Export = tuple[int, Iterator[tuple[Answer, list[Answer]]]]
Numbered = Sequence[tuple[int, Any]]


class Importer(Protocol):
    """One run over a file; an outcome has ``number``, ``state`` (new, known, broken) and ``reason``."""

    def take(self, lines: Numbered) -> list[Any]: ...

    def look(self, lines: Numbered) -> list[Any]: ...

    def unresolved(self) -> list[Any]: ...


class Client(Protocol):
    def write_fact(self, branch: str, fields: Given) -> Answer: ...

    def search(self, query: str, branches: Sequence[str], wish: Given, filters: Given) -> Answer: ...

    def explain(self, fact_id: str, query: str, branch: str, wish: Given, filters: Given) -> Answer: ...

    def list_facts(self, branch: str, filters: Given, paging: Given) -> Answer: ...

    def get_fact(self, fact_id: str, branch: str, at: str | None) -> Answer: ...

    def history(self, fact_id: str, branch: str, paging: Given) -> Answer: ...

    def change_fact(self, action: str, fact_id: str, branch: str, fields: Given) -> Answer | None:
        """Action is archive, restore, delete, supersede or verify; None after delete."""

    def create_branch(self, fields: Given) -> Answer: ...

    def list_branches(self, archived: bool, paging: Given) -> Answer: ...

    def log(self, name: str, paging: Given) -> Answer: ...

    def diff(self, name: str, how: Given, paging: Given) -> Answer: ...

    def stats(self, name: str) -> Answer: ...

    def archive_branch(self, name: str) -> Answer: ...

    def restore_branch(self, name: str) -> Answer: ...

    def create_snapshot(self, store: bool, fields: Given) -> Answer: ...

    def list_snapshots(self, which: Given, paging: Given) -> Answer: ...

    def restore_snapshot(self, snapshot_id: str, dry_run: bool) -> Answer: ...

    def drop_snapshot(self, snapshot_id: str) -> None: ...

    def get_window(self) -> Answer: ...

    def keep_window(self, days: int) -> Answer: ...

    def create_workspace(self, fields: Given) -> Answer: ...

    def list_workspaces(self, which: Given, paging: Given) -> Answer: ...

    def use_workspace(self, action: str, workspace_id: str) -> Answer:
        """Action is diff, promote or drop."""

    def create_key(self, fields: Given) -> Answer: ...

    def list_keys(self, paging: Given) -> Answer: ...

    def revoke_key(self, key_id: str) -> Answer: ...

    def importer(self, branch: str, message: str) -> Importer: ...

    def export(self, branch: str, at: str | None, private: bool) -> Export:
        """About how many facts there are, and each with the links that lead from it."""


def client(project: str, makes_store: bool = False) -> Client:
    """The server that DAY1_URL names, else the local store; ``makes_store`` where there is none yet."""
    if url := server():
        if project:
            raise UsageError("--project is for the local store: on a server the key decides.")
        from day1site.cli.remote import RemoteClient

        if not (key := os.environ.get("DAY1_KEY", "")):
            raise CliError("unauthenticated", "DAY1_URL is set, but DAY1_KEY is not: both are needed.")
        return RemoteClient(url, key)
    from day1site.cli.store import open_store

    open_store(make=makes_store)
    from day1site.cli.local import LocalClient  # its models need Django, which is started now

    return LocalClient(project)


def server() -> str:
    """The address of the server to work on; "" for the local store."""
    return os.environ.get("DAY1_URL", "").rstrip("/")
