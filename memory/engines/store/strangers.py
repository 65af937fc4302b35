"""Files in a store's place that are no store: emptied ones, and databases of other programs."""

from dataclasses import dataclass

from django.db import DEFAULT_DB_ALIAS

from memory.db.backend import get_features, get_file_check
from memory.engines.store.check.high_water import name_mark, read_mark
from memory.exceptions import NoStore

EMPTIED = (
    "{path} is empty, but {mark} says that it held a store: put a backup in its place, or remove both to"
    " begin anew."
)


@dataclass(frozen=True)
class Stranger:
    """What is in the place of a store, by a stable code and a sentence."""

    code: str
    text: str


def find_stranger(alias: str = DEFAULT_DB_ALIAS) -> Stranger | None:
    """Return what is there instead of a store; None for a store, where one can be made, and for a server's
    database.
    """
    if not get_features(alias).has_online_backup:
        return None
    check = get_file_check(alias)
    if not check.path.exists():
        return None
    if check.path.stat().st_size == 0:  # not opened: SQLite removes the log of an empty file
        emptied = EMPTIED.format(path=check.path, mark=name_mark(check.path).name)
        return Stranger("truncated_file", emptied) if read_mark(check.path) else None
    return Stranger(NoStore.code, NoStore(path=check.path).text) if check.is_foreign() else None
