"""What keys and projects may write, in all and in a day, counted in the transaction that writes."""

from collections.abc import Sequence
from uuid import UUID

from django.db import models
from django.db.models import F

from memory import limits
from memory.actors import Actor
from memory.clock import read_time
from memory.db.budget import count_row_bytes
from memory.engines.support.rate_limits import note_limit
from memory.exceptions import KEY_FULL, PROJECT_LIMIT, LimitReached, QuotaExceeded
from memory.limits import DAY, Limit
from memory.models import ApiKey, BranchedModel, Consumption, Fact
from memory.models.usage import get_usage
from memory.quota import format_size

DERIVING = "system"  # the kind of who works for Day1 itself


def charge_writes(actor: Actor, rows: Sequence[models.Model]) -> None:
    """Count the versions that are written, where key or project has a bound; deletions are free.

    Raises QuotaExceeded or LimitReached where that is more than may be written; the caller's transaction then
    ends.
    """
    written = [row for row in rows if isinstance(row, BranchedModel) and not row.deleted]
    if not written or actor.kind == DERIVING:
        return
    if actor.has_quota:
        charge_key(actor, written)
    if most := get_usage(actor.project_id).limits[limits.DAILY_WRITES.name]:
        charge_day(limits.DAILY_WRITES, actor.project_id, actor.project_id, len(written), most)


def charge_key(actor: Actor, written: Sequence[BranchedModel]) -> None:
    """Count what a key with a bound writes: versions of facts, bytes of all texts, versions of the day."""
    facts, size = sum(isinstance(row, Fact) for row in written), sum(map(count_row_bytes, written))
    own = ApiKey.objects.filter(pk=actor.id)
    own.update(written_facts=F("written_facts") + facts, written_bytes=F("written_bytes") + size)
    for key in own:
        refuse_beyond(key)
        if most := key.max_daily_writes:
            limit = limits.LIMITS["key_daily_writes"]
            charge_day(limit, key.pk, actor.project_id, len(written), most)


def refuse_beyond(key: ApiKey) -> None:
    """Raise QuotaExceeded where a key has written more than it may."""
    if key.max_facts and key.written_facts > key.max_facts:
        raise QuotaExceeded(KEY_FULL, size=f"{key.max_facts} facts", limit=key.max_facts, part="facts")
    if key.max_bytes and key.written_bytes > key.max_bytes:
        size = format_size(key.max_bytes)
        raise QuotaExceeded(KEY_FULL, size=size, limit=key.max_bytes, part="bytes")


def charge_day(limit: Limit, owner: UUID, project_id: UUID, count: int, most: int) -> None:
    """Count versions of a day by one statement, which counts none beyond the limit. Raises LimitReached."""
    slot = Consumption.name_slot(owner, DAY)
    row = Consumption.objects.filter(pk=slot)
    may_write, more = row.filter(writes__lte=most - count), {"writes": F("writes") + count}
    if not may_write.update(**more):
        Consumption.make_row(slot, project_id)
        if not may_write.update(**more):
            raise build_refusal(limit, read_writes(owner), most, count)
    note_limit(limit, most, read_writes(owner))


def read_writes(owner: UUID) -> int:
    """Return how many versions a project or key has written today, of those that were counted."""
    row = Consumption.objects.filter(pk=Consumption.name_slot(owner, DAY))
    return row.values_list("writes", flat=True).first() or 0


def build_refusal(limit: Limit, used: int, most: int, count: int) -> LimitReached:
    now = read_time()
    resets_at = limits.find_reset(limit.window, now)
    note_limit(limit, most, used)
    return LimitReached(
        what="key" if limit.owner == limits.Owner.KEY else "project",
        limit_name=limit.name,
        used=used,
        limit=most,
        count=count,
        unit=limit.unit,
        window=limit.window,
        resets_at=f"{resets_at:%Y-%m-%dT%H:%MZ}",
        retry_after=int((resets_at - now).total_seconds()) + 1,
    )


def check_count(actor: Actor, name: str, count: models.QuerySet) -> None:
    """Refuse one more of what a project has as many of as it may. Raises QuotaExceeded."""
    most = 0 if actor.kind == DERIVING else get_usage(actor.project_id).limits[name]
    if most and (used := count.count()) >= most:
        unit = limits.LIMITS[name].unit
        raise QuotaExceeded(PROJECT_LIMIT, part=name, used=used, limit=most, unit=unit)
