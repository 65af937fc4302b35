"""Versions whose content was changed: put back from copies, where the checksum proves them right."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, DatabaseError, models
from django.db.models.functions import Cast

from memory.db.backend import get_features, get_index_check
from memory.db.bulk_sql import update_one
from memory.db.indexes import full_text_index
from memory.engines.store.check.problems import CheckedStore, Findings
from memory.engines.store.check.rows import walk_keys
from memory.engines.store.check.versions import has_changed
from memory.engines.support.batches import Progress
from memory.engines.support.readable_rows import read_rows, try_read
from memory.engines.versions.kinds import versioned_models
from memory.models.checksums import compute_checksum

BYTES = range(256)

Values = dict[str, Any]  # by column


def mend_version(row: Any, damaged: Mapping[str, bytes], texts: Iterable[str]) -> bool:
    """Put a version back; return False where no copy of its content fits. See ``find_copy``."""
    if (values := find_copy(row, damaged, texts)) is None:
        return False
    set_values(row, values)
    update_one(row, *values)
    return True


def find_copy(row: Any, damaged: Mapping[str, bytes], texts: Iterable[str]) -> Values | None:
    """Return what makes a version again what was written, as its checksum proves; None where no copy does.

    ``damaged`` are columns that cannot be read, with the bytes that they have; ``texts`` is what a search
    index has. Where no column is known to be damaged, one at a time is tried.
    """
    if row.checksum is None or not set(damaged) <= set(row.content_fields()):
        return None
    for values in list_candidates(row, damaged, texts):
        before = {name: getattr(row, name) for name in values}
        set_values(row, values)
        is_proven = compute_checksum(row) == row.checksum
        set_values(row, before)
        if is_proven:
            return values
    return None


def set_values(row: Any, values: Values) -> None:
    for name, value in values.items():
        setattr(row, name, value)


def list_candidates(row: Any, damaged: Mapping[str, bytes], texts: Iterable[str]) -> Iterator[Values]:
    """Yield values that damaged columns, or any single one, may have had."""
    if not damaged or list(damaged) == [row.TEXT]:
        yield from ({row.TEXT: text} for text in texts)
    for other in list_others(row):
        names = [name for name in row.content_fields() if getattr(other, name) != getattr(row, name)]
        if damaged:
            yield {name: getattr(other, name) for name in damaged}
        else:
            yield from ({name: getattr(other, name)} for name in names)
    if damaged:
        yield {name: row._meta.get_field(name).get_default() for name in damaged}
    if len(damaged) == 1:
        ((name, data),) = damaged.items()
        yield from ({name: value} for value in guess_values(row._meta.get_field(name), data))


def list_others(row: Any) -> list[Any]:
    """Return the other versions of the memory that can be read, the newest first."""
    others = type(row)._base_manager.filter(uid=row.uid).exclude(rid=row.rid).order_by("-rid")
    return read_rows(others, list(others.values_list("rid", flat=True)))[0]


def guess_values(field: Any, data: bytes) -> Iterator[Any]:
    """Yield what a text was that is no UTF-8, if one byte of it was changed."""
    for text in guess_texts(data):
        try:
            yield field.to_python(text)
        except (ValueError, ValidationError):  # no JSON either
            continue


def guess_texts(data: bytes) -> Iterator[str]:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        for place in range(max(0, error.start - 3), min(error.end + 1, len(data))):
            for byte in BYTES:
                try:
                    yield (data[:place] + bytes([byte]) + data[place + 1 :]).decode()
                except UnicodeDecodeError:
                    continue


def read_indexed_texts(row: Any) -> Iterator[str]:
    """Yield the text as the search index has it, which puts spaces into some scripts."""
    index = full_text_index(type(row))
    if index is None or not get_features().has_online_backup:
        return
    for table in (index.name, index.closed):
        with suppress(DatabaseError):
            if entry := get_index_check().read_entries(table, [row.rid]).get(row.rid):
                yield entry[0]


def walk_changed(tell: Progress) -> Iterator[tuple[Any, dict[str, bytes]]]:
    """Yield the versions that are not what was written, with those of their columns that cannot be read."""
    store = CheckedStore(DEFAULT_DB_ALIAS, None, tell)
    for rows in map(store.rows, versioned_models()):
        for keys in walk_keys(rows, Findings("")):
            read, unread = read_rows(rows, keys)
            yield from ((row, {}) for row in read if has_changed(row))
            yield from filter(None, (read_without(rows, key) for key in unread))


def read_without(rows: Any, key: Any) -> tuple[Any, dict[str, bytes]] | None:
    """Return a row without the values that cannot be read, and what these have; None for one that is gone."""
    one = rows.filter(pk=key)
    if not try_read(one.only("pk")):
        return None
    names = [field.attname for field in rows.model._meta.concrete_fields if not field.primary_key]
    damaged = [name for name in names if try_read(one.only("pk", name)) is None]
    if not (found := try_read(one.defer(*damaged))):
        return None
    data = one.values_list(*(Cast(name, models.BinaryField()) for name in damaged)).get() if damaged else ()
    set_values(found[0], dict.fromkeys(damaged))
    return found[0], {name: bytes(value or b"") for name, value in zip(damaged, data, strict=True)}


def seal_version(row: Any) -> bool:
    """Compute the checksum of a version that is older than checksums; return False for one that has one."""
    if row.checksum is not None or has_changed(row):
        return False
    row.set_checksum()
    update_one(row, "checksum")
    return True
