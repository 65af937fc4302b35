"""Retention: rows with a time to live, deleted in small steps so that no writer waits long."""

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from memory.conf import conf
from memory.db.transactions import retry_methods
from memory.engines.access.oauth_clients import list_unused_clients
from memory.engines.access.work_handles import IDLE
from memory.engines.support.idempotency import TTL
from memory.models import Connection, IdempotencyRecord, IngestedEvent, RecallLog, WorkHandle

BATCH_SIZE = 500
GRANT_TTL = timedelta(days=1)  # of a program that was allowed or registered, and did nothing more
EVENTS_TTL = timedelta(days=30)  # longer than a client keeps events that it could not send


@retry_methods
class RetentionEngine:
    def forget_answers(self) -> int:
        """Delete the responses of requests that can no longer be repeated; return how many."""
        answers = IdempotencyRecord.objects.order_by("created_at")
        return delete_older(answers, "created_at", timezone.now() - TTL)

    def forget_grants(self) -> int:
        """Delete the codes that no program redeemed, and the programs that nobody connected, after a day;
        return how many.
        """
        before = timezone.now() - GRANT_TTL
        codes = Connection.objects.filter(key=None).order_by("created_at")
        clients = list_unused_clients().order_by("read_at")
        return delete_older(codes, "created_at", before) + delete_older(clients, "read_at", before)

    def forget_events(self) -> int:
        """Delete the ids of events older than 30 days; return how many."""
        return delete_older(IngestedEvent.objects.order_by("at"), "at", timezone.now() - EVENTS_TTL)

    def forget_handles(self) -> int:
        """Delete the work handles that were not used for a day; return how many."""
        return delete_older(WorkHandle.objects.order_by("used_at"), "used_at", timezone.now() - IDLE)

    def forget_recalls(self) -> int:
        """Delete the recall log beyond ``recall_days``; return how many, 0 when that is 0."""
        if not (days := conf().recall_days):
            return 0
        return delete_older(RecallLog.objects.order_by("pk"), "at", timezone.now() - timedelta(days=days))


def delete_older(rows: QuerySet, time: str, before: datetime) -> int:
    """Delete rows older than ``before``, in batches from the oldest on."""
    count = 0
    while front := list(rows.values_list("pk", time)[:BATCH_SIZE]):
        old = [pk for pk, at in front if at < before]
        count += rows.model._base_manager.filter(pk__in=old).delete()[0]
        if len(old) < len(front):
            break
    return count
