"""Growth of projects, counted beside the writes: merged in memory and written about once a second.

A saved row is counted by a signal, many rows by who inserts them at once. A crash loses the last second of
the count; memory.count_usage counts anew. See docs/decisions/0069.
"""

from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any
from uuid import UUID

from django.db import models, transaction
from django.db.models import F
from django.db.models.signals import post_save

from memory.db.bulk_sql import insert_all
from memory.db.fields import dumps
from memory.db.model_graph import path_to
from memory.engines.support.write_buffer import buffer
from memory.models import Project, ProjectUsage
from memory.usage import add_known

TEXTS = (models.CharField, models.TextField, models.BinaryField)
# Made of other rows, and made anew where they are missing; counted rows count for them.
DERIVED = frozenset({"NearCheck", "ProjectUsage", "StoredTally", "Vector", "VectorClock"})


def count_rows(project_id: UUID, rows: Iterable[models.Model], size: int = 0) -> None:
    """Count rows that this transaction adds, when it commits; ``size`` is of further content."""
    number = 0
    for row in rows:
        number += 1
        size += measure_row(row)
    count_growth(project_id, number, size)


def count_growth(project_id: UUID, rows: int, size: int) -> None:
    """Count rows and bytes that this transaction adds or, where they are negative, removes."""
    if rows or size:
        transaction.on_commit(partial(add_growth, project_id, rows, size))


def add_growth(project_id: UUID, rows: int, size: int) -> None:
    add_known(project_id, rows, size)
    buffer.add_value("usage", project_id, (rows, size))


def measure_row(row: models.Model) -> int:
    """Return the bytes of the texts of a row."""
    total = 0
    for name in list_text_columns(type(row)):
        value = getattr(row, name)
        if isinstance(value, str) and value.isascii():
            total += len(value)
        elif value is not None:
            total += measure_value(value) if value else len("{}")
    return total


def measure_value(value: Any) -> int:
    """Return the bytes of a text, of bytes, or of a value as JSON."""
    if isinstance(value, bytes | memoryview):
        return len(value)
    text = value if isinstance(value, str) else dumps(value)
    return len(text.encode("utf-8", "replace"))


@cache
def list_text_columns(model: type[models.Model]) -> tuple[str, ...]:
    """Return the columns of a model whose length depends on what somebody wrote."""
    return tuple(
        field.attname
        for field in model._meta.concrete_fields
        if isinstance(field, TEXTS) and not field.choices and not field.unique
    )


@cache
def find_project_path(model: type[models.Model]) -> tuple[str, ...]:
    """Return the keys that lead from a counted row to its project; () for a row that is not counted."""
    label = model._meta.object_name
    return (
        ()
        if label in DERIVED or model is Project
        else tuple(filter(None, path_to(Project, model).split("__")))
    )


def find_project(row: models.Model) -> UUID | None:
    """Return the project of a row as far as memory knows it: no query is worth the count of one row."""
    *owners, last = find_project_path(type(row)) or ("",)
    for name in owners:
        if not row._state.fields_cache.get(name):
            return None
        row = getattr(row, name)
    return getattr(row, f"{last}_id") if last else None


def count_saved(instance: models.Model, created: bool, raw: bool = False, **_: Any) -> None:
    """Count a row that was saved for the first time."""
    if created and not raw and (project_id := find_project(instance)):
        count_rows(project_id, [instance])


def merge_growth(old: tuple[int, int], new: tuple[int, int]) -> tuple[int, int]:
    return old[0] + new[0], old[1] + new[1]


def write_growth(waiting: Mapping[UUID, tuple[int, int]]) -> None:
    """Write what has grown since the last time; other processes add to the same rows."""
    for project_id, (rows, size) in waiting.items():
        usage = ProjectUsage.objects.filter(pk=project_id)
        grown = {"rows": F("rows") + rows, "bytes": F("bytes") + size}
        if not usage.update(**grown) and make_usage(project_id):
            usage.update(**grown)


def make_usage(project_id: UUID) -> bool:
    """Make the row of a project's usage; return whether there is a project."""
    if not Project.objects.filter(pk=project_id).exists():
        return False
    insert_all([ProjectUsage(project_id=project_id)], ignore_conflicts=True)
    return True


buffer.register_kind("usage", write_growth, merge_growth)
post_save.connect(count_saved, dispatch_uid="day1.growth")
