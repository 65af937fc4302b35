"""Tasks that were set aside, and whether their work was done since."""

import json
import logging
from collections.abc import Callable, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from memory.extensions import find_extension
from memory.models import Branch, Erasure, EvalRun, NearCheck, Project, QueueMessage, Session, Vector

logger = logging.getLogger(__name__)
Done = Callable[..., bool]  # takes the arguments of a task


def is_embedded(project_id: str) -> bool:
    return not Vector.objects.filter(project=UUID(project_id), state=Vector.State.PENDING).exists()


def is_compared(project_id: str) -> bool:
    return not NearCheck.objects.filter(project=UUID(project_id)).exists()


def is_learned(session_pk: int) -> bool:
    """Return whether a session was learned from, or never will be."""
    waiting = Q(consolidated_at=None) | Q(consolidated_at__lt=F("ended_at"))
    live = Session.objects.filter(erased_at=None, deleted_at=None, branch__archived_at=None)
    return not live.filter(waiting, pk=session_pk).exists()


def is_ended(session_pk: int) -> bool:
    """Return whether a session runs no more: its end learns from all of it."""
    return not Session.objects.filter(pk=session_pk, status=Session.Status.ACTIVE, erased_at=None).exists()


def is_pinned(branch_pk: int) -> bool:
    return not Branch.objects.live().filter(pk=branch_pk, indexed=False).exists()


def is_evaluated(run_id: str) -> bool:
    return not EvalRun.objects.filter(pk=UUID(run_id)).exclude(state__in=EvalRun.ENDED).exists()


def is_erased() -> bool:
    return not Erasure.objects.filter(state=Erasure.State.PENDING).exists()


def is_removed() -> bool:
    return not Project.every.exclude(removed_at=None).exists()


FINISHED: dict[str, Done] = {
    "memory.embed": is_embedded,
    "memory.near": is_compared,
    "memory.consolidate": is_learned,
    "memory.learn": is_ended,
    "memory.hold_past": is_pinned,
    "memory.run_eval": is_evaluated,
    "memory.sweep_erasures": is_erased,
    "memory.sweep_removals": is_removed,
}


def clear_finished() -> int:
    """Delete the messages that were set aside and of which the work is done; return how many.

    A sweep does the work of a lost message: nothing is left then that a person could run again.
    """
    finished = list_finished()
    for message in finished:
        logger.warning("The task %s was set aside; its work is done, so it is gone", message.key)
    if finished:
        with transaction.atomic():
            QueueMessage.objects.set_aside().order_by().filter(pk__in=[one.pk for one in finished]).delete()
    return len(finished)


def list_finished() -> Sequence[QueueMessage]:
    """Return the messages that were set aside and of which the work is done."""
    return [message for message in QueueMessage.objects.set_aside() if is_finished(message)]


def is_finished(message: QueueMessage) -> bool:
    name, bracket, args = message.key.partition("[")
    done = FINISHED.get(name) or find_extension("finished_work", name)
    if done is None:
        return False
    try:
        return bool(done(*json.loads(bracket + args)))
    except (ValueError, TypeError):  # a key that was cut
        return False
