"""What is kept for a time only, and removed in small steps, so that no writer waits long."""

from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from memory.conf import conf
from memory.db.rerun import rerunning
from memory.engines.handles import IDLE
from memory.engines.idempotency import KEPT
from memory.models import IdempotencyRecord, IngestedEvent, RecallLog, WorkHandle

BATCH = 500
EVENTS_KEPT = timedelta(days=30)  # longer than a client keeps what it could not send


@rerunning
class RetentionEngine:
    def forget_answers(self) -> int:
        """Remove the answers of requests that can no longer be repeated; returns how many."""
        answers = IdempotencyRecord.objects.order_by("created_at")
        return _forget(answers, "created_at", timezone.now() - KEPT)

    def forget_events(self) -> int:
        """Remove the ids of events that came in long ago; returns how many."""
        return _forget(IngestedEvent.objects.order_by("at"), "at", timezone.now() - EVENTS_KEPT)

    def forget_handles(self) -> int:
        """Remove the work handles that nobody has used for a day; returns how many."""
        return _forget(WorkHandle.objects.order_by("used_at"), "used_at", timezone.now() - IDLE)

    def forget_recalls(self) -> int:
        """Remove the log of searches beyond ``recall_days``; returns how many. None when that is 0."""
        if not (days := conf().recall_days):
            return 0
        return _forget(RecallLog.objects.order_by("pk"), "at", timezone.now() - timedelta(days=days))


def _forget(rows: QuerySet, time: str, before: datetime) -> int:
    """Delete from the front, where the oldest are, what is older."""
    count = 0
    while front := list(rows.values_list("pk", time)[:BATCH]):
        old = [pk for pk, at in front if at < before]
        count += rows.model._base_manager.filter(pk__in=old).delete()[0]
        if len(old) < len(front):
            break
    return count
