"""The audit trail: one entry per commit or act; sealed into a chain by beat."""

import hashlib
import logging
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from memory.actors import Actor
from memory.db.bulk import insert_all
from memory.db.fields import dumps
from memory.engines import cleaning as c
from memory.engines.pages import Page, page_of
from memory.models import AuditEntry, Project

logger = logging.getLogger(__name__)
SEALED = ("id", "at", "actor_kind", "actor_id", "actor_label", "surface", "action", "target", "detail")


def record(
    actor: Actor,
    action: str,
    target: str = "",
    detail: dict[str, Any] | None = None,
    at: datetime | None = None,
) -> AuditEntry:
    """Add an entry, in the transaction of what it tells of and with its time, now when None.

    The trail itself cannot be told a time: of an act that is recorded in the past it says so.
    """
    detail = detail or {}
    if actor.told_at:
        detail, at = detail | {"told_at": (at or actor.told_at).isoformat()}, None
    entry = AuditEntry(
        project_id=actor.project_id, at=at or timezone.now(), actor_kind=actor.kind, actor_id=actor.id,
        actor_label=actor.label, surface=actor.surface, action=action, target=target[:300], detail=detail,
    )  # fmt: skip
    insert_all([entry])
    return entry


class AuditEngine:
    def list_entries(
        self, *, actor: Actor, action: str = "", by: str = "", target: str = "",
        after: datetime | str = "", before: datetime | str = "", limit: int = 50, cursor: str = "",
    ) -> Page[AuditEntry]:  # fmt: skip
        """What was done in the project, newest first; ``after`` a time or at it, ``before`` another.

        Needs the scope admin. Raises Invalid.
        """
        actor.require("admin")
        entries = AuditEntry.objects.filter(project=actor.project_id)
        asked = {"action": action, "actor_label": by, "target": target}
        given: dict[str, Any] = {name: c.text(300)(name, value) for name, value in asked.items() if value}
        if after:
            given["at__gte"] = c.moment("after", after)
        if before:
            given["at__lt"] = c.moment("before", before)
        return page_of(entries.filter(**given), key="-id", limit=limit, cursor=cursor)


def seal(project: Project, batch: int = 1000) -> int:
    """Give the waiting entries their place in the chain; returns how many. Writers never wait for it."""
    with transaction.atomic(savepoint=False):
        Project.objects.select_for_update().get(pk=project.pk)  # two sealers cannot give one place twice
        entries = AuditEntry.objects.filter(project=project)
        place = entries.aggregate(last=Max("place"))["last"] or 0
        before = entries.filter(place=place).values_list("hash", flat=True).first() or ""
        waiting = list(entries.filter(place=None).order_by("id")[:batch])
        for entry in waiting:
            place += 1
            entry.place, entry.hash = place, _chained(before, place, entry)
            before = entry.hash
        AuditEntry.objects.bulk_update(waiting, ["place", "hash"], batch_size=200)
    return len(waiting)


def check_all() -> list[tuple[str, int]]:
    """(project, first place) of each chain that somebody has changed; each is logged as an error."""
    broken = []
    for project in Project.objects.all():
        if (place := broken_at(project.pk)) is not None:
            logger.error("The audit chain of project %s is broken at entry %s.", project.slug, place)
            broken.append((project.slug, place))
    return broken


def broken_at(project_id: UUID) -> int | None:
    """The first place whose entry does not fit the chain, or None when all do."""
    before = ""
    sealed = AuditEntry.objects.filter(project=project_id).exclude(place=None).order_by("place")
    for expected, entry in enumerate(sealed.iterator(1000), 1):
        if entry.place != expected or entry.hash != _chained(before, expected, entry):
            return expected
        before = entry.hash
    return None


def _chained(before: str, place: int, entry: AuditEntry) -> str:
    content = {name: getattr(entry, name) for name in SEALED}
    content["at"] = entry.at.isoformat()
    return hashlib.sha256(f"{before}|{place}|{dumps(content)}".encode()).hexdigest()
