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

from memory.db import files
from memory.db.aliases import opened
from memory.db.copies import Changes, CopyFailed, Taken, checked, named, prefix_of
from memory.db.sqlite.backup import OnlineCopy

FILE = "day1.sqlite3"  # in a workspace's folder, which is a data directory of its own
ROOM = 1.1  # of the store's size must be free


class Copies:
    """The copies beside the database file of a connection."""

    def __init__(self, connection: Any) -> None:
        self.connection, self.online = connection, OnlineCopy(connection)
        self.folder, self.prefix = self.online.path.parent, prefix_of(self.online.path.name)

    def name(self, key: UUID, kind: str = "") -> str:
        """What a new copy is to be called: a folder may hold several stores."""
        return named(self.prefix, key, kind)

    def frozen(self) -> set[str]:
        """The names of the frozen copies of this store that are there, unfinished ones included."""
        return self._names("snapshots")

    def forks(self) -> set[str]:
        """The names of its copies to work in that are there, unfinished ones included."""
        return self._names("workspaces")

    def _names(self, folder: str) -> set[str]:
        own = re.compile(rf"\.?({self.prefix}(?:_[a-z]+)?_[0-9a-f]{{32}})\b")
        found = (own.match(path.name) for path in (self.folder / folder).glob("*"))
        return {match[1] for match in found if match}

    # ---- making ----------------------------------------------------------------------------------

    def take(self, name: str) -> Taken:
        """A frozen copy of this moment. Raises CopyFailed."""
        return self._copy(self._snapshot(name))

    def fork(self, name: str) -> Taken:
        """A copy to work in, as the store of a data directory of its own. Raises CopyFailed."""
        return self._copy(self._workspace(name))

    def drop(self, name: str) -> None:
        """Remove a frozen copy. One that is gone already is no error. Raises CopyFailed."""
        path = self._snapshot(name)
        try:
            for file in (path, *files.drafts(path)):
                file.unlink(missing_ok=True)
        except OSError as error:
            raise CopyFailed(f"The copy could not be removed: {error}.") from None

    def drop_fork(self, name: str) -> None:
        shutil.rmtree(self._workspace(name).parent, ignore_errors=True)

    def has(self, name: str) -> bool:
        return self._snapshot(name).exists()

    def has_fork(self, name: str) -> bool:
        return self._workspace(name).exists()

    def place_of_fork(self, name: str) -> str:
        """Where a server for this workspace is to be started."""
        return str(self._workspace(name).parent.relative_to(self.folder))

    # ---- reading ---------------------------------------------------------------------------------

    def check(self, name: str, taken: Taken) -> None:
        """Raises CopyFailed for a frozen copy that is gone or not the one that was taken."""
        path = self._snapshot(name)
        if not path.exists():
            raise CopyFailed(f"The file {path.name} of this snapshot is gone.")
        if files.sha256(path) != taken.sha256:
            raise CopyFailed(f"The file {path.name} of this snapshot was changed: its checksum differs.")

    @contextmanager
    def opened(self, name: str) -> Iterator[str]:
        """An alias to read a frozen copy under."""
        with opened(_frozen(self._snapshot(name))) as alias:
            yield alias

    @contextmanager
    def opened_fork(self, name: str) -> Iterator[str]:
        """An alias for a workspace, which a server may be using. Raises CopyFailed."""
        path = self._workspace(name)
        if not path.exists():
            raise CopyFailed("The files of this workspace are gone.")
        with opened({"NAME": str(path)}) as alias:
            yield alias

    def values(self, name: str, model: type[models.Model], fields: list[str], **equal: Any) -> list[tuple]:
        """Some columns of a frozen copy's rows; a quick look without an alias."""
        with self.opened(name) as alias:
            return list(model._base_manager.using(alias).filter(**equal).values_list(*fields))

    def changed(self, name: str, model: type[models.Model]) -> Changes:
        """By which keys a frozen copy differs from what is committed here."""
        return self._compared(self._snapshot(name), model)

    def changed_fork(self, name: str, model: type[models.Model]) -> Changes:
        return self._compared(self._workspace(name), model)

    def _compared(self, copy: Path, model: type[models.Model]) -> Changes:
        try:
            return self._compare(copy, model)
        except sqlite3.Error as error:
            raise CopyFailed(f"The copy cannot be compared, its tables may be older: {error}.") from None

    def _compare(self, copy: Path, model: type[models.Model]) -> Changes:
        table, key = f'"{model._meta.db_table}"', f'"{model._meta.pk.column}"'
        columns = ", ".join(f'"{field.column}"' for field in model._meta.local_concrete_fields)
        with closing(sqlite3.connect(self.online.path)) as store:
            store.execute("ATTACH DATABASE ? AS copy", [str(copy)])
            store.execute("BEGIN")  # one moment for the three questions

            def keys(sql: str) -> frozenset:
                pk = model._meta.pk
                return frozenset(pk.to_python(value) for (value,) in store.execute(sql))

            here, there = f"main.{table}", f"copy.{table}"
            return Changes(
                only_there=keys(f"SELECT {key} FROM {there} WHERE {key} NOT IN (SELECT {key} FROM {here})"),
                other=keys(
                    f"SELECT {key} FROM (SELECT {columns} FROM {there} EXCEPT SELECT {columns} FROM {here})"
                    f" WHERE {key} IN (SELECT {key} FROM {here})"
                ),
                only_here=keys(f"SELECT {key} FROM {here} WHERE {key} NOT IN (SELECT {key} FROM {there})"),
            )

    # ---- the past that the database keeps: SQLite keeps none -------------------------------------

    def window(self) -> int:
        return 0

    # ---- files -----------------------------------------------------------------------------------

    def _snapshot(self, name: str) -> Path:
        return self.folder / "snapshots" / f"{checked(name)}.sqlite3"

    def _workspace(self, name: str) -> Path:
        return self.folder / "workspaces" / checked(name) / FILE

    def _copy(self, path: Path) -> Taken:
        draft = None
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._need_room()
            draft = files.draft(path)
            if trouble := self.online.write(draft, lambda done, total: None):
                raise CopyFailed(f"The copy is damaged, so nothing was kept: {trouble}.")
            taken = Taken(path.name, draft.stat().st_size, files.sha256(draft))
            files.put(draft, path)
        except (OSError, sqlite3.Error) as error:
            raise CopyFailed(f"The copy could not be written: {error}.") from None
        finally:
            if draft is not None:
                draft.unlink(missing_ok=True)
        return taken

    def _need_room(self) -> None:
        wanted = sum(path.stat().st_size for path in self.online.files() if path.exists()) * ROOM
        if (free := shutil.disk_usage(self.folder).free) < wanted:
            raise CopyFailed(
                f"The copy needs {wanted / 1e6:.0f} MB, and {free / 1e6:.0f} MB of the disk are free."
            )


def _frozen(path: Path) -> dict[str, Any]:
    options = {"init_command": "PRAGMA query_only = ON"}
    return {"NAME": f"file:{quote(str(path))}?mode=ro&immutable=1", "OPTIONS": options}
