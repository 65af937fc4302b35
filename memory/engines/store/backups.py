"""Backups that rotate: dated copies of the store in one folder, of which the newest are kept."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zlib import crc32

from django.conf import settings
from django.db import connection
from django.utils import timezone

from memory.conf import conf
from memory.db.backend import get_backend, get_features
from memory.engines.store.maintenance import Backup, MaintenanceEngine
from memory.engines.support.batches import Progress
from memory.exceptions import Conflict, Invalid, StoreDamaged

FOLDER = "backups"  # in the data directory
TIME = "%Y%m%dT%H%M%SZ"
OVERDUE = timedelta(hours=48)  # since the last of nightly backups
MAX_KEPT = 1000

DAMAGED = (
    "The store is damaged, so no backup is made of it, and none is removed. The newest one is {newest}. `day1"
    " check` says what is damaged and what to do."
)


@dataclass(frozen=True)
class Rotation:
    """A new backup, and the older ones that were removed for it."""

    backup: Backup
    removed: tuple[Path, ...]


class BackupEngine:
    def rotate(
        self,
        folder: Path | None = None,
        *,
        keep: int,
        progress: Progress | None = None,
        approve: Callable[[Path], bool] = lambda _: True,
    ) -> Rotation:
        """Copy the store to a dated file in a folder, and remove the oldest beyond ``keep``.

        Only files of this store whose names this method makes are removed, and only when the new one is
        there, whole and checked, and ``approve`` says so. Raises Invalid, Conflict, StoreDamaged.
        """
        if not 1 <= keep <= MAX_KEPT:
            raise Invalid("keep is 1 to {most}.", most=MAX_KEPT, field="keep")
        folder = (folder or get_folder()).absolute()
        if get_backend().find_damage():
            raise StoreDamaged(DAMAGED, newest=next(iter(list_backups(folder)), "none"))
        prepare_folder(folder)
        path = name_next(folder)
        backup = MaintenanceEngine().copy_store(path, progress=progress)
        removed = [old for old in list_backups(folder) if old != path][keep - 1 :] if approve(path) else []
        for old in removed:
            old.unlink(missing_ok=True)
        return Rotation(backup, tuple(removed))

    def rotate_nightly(self) -> Rotation | None:
        """Make the backup that the settings ask for; None where they ask for none."""
        return self.rotate(keep=conf().backup_keep) if conf().backup_keep else None


def describe_backups() -> dict[str, str | int | bool | None] | None:
    """Return the time and age of the newest backup that rotates, and whether it should be newer.

    None where the settings ask for none.
    """
    if not conf().backup_keep or not get_features().has_online_backup:
        return None
    newest = next(iter(list_backups(get_folder())), None)
    if newest is None:
        return {"at": None, "age_seconds": None, "overdue": False}
    at = read_time(newest)
    age = timezone.now() - at
    return {
        "at": at.isoformat(),
        "age_seconds": max(round(age.total_seconds()), 0),
        "overdue": age > OVERDUE,
    }


# ---- files -----------------------------------------------------------------------------------------


def get_folder() -> Path:
    """Return the folder of the backups: the setting's, in the data directory where it is relative."""
    return Path(settings.DATA_DIR) / (conf().backup_dir or FOLDER)


def get_prefix() -> str:
    """Return the beginning of the names of this store's backups: another one may use the same folder."""
    path = Path(str(connection.settings_dict["NAME"])).absolute()
    return f"{path.stem}-{crc32(str(path).encode()):08x}-"


def list_backups(folder: Path) -> list[Path]:
    """Return this store's backups in a folder by their names, newest first."""
    pattern = re.compile(re.escape(get_prefix()) + r"\d{8}T\d{6}Z\.sqlite3")
    return sorted((path for path in folder.glob("*.sqlite3") if pattern.fullmatch(path.name)), reverse=True)


def name_next(folder: Path) -> Path:
    """Return the name of a new backup: of this second, and later than all others, wherever the clock is."""
    at, newest = timezone.now(), next(iter(list_backups(folder)), None)
    if newest is not None:
        at = max(at, read_time(newest) + timedelta(seconds=1))
    return folder / f"{get_prefix()}{at.astimezone(UTC):{TIME}}.sqlite3"


def read_time(path: Path) -> datetime:
    return datetime.strptime(path.stem.rpartition("-")[2], TIME).replace(tzinfo=UTC)


def prepare_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Conflict("{path} cannot be written: {why}.", path=folder, why=error.strerror) from None
