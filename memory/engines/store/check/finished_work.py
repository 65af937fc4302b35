"""Tasks that were set aside, and whether their work was done since."""

import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from memory.models import Branch, EvalRun, NearCheck, QueueMessage, Session, Vector

Done = Callable[[Any], bool]  # takes the first argument of a task


def is_embedded(project_id: str) -> bool:
    return not Vector.objects.filter(project=UUID(project_id), state=Vector.State.PENDING).exists()


def is_compared(project_id: str) -> bool:
    return not NearCheck.objects.filter(project=UUID(project_id)).exists()


def is_learned(session_pk: int) -> bool:
    waiting = Q(consolidated_at=None) | Q(consolidated_at__lt=F("ended_at"))
    return not Session.objects.filter(waiting, pk=session_pk).exists()


def is_pinned(branch_pk: int) -> bool:
    return not Branch.objects.live().filter(pk=branch_pk, indexed=False).exists()


def is_evaluated(run_id: str) -> bool:
    return not EvalRun.objects.filter(pk=UUID(run_id)).exclude(state__in=EvalRun.ENDED).exists()


# An app to the right adds its own tasks here.
FINISHED: dict[str, Done] = {
    "memory.embed": is_embedded,
    "memory.near": is_compared,
    "memory.consolidate": is_learned,
    "memory.hold_past": is_pinned,
    "memory.run_eval": is_evaluated,
}


def list_finished() -> Sequence[QueueMessage]:
    """Return the messages that were set aside and of which the work is done."""
    return [message for message in QueueMessage.objects.set_aside() if is_finished(message)]


def is_finished(message: QueueMessage) -> bool:
    name, bracket, args = message.key.partition("[")
    if name not in FINISHED:
        return False
    try:
        return FINISHED[name](json.loads(bracket + args)[0])
    except (ValueError, TypeError, IndexError):  # a key that was cut
        return False
