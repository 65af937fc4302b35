"""The audit trail: one entry per commit or action, sealed into a hash chain by a periodic task."""

import hashlib
import logging
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Unpack
from uuid import UUID

from django.db import models
from django.db.models import Max
from django.utils import timezone

from memory.actors import IDENTITY, Actor
from memory.db.bulk_sql import build_row, insert_all
from memory.db.errors import StorageRefused
from memory.db.fields import dumps
from memory.db.transactions import write_transaction
from memory.engines.fields.orders import AUDIT
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Sorting, paginate
from memory.engines.support.usage import count_rows
from memory.engines.support.write_quotas import charge_writes
from memory.exceptions import QuotaExceeded, StoreDamaged
from memory.models import AuditEntry, Project
from memory.models.usage import GUARDING_RESERVE, RESERVE, check_room
from memory.request_context import get_request_id

logger = logging.getLogger(__name__)
# Actions that take something or a right away: no quota stops them, and each can be done once.
FREEING = (
    "branch.archive",
    "bundle.delete",
    "bundle.erase",
    "connection.replay",
    "connection.reuse",
    "connection.revoke",
    "conversation.close",
    "conversation.delete",
    "erasure.",
    "fact.archive",
    "fact.delete",
    "handoff.delete",
    "handoff.erase",
    "invitation.revoke",
    "key.revoke",
    "link.delete",
    "member.close",
    "member.remove",
    "message.delete",
    "observation.delete",
    "project.remove",
    "question.delete",
    "relation.close",
    "session.delete",
    "session.end",
    "task.cancel",
    "template.deprecate",
    "snapshot.drop",
    "store.salvage",
    "view.delete",
    "webhook.delete",
    "workspace.drop",
)
# Actions that judge, guard or put right. Some may be repeated without end, so these have a bound too.
GUARDING = (
    "bundle.distrust",
    "commit.revert",
    "connection.renew",
    "data.export",
    "fact.age",
    "fact.refuse",
    "fact.verify",
    "key.address",
    "key.rotate",
    "login",
    "member.role",
    "password.change",
    "policy.",
    "quarantine.create",
    "review.resolve",
    "webhook.gone",
    "webhook.rotate",
    "webhook.update",
)
SEALED = ("id", "at", "actor_kind", "actor_id", "actor_label", "surface", "action", "target", "detail")


def record_entry(
    actor: Actor,
    action: str,
    target: str = "",
    detail: dict[str, Any] | None = None,
    at: datetime | None = None,
    rows: Sequence[models.Model] = (),
) -> AuditEntry:
    """Add an entry in the caller's transaction, at the given time or now, and count it with ``rows``.

    The trail's own times cannot be backdated: a backdated action keeps its claimed time in the detail. Raises
    QuotaExceeded where the project is past its quota and the reserve of the action, unless it makes room, and
    where the key would be past its own.
    """
    if not action.startswith(FREEING):
        check_room(actor.project_id, GUARDING_RESERVE if action.startswith(GUARDING) else RESERVE)
    detail = detail or {}
    if actor.told_at:
        detail, at = detail | {"told_at": (at or actor.told_at).isoformat()}, None
    values = {"project_id": actor.project_id, "at": at or timezone.now(), "surface": actor.surface}
    values |= {"action": action, "target": target[:300], "detail": detail}
    values |= {"request_id": get_request_id() or None, **actor.identity_fields("actor")}
    entry = build_row(AuditEntry, values)
    insert_all([entry])
    count_rows(actor.project_id, [entry, *rows])
    charge_writes(actor, rows)
    return entry


class AuditEngine:
    def record_export(self, *, actor: Actor, target: str, detail: dict[str, Any] | None = None) -> None:
        """Record that somebody takes data out; it is not refused where the entry finds no room."""
        with suppress(QuotaExceeded, StoreDamaged, StorageRefused), write_transaction():
            record_entry(actor, "data.export", target, detail)

    def list_entries(
        self,
        *,
        actor: Actor,
        action: str = "",
        by: str = "",
        kind: str = "",
        target: str = "",
        request_id: str = "",
        after: datetime | str = "",
        before: datetime | str = "",
        **paging: Unpack[Sorting],
    ) -> Page[AuditEntry]:
        """List the project's audit entries, newest first; ``after`` is inclusive, ``before`` exclusive.

        ``by`` is a label, which may be that of several, or ``user:7``, ``key:0197…`` or ``local:``; ``kind``
        is the kind of the actor. Needs the scope admin. Raises Invalid.
        """
        actor.require_scope("admin")
        entries = AuditEntry.objects.filter(project=actor.project_id)
        if identity := IDENTITY.fullmatch(by):
            entries, by = entries.filter(actor_kind=identity[1], actor_id=identity[2]), ""
        requested = {"action": action, "actor_label": by, "actor_kind": kind, "target": target}
        requested |= {"request_id": request_id}
        columns: dict[str, Any] = {
            name: c.text_check(300)(name, value) for name, value in c.drop_empty(requested).items()
        }
        if after:
            columns["at__gte"] = c.parse_time("after", after)
        if before:
            columns["at__lt"] = c.parse_time("before", before)
        return paginate(entries.filter(**columns), AUDIT, **paging)


def seal_entries(project: Project, batch: int = 1000) -> int:
    """Append the waiting entries to the chain; return how many. Writers never wait for this."""
    with write_transaction():
        # two concurrent sealers must not assign the same position
        Project.objects.select_for_update().get(pk=project.pk)
        entries = AuditEntry.objects.filter(project=project)
        position = entries.aggregate(last=Max("place"))["last"] or 0
        before = entries.filter(place=position).values_list("hash", flat=True).first() or ""
        waiting = list(entries.filter(place=None).order_by("id")[:batch])
        for entry in waiting:
            position += 1
            entry.place, entry.hash = position, chain_hash(before, position, entry)
            before = entry.hash
        AuditEntry.objects.bulk_update(waiting, ["place", "hash"], batch_size=200)
    return len(waiting)


def check_all() -> list[tuple[str, int]]:
    """Return (project slug, first broken position) of each tampered chain; log each as an error."""
    broken = []
    for project in Project.objects.all():
        if (position := broken_at(project.pk)) is not None:
            logger.error("The audit chain of project %s is broken at entry %s.", project.slug, position)
            broken.append((project.slug, position))
    return broken


def broken_at(project_id: UUID) -> int | None:
    """Return the first position whose entry does not fit the chain, or None for an intact chain."""
    before = ""
    sealed = AuditEntry.objects.filter(project=project_id).exclude(place=None).order_by("place")
    for expected, entry in enumerate(sealed.iterator(1000), 1):
        if entry.place != expected or entry.hash != chain_hash(before, expected, entry):
            return expected
        before = entry.hash
    return None


def chain_hash(before: str, position: int, entry: AuditEntry) -> str:
    content = {name: getattr(entry, name) for name in SEALED}
    content["at"] = entry.at.isoformat()
    if entry.request_id is not None:  # entries of before there were ids keep their hashes
        content["request_id"] = entry.request_id
    return hashlib.sha256(f"{before}|{position}|{dumps(content)}".encode()).hexdigest()
