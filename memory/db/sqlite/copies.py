"""Snapshots and workspaces on SQLite: whole copies of the file, made while it is in use."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import UUID

from django.db import models

from memory.db import atomic_files
from memory.db.sqlite.online_backup import OnlineCopy
from memory.db.store_copies import (
    Changes,
    CopyDamaged,
    CopyFailed,
    CopyInfo,
    build_name,
    build_prefix,
    check_name,
)
from memory.db.temporary_database import temporary_alias

FILE = "day1.sqlite3"  # in a workspace's folder, which is a data directory by itself
DISK_MARGIN = 1.1  # free space needed, as a multiple of the store's size


class Copies:
    """The snapshots and workspaces next to a connection's database file."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.online = connection, OnlineCopy(connection)
        self.folder, self.prefix = self.online.path.parent, build_prefix(self.online.path.name)

    def make_name(self, key: UUID, kind: str = "") -> str:
        """Return a name for a new copy; its prefix tells the stores of one folder apart."""
        return build_name(self.prefix, key, kind)

    def list_snapshots(self) -> set[str]:
        """Return the names of this store's snapshots, unfinished ones included."""
        return self._list_names("snapshots")

    def list_workspaces(self) -> set[str]:
        """Return the names of this store's workspaces, unfinished ones included."""
        return self._list_names("workspaces")

    def _list_names(self, folder: str) -> set[str]:
        own = re.compile(rf"\.?({self.prefix}(?:_[a-z]+)?_[0-9a-f]{{32}})\b")
        found = (own.match(path.name) for path in (self.folder / folder).glob("*"))
        return {match[1] for match in found if match}

    # ---- making ----------------------------------------------------------------------------------

    def take_snapshot(self, name: str) -> CopyInfo:
        """Take a snapshot of the present state. Raises CopyFailed."""
        return self._write_copy(self._snapshot_path(name))

    def create_workspace(self, name: str) -> CopyInfo:
        """Create a workspace: a copy of the store in its own data directory. Raises CopyFailed."""
        return self._write_copy(self._workspace_path(name))

    def drop_snapshot(self, name: str) -> None:
        """Delete a snapshot; a missing one is no error. Raises CopyFailed."""
        path = self._snapshot_path(name)
        try:
            for file in (path, *atomic_files.list_drafts(path)):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise CopyFailed(f"The copy could not be removed: {error}.") from None

    def drop_workspace(self, name: str) -> None:
        shutil.rmtree(self._workspace_path(name).parent, ignore_errors=True)

    def has_snapshot(self, name: str) -> bool:
        return self._snapshot_path(name).exists()

    def has_workspace(self, name: str) -> bool:
        return self._workspace_path(name).exists()

    def get_fork_target(self, name: str) -> str:
        """Return the data directory of a server for this workspace, relative to the store's folder."""
        return str(self._workspace_path(name).parent.relative_to(self.folder))

    # ---- reading ---------------------------------------------------------------------------------

    def check_snapshot(self, name: str, taken: CopyInfo) -> None:
        """Check that a snapshot exists unchanged. Raises CopyFailed."""
        path = self._snapshot_path(name)
        if not path.exists():
            raise CopyFailed(f"The file {path.name} of this snapshot is gone.")
        if atomic_files.file_sha256(path) != taken.sha256:
            raise CopyFailed(f"The file {path.name} of this snapshot was changed: its checksum differs.")

    @contextmanager
    def open_snapshot(self, name: str) -> Iterator[str]:
        """Open a snapshot for reading under a database alias."""
        with temporary_alias(read_only_settings(self._snapshot_path(name))) as alias:
            yield alias

    @contextmanager
    def open_workspace(self, name: str) -> Iterator[str]:
        """Open a workspace under a database alias; a server may be using it. Raises CopyFailed."""
        path = self._workspace_path(name)
        if not path.exists():
            raise CopyFailed("The files of this workspace are gone.")
        with temporary_alias({"NAME": str(path)}) as alias:
            yield alias

    def read_values(
        self, name: str, model: type[models.Model], fields: list[str], **equal: Any
    ) -> list[tuple]:
        """Return columns of a snapshot's rows."""
        with self.open_snapshot(name) as alias:
            return list(model._base_manager.using(alias).filter(**equal).values_list(*fields))

    def diff_snapshot(self, name: str, model: type[models.Model]) -> Changes:
        """Return the keys by which a snapshot differs from the present state."""
        return self._compare_checked(self._snapshot_path(name), model)

    def diff_workspace(self, name: str, model: type[models.Model]) -> Changes:
        return self._compare_checked(self._workspace_path(name), model)

    def _compare_checked(self, copy: Path, model: type[models.Model]) -> Changes:
        try:
            return self._compare_rows(copy, model)
        except sqlite3.Error as error:
            raise CopyFailed(f"The copy cannot be compared, its tables may be older: {error}.") from None

    def _compare_rows(self, copy: Path, model: type[models.Model]) -> Changes:
        table, key = f'"{model._meta.db_table}"', f'"{model._meta.pk.column}"'
        columns = ", ".join(f'"{field.column}"' for field in model._meta.local_concrete_fields)
        with closing(sqlite3.connect(self.online.path)) as store:
            store.execute("ATTACH DATABASE ? AS copy", [str(copy)])
            store.execute("BEGIN")  # one state for the three queries

            def keys(sql: str) -> frozenset:
                pk = model._meta.pk
                return frozenset(pk.to_python(value) for (value,) in store.execute(sql))

            own, copied = f"main.{table}", f"copy.{table}"
            return Changes(
                only_there=keys(f"SELECT {key} FROM {copied} WHERE {key} NOT IN (SELECT {key} FROM {own})"),
                other=keys(
                    f"SELECT {key} FROM (SELECT {columns} FROM {copied} EXCEPT SELECT {columns} FROM {own})"
                    f" WHERE {key} IN (SELECT {key} FROM {own})"
                ),
                only_here=keys(f"SELECT {key} FROM {own} WHERE {key} NOT IN (SELECT {key} FROM {copied})"),
            )

    # ---- past states: SQLite keeps none ------------------------------------------------------------

    def window_days(self) -> int:
        return 0

    def set_retention(self, days: int) -> None:
        raise CopyFailed("This database keeps no past states.")

    # ---- files -----------------------------------------------------------------------------------

    def _snapshot_path(self, name: str) -> Path:
        return self.folder / "snapshots" / f"{check_name(name)}.sqlite3"

    def _workspace_path(self, name: str) -> Path:
        return self.folder / "workspaces" / check_name(name) / FILE

    def _write_copy(self, path: Path) -> CopyInfo:
        draft = None
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._need_room()
            draft = atomic_files.create_draft(path)
            if trouble := self.online.copy_to(draft, lambda done, total: None):
                raise CopyDamaged(trouble)
            taken = CopyInfo(path.name, draft.stat().st_size, atomic_files.file_sha256(draft))
            atomic_files.publish_file(draft, path)
        except (OSError, sqlite3.Error) as error:
            raise CopyFailed(f"The copy could not be written: {error}.") from None
        finally:
            if draft is not None:
                draft.unlink(missing_ok=True)
        return taken

    def _need_room(self) -> None:
        requested = (
            sum(path.stat().st_size for path in self.online.list_files() if path.exists()) * DISK_MARGIN
        )
        if (free := shutil.disk_usage(self.folder).free) < requested:
            raise CopyFailed(
                f"The copy needs {requested / 1e6:.0f} MB, and {free / 1e6:.0f} MB of the disk are free."
            )


def read_only_settings(path: Path) -> dict[str, Any]:
    options = {"init_command": "PRAGMA query_only = ON"}
    return {"NAME": f"file:{quote(str(path))}?mode=ro&immutable=1", "OPTIONS": options}
