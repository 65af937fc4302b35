"""What a project stores, as its row and as this process knows it, and the refusal of writes past its quota.

The row is read once a second at most, and what this process writes is added meanwhile: a refused write
asks no database and takes no lock, and no read becomes a write. See docs/decisions/0069.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from uuid import UUID

from django.db import models

from memory.conf import conf
from memory.db.raw_select import fetch_one
from memory.exceptions import ROWS_FULL, QuotaExceeded
from memory.models.projects import Project
from memory.quota import Quota, Usage, format_size

READ_SECONDS = 1.0
RESERVE = 1.1  # of the quota: until there, what curates and administers goes on
GUARDING_RESERVE = 3.0  # and until there what judges, guards or puts right
MAX_PROJECTS = 10_000  # in the memory of this process


class ProjectUsage(models.Model):
    """Rows and bytes of a project, counted beside the writes and counted anew by a task.

    ``max_rows`` and ``max_bytes`` are its own quota: None is that of the server, 0 is no bound.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="usage")
    rows = models.BigIntegerField(default=0)
    bytes = models.BigIntegerField(default=0)
    counted_at = models.DateTimeField(null=True, help_text="When it was last counted; None: it is due.")
    max_rows = models.BigIntegerField(null=True)
    max_bytes = models.BigIntegerField(null=True)


_known: dict[UUID, Usage] = {}
_of_page: ContextVar[dict[UUID, Usage] | None] = ContextVar("usage_of_page", default=None)


@contextmanager
def read_usage_once() -> Iterator[None]:
    """Let a page read what a project stores once where it asks for it, whenever it was read last."""
    token = _of_page.set({})
    try:
        yield
    finally:
        _of_page.reset(token)


def get_usage(project_id: UUID) -> Usage:
    """Return what a project stores, a second old at most; within a page as it was read there."""
    if (of_page := _of_page.get()) is not None:
        if project_id not in of_page:
            of_page[project_id] = _keep(project_id)
        return of_page[project_id]
    known = _known.get(project_id)
    if known is None or monotonic() - known.read_at > READ_SECONDS:
        known = _keep(project_id)
    return known


def _keep(project_id: UUID) -> Usage:
    if len(_known) >= MAX_PROJECTS:
        _known.clear()
    _known[project_id] = read_usage(project_id)
    return _known[project_id]


def read_usage(project_id: UUID) -> Usage:
    """Read what a project stores, and its quota."""
    return build_usage(fetch_one(ProjectUsage, project=project_id))


def build_usage(row: ProjectUsage | None) -> Usage:
    """Return what a project stores by its row, which it has from its first count on."""
    if row is None:
        return Usage(0, 0, get_server_quota(), monotonic())
    return Usage(row.rows, row.bytes, build_quota(row.max_rows, row.max_bytes), monotonic())


def build_quota(max_rows: int | None, max_bytes: int | None) -> Quota:
    """Return the quota of a project; what it does not have of its own is the server's."""
    server = get_server_quota()
    return Quota(
        server.rows if max_rows is None else max_rows, server.bytes if max_bytes is None else max_bytes
    )


def get_server_quota() -> Quota:
    return Quota(conf().quota_rows, conf().quota_bytes)


def add_known(project_id: UUID, rows: int, size: int) -> None:
    """Add what this process has written."""
    if known := _known.get(project_id):
        known.rows += rows
        known.bytes += size


def forget_known() -> None:
    """Forget all projects: their numbers or quotas were changed."""
    _known.clear()


def is_full(project_id: UUID) -> bool:
    """Return whether a project is at its quota."""
    return bool(get_usage(project_id).find_full())


def check_room(project_id: UUID, share: float = 1.0) -> None:
    """Refuse a write of a project that has reached this share of its quota. Raises QuotaExceeded."""
    usage = get_usage(project_id)
    if not (part := usage.find_full(share)):
        return
    used, limit = getattr(usage, part), getattr(usage.quota, part)
    data = {"part": part, "used": used, "limit": limit}
    if part == "rows":
        raise QuotaExceeded(ROWS_FULL, **data)
    raise QuotaExceeded(size=format_size(used), most=format_size(limit), **data)
