"""The checksum of what a version says: made when it is written, compared by ``day1 check``.

Columns at their default are left out, so that a new column with a default changes no checksum. A migration
that renames a column or fills it must compute the checksums of its rows anew.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from hashlib import blake2b
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db import models

from memory.db.columns import join_columns, once_each, read_columns
from memory.db.fields import JSONTextField, dumps

DIGEST_BYTES = 8  # as many as a whole number of the database has

Encoder = Callable[[Any], str]


def compute_checksum(row: Any) -> int:
    """Return the checksum of a row's content, which is the same in every database."""
    model: Any = type(row)
    get_values, columns = list_columns(model)
    parts = [
        write_part(name, value, encode)
        for (name, default, encode), value in zip(columns, get_values(row), strict=True)
        if value != default
    ]
    return hash_text("".join(parts))


def set_checksums(rows: Sequence[Any]) -> None:
    """Compute the checksums of the content of rows of one model, which every write of it ends with."""
    many = compute_checksums(rows) if len(rows) > 1 else map(compute_checksum, rows)
    for row, checksum in zip(rows, many, strict=True):
        row.checksum = checksum


def compute_checksums(rows: Sequence[Any]) -> list[int]:
    """Return the checksums of rows of one model, of which there must be one, column by column."""
    model: Any = type(rows[0])
    get_values, columns = list_columns(model)
    parts = [
        write_parts(name, default, encode, values)
        for (name, default, encode), values in zip(columns, read_columns(get_values, rows), strict=True)
        if len(values) > 1 or values[0] != default
    ]
    return [hash_text("".join(texts)) for texts in join_columns([[""], *parts], len(rows))]


def write_parts(name: str, default: Any, encode: Encoder, values: Sequence[Any]) -> list[str]:
    encode = once_each(encode)
    return ["" if value == default else write_part(name, value, encode) for value in values]


def write_part(name: str, value: Any, encode: Encoder) -> str:
    """Return what the value of a column is in the input of the hash."""
    if value is None:
        return f"{name}!"
    text = encode(value)
    return f"{name}{len(text)}:{text}"  # its length before it: no two rows have the same input


def hash_text(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


@cache
def list_columns(model: Any) -> tuple[Callable[[Any], tuple], list[tuple[str, Any, Encoder]]]:
    """Return a getter for the content of a row, and each column's name, default and form as text."""
    fields = [model._meta.get_field(name) for name in model.content_fields()]
    columns = [(field.attname, field.get_default(), find_encoder(field)) for field in fields]
    return attrgetter(*(field.attname for field in fields)), columns


def find_encoder(field: models.Field) -> Encoder:
    """Return what writes a value of the field as text, however the database stores it."""
    if isinstance(field, JSONTextField):
        return dumps
    if isinstance(field, models.DateTimeField):
        return encode_time
    if isinstance(field, models.UUIDField):
        return encode_id
    if isinstance(field, models.FloatField):
        return lambda value: repr(float(value))
    if isinstance(field, models.IntegerField | models.BooleanField):
        return lambda value: str(int(value))
    return lambda value: str(value)


@lru_cache(maxsize=64)  # the rows of a commit share their times
def encode_time(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def encode_id(value: UUID | str) -> str:
    return value.hex if isinstance(value, UUID) else UUID(value).hex
