"""How much a project stores, as this process knows it, and the refusal of writes past its quota.

It is read once a second at most, and what this process writes is added meanwhile: a refused write asks no
database and takes no lock, and no read becomes a write. See docs/decisions/0069.
"""

from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from memory.conf import conf
from memory.exceptions import ROWS_FULL, QuotaExceeded
from memory.models import ProjectUsage
from memory.quota import Quota, describe_stored, format_size

READ_SECONDS = 1.0
RESERVE = 1.1  # of the quota: until there, what curates, guards and administers goes on
MAX_PROJECTS = 10_000  # in the memory of this process


@dataclass
class Usage:
    """Rows and bytes of a project, and its quota."""

    rows: int
    bytes: int
    quota: Quota
    read_at: float = 0.0

    def describe(self) -> str:
        """Return what is stored of the quota, for a person."""
        return describe_stored(self.rows, self.bytes, self.quota)

    def find_full(self, share: float = 1.0) -> str:
        """Return which part has reached its share of the quota, ``bytes`` or ``rows``; "" for none."""
        for part in ("bytes", "rows"):
            if (most := getattr(self.quota, part)) and getattr(self, part) >= most * share:
                return part
        return ""


_known: dict[UUID, Usage] = {}


def get_usage(project_id: UUID) -> Usage:
    """Return what a project stores, a second old at most."""
    known = _known.get(project_id)
    if known is None or monotonic() - known.read_at > READ_SECONDS:
        known = read_usage(project_id)
        if len(_known) >= MAX_PROJECTS:
            _known.clear()
        _known[project_id] = known
    return known


def read_usage(project_id: UUID) -> Usage:
    """Read what a project stores, and its quota."""
    return build_usage(ProjectUsage.objects.filter(pk=project_id).first())


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
