"""Usage of projects, counted from their rows: what growth.py adds up beside the writes is made right."""

import logging
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import reduce
from operator import add
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Count, F, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from memory.actors import Actor
from memory.db.expressions import ByteLength
from memory.db.retry import retry_methods
from memory.engines.support.growth import find_project_path, list_text_columns, make_usage
from memory.engines.support.write_buffer import buffer
from memory.exceptions import NotFound
from memory.models import Branch, BranchedModel, Project, ProjectUsage
from memory.queue.producer import enqueue
from memory.quota import NONE, Quota
from memory.usage import Usage, build_usage, forget_known, get_usage, read_usage

logger = logging.getLogger(__name__)
APPS = ("memory", "conversations", "curation", "analytics")
COUNT_AGAIN = timedelta(hours=24)
FULL_AGAIN = timedelta(hours=1)  # at its quota: what expired since has made room


@retry_methods
class UsageEngine:
    def get_usage(self, *, actor: Actor) -> Usage:
        """Return what the actor's project stores, and its quota."""
        actor.require_scope("read")
        return get_usage(actor.project_id)

    def list_usage(self) -> list[tuple[Project, Usage]]:
        """Return the usage of every project, for who may administer the server."""
        return [(project, build_usage(row)) for project, row in list_rows()]

    def list_full(self) -> dict[str, Usage]:
        """Return the usage of the projects that are at their quota, by name."""
        return {project.slug: usage for project, usage in self.list_usage() if usage.find_full()}

    def describe_own_quota(self, *, project_id: UUID) -> str:
        """Return the quota that a project has of its own, as set_quota takes it; "" for none."""
        found = ProjectUsage.objects.filter(pk=project_id).first()
        if found is None or found.max_rows is None or found.max_bytes is None:
            return ""
        return f"rows={found.max_rows or NONE},bytes={found.max_bytes or NONE}"

    def set_quota(self, *, slug: str, text: str) -> Usage:
        """Give a project a quota of its own; an empty text gives it that of the server again.

        For who may administer the server. Raises NotFound, ValueError.
        """
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise NotFound("There is no project {slug}.", slug=ascii(slug)[1:-1])
        values: dict[str, int | None] = {"max_rows": None, "max_bytes": None}
        if text:
            quota = read_usage(project.pk).quota.with_parts(text)
            values = {"max_rows": quota.rows, "max_bytes": quota.bytes}
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
    return timezone.now() - row.counted_at > (FULL_AGAIN if build_usage(row).find_full() else COUNT_AGAIN)


def warn_of_full(project_id: UUID, usage: Usage) -> None:
    if part := usage.find_full():
        slug = Project.objects.values_list("slug", flat=True).get(pk=project_id)
        used, limit = getattr(usage, part), getattr(usage.quota, part)
        logger.warning("The project %s has %s of %s %s: it takes no writes.", slug, used, limit, part)


def count_stored(project_id: UUID) -> tuple[int, int]:
    """Return rows and bytes of all that belongs to a project."""
    branches = list(Branch.objects.filter(project=project_id).values_list("pk", flat=True))
    total, size = 0, 0
    for model in counted_models():
        found = find_rows(model, project_id, branches).aggregate(n=Count("pk"), size=Sum(row_length(model)))
        total, size = total + found["n"], size + (found["size"] or 0)
    return total, size


def counted_models() -> Iterator[type[models.Model]]:
    """Return the models whose rows are counted."""
    for app in APPS:
        yield from (model for model in apps.get_app_config(app).get_models() if find_project_path(model))


def find_rows(model: type[models.Model], project_id: UUID, branches: Iterable[int]) -> Any:
    if issubclass(model, BranchedModel):
        return model._base_manager.filter(branch_id__in=branches)
    return model._base_manager.filter(**{"__".join(find_project_path(model)): project_id})


def row_length(model: type[models.Model]) -> Any:
    """Return the expression for the bytes of the texts of a row."""
    lengths = [Coalesce(ByteLength(F(name)), 0) for name in list_text_columns(model)]
    return reduce(add, lengths, Value(0))


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
