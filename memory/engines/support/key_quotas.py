"""Quotas of keys: how many facts and bytes one may write, counted in the transaction that writes them."""

from collections.abc import Sequence

from django.db import models
from django.db.models import F

from memory.actors import Actor
from memory.db.budget import count_row_bytes
from memory.exceptions import KEY_FULL, QuotaExceeded
from memory.models import ApiKey, BranchedModel, Fact
from memory.quota import format_size


def charge_key(actor: Actor, rows: Sequence[models.Model]) -> None:
    """Count what a key with a quota writes: versions of facts, and bytes of all texts; deletions are free.

    Raises QuotaExceeded where that is more than it may write; the caller's transaction then ends.
    """
    written = [row for row in rows if isinstance(row, BranchedModel) and not row.deleted]
    if not actor.has_quota or not written:
        return
    facts, size = sum(isinstance(row, Fact) for row in written), sum(map(count_row_bytes, written))
    own = ApiKey.objects.filter(pk=actor.id)
    own.update(written_facts=F("written_facts") + facts, written_bytes=F("written_bytes") + size)
    for key in own:
        refuse_beyond(key)


def refuse_beyond(key: ApiKey) -> None:
    """Raise QuotaExceeded where a key has written more than it may."""
    if key.max_facts and key.written_facts > key.max_facts:
        raise QuotaExceeded(KEY_FULL, size=f"{key.max_facts} facts", limit=key.max_facts, part="facts")
    if key.max_bytes and key.written_bytes > key.max_bytes:
        size = format_size(key.max_bytes)
        raise QuotaExceeded(KEY_FULL, size=size, limit=key.max_bytes, part="bytes")
