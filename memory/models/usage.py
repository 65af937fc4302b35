"""What a project stores, as its row and as this process knows it, and the refusal of writes past its quota.

The row is read once a second at most, and what this process writes is added meanwhile: a refused write
asks no database and takes no lock, and no read becomes a write. See docs/decisions/0069.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from uuid import UUID

from django.db import models

from memory.clock import read_time
from memory.conf import conf
from memory.db.fields import JSONTextField
from memory.db.raw_select import fetch_one
from memory.exceptions import ROWS_FULL, QuotaExceeded
from memory.limits import NAMED, choose_lower, name_period
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
    limits = JSONTextField(default=dict, help_text="Limit -> number that who keeps the server gave it.")


class Consumption(models.Model):
    """What a project or a key has used in a day or a month, counted in exact steps.

    ``reserved_tokens`` are of calls under way, and of those whose process was killed; ``estimated_tokens``
    are those, of the others, that no server told.
    """

    slot = models.CharField(max_length=48, primary_key=True, help_text="Of project or key, and the period.")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    period = models.CharField(max_length=10, db_index=True, help_text="2026-11-30 or 2026-11, in UTC.")
    writes = models.BigIntegerField(default=0)
    calls = models.BigIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    estimated_tokens = models.BigIntegerField(default=0)
    reserved_tokens = models.BigIntegerField(default=0)

    @staticmethod
    def name_slot(owner: UUID, window: str) -> str:
        """Return the key of a project's or key's row for the present day or month."""
        return f"{owner.hex}:{name_period(window, read_time())}"

    @staticmethod
    def make_row(slot: str, project_id: UUID) -> None:
        """Make the row of a slot, unless it is there by now."""
        fresh = Consumption(slot=slot, project_id=project_id, period=slot.rpartition(":")[2])
        Consumption.objects.bulk_create([fresh], ignore_conflicts=True)

    @property
    def tokens(self) -> int:
        """Return the tokens that are spent, with those of calls under way."""
        return self.input_tokens + self.output_tokens + self.reserved_tokens


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
    """Read what a project stores, its quota, and the limits that it has set itself."""
    project = fetch_one(Project, id=project_id)
    return build_usage(fetch_one(ProjectUsage, project=project_id), project.limits if project else {})


def build_usage(row: ProjectUsage | None, own_limits: Mapping[str, int]) -> Usage:
    """Return what a project stores by its row, which it has from its first count on."""
    quota = build_quota(row)
    limits = {
        name: choose_lower(quota.limits.get(name, 0), own_limits.get(name, one.default))
        for name, one in NAMED.items()
    }
    return Usage(row.rows if row else 0, row.bytes if row else 0, quota, monotonic(), limits)


def build_quota(row: ProjectUsage | None) -> Quota:
    """Return the quota of a project; what it does not have of its own is the server's."""
    server = get_server_quota()
    if row is None:
        return server
    return Quota(
        server.rows if row.max_rows is None else row.max_rows,
        server.bytes if row.max_bytes is None else row.max_bytes,
        {**server.limits, **row.limits},
    )


def get_server_quota() -> Quota:
    return Quota(conf().quota_rows, conf().quota_bytes, conf().limits)


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
