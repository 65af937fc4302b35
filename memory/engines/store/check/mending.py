"""Versions whose content was changed: put back from copies, where the checksum proves them right."""

from collections.abc import Iterator
from typing import Any

from memory.db.backend import get_features, get_index_check
from memory.db.bulk_sql import update_one
from memory.db.indexes import full_text_index
from memory.engines.store.check.versions import has_changed
from memory.models.checksums import compute_checksum


def mend_version(row: Any) -> bool:
    """Put a changed version back; return False where no copy of its content fits.

    One column at a time is taken from another version of the memory, or the text from the search index.
    """
    for name, value in list_candidates(row):
        changed = getattr(row, name)
        if value == changed:
            continue
        setattr(row, name, value)
        if compute_checksum(row) == row.checksum:
            update_one(row, name)
            return True
        setattr(row, name, changed)
    return False


def list_candidates(row: Any) -> Iterator[tuple[str, Any]]:
    """Yield values that a column of a version may have had."""
    for text in read_indexed_texts(row):
        yield row.TEXT, text
    others = type(row)._base_manager.filter(uid=row.uid).exclude(rid=row.rid).order_by("-rid")
    for other in others:
        for name in row.content_fields():
            yield name, getattr(other, name)


def read_indexed_texts(row: Any) -> Iterator[str]:
    """Yield the text as the search index has it, which puts spaces into some scripts."""
    index = full_text_index(type(row))
    if index is None or not get_features().has_online_backup:
        return
    for table in (index.name, index.closed):
        if entry := get_index_check().read_entries(table, [row.rid]).get(row.rid):
            yield entry[0]


def seal_version(row: Any) -> bool:
    """Compute the checksum of a version that is older than checksums; return False for one that has one."""
    if row.checksum is not None or has_changed(row):
        return False
    row.set_checksum()
    update_one(row, "checksum")
    return True
