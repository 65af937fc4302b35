"""Usage of projects: growth is counted beside the writes, merged in memory and written about once a second; a
task counts the rows themselves and makes the count right.

A saved row is counted by a signal, many rows by who inserts them at once. A crash loses the last second of
the count. See docs/decisions/0069.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache, partial
from itertools import chain
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models, transaction
from django.db.models import Count, F, Sum
from django.db.models.signals import post_save
from django.utils import timezone

from memory.actors import Actor
from memory.db.bulk_sql import insert_all
from memory.db.columns import once_each
from memory.db.expressions import TotalBytes
from memory.db.fields import dumps
from memory.db.model_graph import path_to
from memory.db.transactions import retry_methods
from memory.engines.support.write_buffer import buffer
from memory.exceptions import NotFound
from memory.models import Branch, BranchedModel, ErasedMemory, Project, ProjectUsage
from memory.models.usage import add_known, build_usage, forget_known, get_usage, read_usage
from memory.queue.producer import enqueue
from memory.quota import NONE, Quota, Usage

logger = logging.getLogger(__name__)
APPS = ("memory", "conversations", "curation", "analytics")
COUNT_AGAIN = timedelta(hours=24)
FULL_AGAIN = timedelta(hours=1)  # at its quota: what expired since has made room
TEXTS = (models.CharField, models.TextField, models.BinaryField)
# What Day1 makes by itself, of rows that are counted: it never uses up what people and agents may store. An
# erasure does not either: it is how a full project empties itself.
DERIVED = frozenset(
    {
        "AgedVersion",
        "Consumption",
        "ErasedMemory",
        "Erasure",
        "FactUse",
        "HiddenVersion",
        "NearCheck",
        "PairVerdict",
        "ProjectUsage",
        "ReviewItem",
        "StoredTally",
        "Vector",
        "VectorClock",
        "VerificationCursor",
    }
)
SCHEDULE = "verification schedule"  # who orders what is checked again; no key and nobody has this name
# Columns and values of the rows of other tables that are not counted.
DERIVED_ROWS: dict[str, dict[str, tuple[str, ...]]] = {
    "AuditEntry": {"actor_kind": ("system",), "action": ("erasure.begin", "erasure.done")},
    "Commit": {"actor_kind": ("system",)},
    "FactAssessment": {"method": ("heuristic", "judge")},
    "Score": {"verification__created_by": (SCHEDULE,)},
    "Verification": {"created_by": (SCHEDULE,)},
    "VerificationJob": {"created_by": (SCHEDULE,)},
}


@retry_methods
class UsageEngine:
    def get_usage(self, *, actor: Actor) -> Usage:
        """Return what the actor's project stores, and its quota."""
        actor.require_scope("read")
        return get_usage(actor.project_id)

    def list_usage(self) -> list[tuple[Project, Usage]]:
        """Return the usage of every project, for who may administer the server."""
        return [(project, build_usage(row, project.limits)) for project, row in list_rows()]

    def list_full(self) -> dict[str, Usage]:
        """Return the usage of the projects that are at their quota, by name."""
        return {project.slug: usage for project, usage in self.list_usage() if usage.find_full()}

    def describe_own_quota(self, *, project_id: UUID) -> str:
        """Return the quota that a project has of its own, as set_quota takes it; "" for none."""
        found = ProjectUsage.objects.filter(pk=project_id).first()
        if found is None:
            return ""
        stored = {"rows": found.max_rows, "bytes": found.max_bytes}
        parts = {name: value for name, value in stored.items() if value is not None} | found.limits
        return ",".join(f"{name}={value or NONE}" for name, value in parts.items())

    def set_quota(self, *, slug: str, text: str) -> Usage:
        """Give a project a quota of its own; an empty text gives it that of the server again.

        For who may administer the server. Raises NotFound, ValueError.
        """
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise NotFound("There is no project {slug}.", slug=ascii(slug)[1:-1])
        values: dict[str, Any] = {"max_rows": None, "max_bytes": None, "limits": {}}
        if text:
            own = ProjectUsage.objects.filter(pk=project.pk).values_list("limits", flat=True).first()
            quota = replace(read_usage(project.pk).quota, limits=own or {}).with_parts(text)
            values = {"max_rows": quota.rows, "max_bytes": quota.bytes, "limits": dict(quota.limits)}
        make_usage(project.pk)
        ProjectUsage.objects.filter(pk=project.pk).update(**values)
        forget_known()
        return read_usage(project.pk)

    def count_due(self) -> int:
        """Count the projects that never were, not for a day, or are at their quota; return how many."""
        due = [project.pk for project, row in list_rows() if is_due(row)]
        for project_id in due:
            self.count_project(project_id)
        return len(due)

    def count_project(self, project_id: UUID) -> Usage:
        """Count what a project stores, while others write."""
        buffer.flush()  # what this process knows is in the rows already
        make_usage(project_id)
        before = ProjectUsage.objects.get(pk=project_id)
        rows, size = count_stored(project_id)
        ProjectUsage.objects.filter(pk=project_id).update(
            # What was added meanwhile stays added.
            rows=F("rows") + (rows - before.rows),
            bytes=F("bytes") + (size - before.bytes),
            counted_at=timezone.now(),
        )
        forget_known()
        usage = read_usage(project_id)
        warn_of_full(project_id, usage)
        return usage


def request_count(project_id: UUID) -> None:
    """Have a project counted soon, after rows came from elsewhere."""
    ProjectUsage.objects.filter(pk=project_id).update(counted_at=None)
    enqueue("memory.count_usage")


def list_rows() -> list[tuple[Project, ProjectUsage | None]]:
    """Return every project with the row of its usage, which it has from its first count on."""
    projects = Project.objects.select_related("usage").order_by("slug")
    return [(project, getattr(project, "usage", None)) for project in projects]


def is_due(row: ProjectUsage | None) -> bool:
    if row is None or row.counted_at is None:
        return True
    is_full = build_usage(row, {}).find_full()
    return timezone.now() - row.counted_at > (FULL_AGAIN if is_full else COUNT_AGAIN)


def warn_of_full(project_id: UUID, usage: Usage) -> None:
    if part := usage.find_full():
        slug = Project.objects.values_list("slug", flat=True).get(pk=project_id)
        used, limit = getattr(usage, part), getattr(usage.quota, part)
        logger.warning("The project %s has %s of %s %s: it takes no writes.", slug, used, limit, part)


def count_stored(project_id: UUID) -> tuple[int, int]:
    """Return rows and bytes of all that belongs to a project; versions that were erased are no rows."""
    branches = list(Branch.objects.filter(project=project_id).values_list("pk", flat=True))
    erased = ErasedMemory.objects.filter(project=project_id, salt="").values("uid")
    total, size = 0, 0
    for model in counted_models():
        rows = find_rows(model, project_id, branches)
        found = rows.aggregate(n=Count("pk"), size=Sum(TotalBytes(*list_text_columns(model))))
        blanked = rows.filter(uid__in=erased).count() if issubclass(model, BranchedModel) else 0
        total, size = total + found["n"] - blanked, size + (found["size"] or 0)
    return total, size


def counted_models() -> Iterator[type[models.Model]]:
    """Return the models whose rows are counted."""
    for app in APPS:
        yield from (model for model in apps.get_app_config(app).get_models() if find_project_path(model))


def find_rows(model: type[models.Model], project_id: UUID, branches: Iterable[int]) -> Any:
    """Return the rows of a project that are counted."""
    rows = model._base_manager.all()
    for column, values in DERIVED_ROWS.get(model.__name__, {}).items():
        rows = rows.exclude(**{f"{column}__in": values})
    if issubclass(model, BranchedModel):
        return rows.filter(branch_id__in=branches)
    return rows.filter(**{"__".join(find_project_path(model)): project_id})


def report_usage(usage: Usage) -> dict[str, Any]:
    """Return usage and quota in numbers; a quota of None is no bound."""
    parts = {"rows": usage.rows, "bytes": usage.bytes}
    quota: Quota = usage.quota
    return {
        "full": bool(usage.find_full()),
        **{
            name: {"used": max(0, used), "limit": getattr(quota, name) or None}
            for name, used in parts.items()
        },
    }


# ---- growth, beside the writes ---------------------------------------------------------------------


def count_rows(project_id: UUID, rows: Iterable[models.Model], size: int = 0) -> None:
    """Count rows that this transaction adds, when it commits, but for those that Day1 makes by itself;
    ``size`` is of further content.
    """
    counted: dict[type, list[models.Model]] = {}
    for row in rows:
        if not is_derived(row):
            counted.setdefault(type(row), []).append(row)
    number = sum(map(len, counted.values()))
    count_growth(project_id, number, size + sum(map(measure_rows, counted.values())))


def count_growth(project_id: UUID, rows: int, size: int) -> None:
    """Count rows and bytes that this transaction adds or, where they are negative, removes."""
    if rows or size:
        transaction.on_commit(partial(add_growth, project_id, rows, size))


def add_growth(project_id: UUID, rows: int, size: int) -> None:
    add_known(project_id, rows, size)
    buffer.add_value("usage", project_id, (rows, size))


def measure_rows(rows: Sequence[models.Model]) -> int:
    """Return the bytes of the texts of rows of one model."""
    values, write = list(chain.from_iterable(map(text_getter(type(rows[0])), rows))), once_each(dumps)
    texts = "".join([value for value in values if isinstance(value, str)])
    others = [value for value in values if value is not None and not isinstance(value, str)]
    return measure_value(texts) + sum(measure_value(one, write) if one else len("{}") for one in others)


def measure_value(value: Any, write: Callable[[Any], str] = dumps) -> int:
    """Return the bytes of a text, of bytes, or of a value as JSON."""
    if isinstance(value, bytes | memoryview):
        return len(value)
    text = value if isinstance(value, str) else write(value)
    return len(text if text.isascii() else text.encode("utf-8", "replace"))


@cache
def list_text_columns(model: type[models.Model]) -> tuple[str, ...]:
    """Return the columns of a model whose length depends on what somebody wrote."""
    return tuple(
        field.attname
        for field in model._meta.concrete_fields
        if isinstance(field, TEXTS) and not field.choices and not field.unique
    )


@cache
def text_getter(model: type[models.Model]) -> Callable[[Any], tuple[Any, ...]]:
    names = list_text_columns(model)
    return attrgetter(*names) if len(names) > 1 else lambda row: tuple(getattr(row, name) for name in names)


@cache
def find_project_path(model: type[models.Model]) -> tuple[str, ...]:
    """Return the keys that lead from a counted row to its project; () for a row that is not counted."""
    label = model._meta.object_name
    return (
        ()
        if label in DERIVED or model is Project
        else tuple(filter(None, path_to(Project, model).split("__")))
    )


def is_derived(row: models.Model) -> bool:
    """Return whether Day1 makes a row by itself, as far as it, and what memory knows of it, tell."""
    paths = DERIVED_ROWS.get(type(row).__name__, {})
    return type(row).__name__ in DERIVED or any(read_known(row, path) in paths[path] for path in paths)


def read_known(row: models.Model, path: str) -> Any:
    """Return the value to which keys lead from a row; None where memory does not know it yet."""
    *owners, column = path.split("__")
    return getattr(follow(row, owners), column, None)


def find_project(row: models.Model) -> UUID | None:
    """Return the project of a row as far as memory knows it: no query is worth the count of one row."""
    *owners, last = find_project_path(type(row)) or ("",)
    owner = follow(row, owners)
    return getattr(owner, f"{last}_id") if owner and last else None


def follow(row: models.Model, keys: Iterable[str]) -> models.Model | None:
    """Return the row to which keys lead; None where memory does not know one of them yet."""
    found: models.Model | None = row
    for key in keys:
        found = found and found._state.fields_cache.get(key)
    return found


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
