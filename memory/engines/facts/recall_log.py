"""Recall log: buffered and written in batches, so that a read does not become a write."""

from collections.abc import Mapping, Sequence
from itertools import islice
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from memory.actors import Actor
from memory.db.bulk_sql import insert_all
from memory.db.raw_select import select_equal
from memory.engines.support.usage import measure_rows, write_growth
from memory.engines.support.write_buffer import buffer
from memory.engines.versions.erased import closed_sessions, erased_uids
from memory.models import FactUse, RecallLog
from memory.models.base import ERASED_MARK
from memory.models.usage import is_full
from memory.redaction import redact_text

SCAN_LIMIT = 5000  # recalls searched for one fact
PAGE_SURFACES = ("web", "admin")  # there a person looks: no agent is told anything


def log_recall(actor: Actor, branches: Sequence[str], query: str, fact_ids: Sequence[UUID]) -> None:
    """Log a search and its results, unless a person looked at a page or the project is at its quota.

    Written within about a second; a crash may lose that second.
    """
    if actor.surface in PAGE_SURFACES or is_full(actor.project_id):
        return
    log = RecallLog(
        project_id=actor.project_id,
        at=actor.write_time(),
        branch=", ".join(branches)[:200],
        query=query,
        fact_ids=[str(uid) for uid in fact_ids],
        session_id=actor.session_id,
        agent_id=actor.agent_id,
        surface=actor.surface,
    )
    buffer.add_value("recalls", log.pk, log)


def newest_recalls(actor: Actor, fact_id: UUID, limit: int) -> list[RecallLog]:
    """Return the newest searches that returned a fact, among the project's last 5,000, on usable branches."""
    of_project = RecallLog.objects.filter(project=actor.project_id).order_by("-id")
    if oldest := of_project.values_list("pk", flat=True)[SCAN_LIMIT:].first():
        of_project = of_project.filter(pk__gt=oldest)
    found = of_project.filter(fact_ids__contains=str(fact_id))
    if not actor.branch_patterns:
        return list(found[:limit])
    usable = (log for log in found if all(actor.may_use(name) for name in log.branch.split(", ")))
    return list(islice(usable, limit))


def redact_queries(waiting: Mapping[UUID, RecallLog]) -> None:
    """Redact the queries here, where no search and no writer waits for it."""
    for log in waiting.values():
        log.query = redact_text(log.query)


def write_recalls(waiting: Mapping[UUID, RecallLog]) -> None:
    """Write the recalls, and count them on their facts."""
    logs = list(waiting.values())
    projects = {log.project_id for log in logs}
    for project_id in projects:
        of_project = [log for log in logs if log.project_id == project_id]
        blank_queries(project_id, of_project)
        write_growth({project_id: (len(of_project), measure_rows(of_project))})
    insert_all(logs)
    for project_id in projects:
        counts: dict[UUID, int] = {}
        for log in logs:
            if log.project_id == project_id:
                for uid in log.fact_ids:
                    counts[UUID(uid)] = counts.get(UUID(uid), 0) + 1
        count_uses(project_id, counts)


def blank_queries(project_id: UUID, logs: Sequence[RecallLog]) -> None:
    """Blank the queries of sessions, and those that found facts, which were erased while they waited."""
    sessions = closed_sessions(project_id, {log.session_id for log in logs})
    facts = {str(uid) for uid in erased_uids(project_id, {UUID(uid) for log in logs for uid in log.fact_ids})}
    for log in logs:
        if log.session_id in sessions or not facts.isdisjoint(log.fact_ids):
            log.query = ERASED_MARK


def count_uses(project_id: UUID, counts: dict[UUID, int]) -> None:
    now = timezone.now()
    known = {uid for (uid,) in select_equal(FactUse, ("uid",), uid=counts)}
    new = [FactUse(uid=uid, project_id=project_id, last_accessed_at=now) for uid in counts.keys() - known]
    insert_all(new, ignore_conflicts=True)  # another process may count it first
    for times in set(counts.values()):
        used = FactUse.objects.filter(uid__in=[uid for uid, n in counts.items() if n == times])
        used.update(access_count=F("access_count") + times, last_accessed_at=now)


buffer.register_kind("recalls", write_recalls, prepare=redact_queries)
