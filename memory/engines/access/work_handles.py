"""Work handles: a token by which a stateless client stays on its branch."""

import hashlib
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import F
from django.db.models.functions import Greatest
from django.utils import timezone

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.branches.manager import BranchManager
from memory.engines.support.write_buffer import buffer
from memory.exceptions import BranchArchived, NotFound
from memory.models import Branch, WorkHandle

IDLE = timedelta(hours=24)
START = "work_"
USED = "work.used"
GONE = "There is no such work handle, or nobody has used it for 24 hours."


class Work(NamedTuple):
    """What a handle stands for. The repository may be ``*``, or unknown."""

    branch_name: str
    repository: str


@retry_methods
class WorkEngine:
    def open_work(self, *, branch_name: str, actor: Actor) -> tuple[Branch, str]:
        """Return a branch and a new work handle for this actor, with the repository that the actor names; it
        is unguessable and expires after 24 idle hours.

        Raises BranchNotFound, BranchArchived, scope and branch refusals.
        """
        branch = BranchManager().get_branch(name=branch_name, actor=actor)
        if branch.archived_at:
            raise BranchArchived(name=branch_name)
        token = START + secrets.token_urlsafe(18)
        with write_transaction():
            WorkHandle.objects.create(
                hash=hash_handle(token),
                branch=branch,
                repository=actor.repository,
                owner=get_owner_name(actor),
            )
        return branch, token

    def resume_work(self, *, work: str, actor: Actor) -> Work:
        """Return the branch and the repository of a handle, and renew the handle.

        Raises the same NotFound for an unknown handle, an expired one and another actor's.
        """
        now, key = timezone.now(), hash_handle(work)
        mine = WorkHandle.objects.filter(
            pk=key, owner=get_owner_name(actor), branch__project=actor.project_id, used_at__gt=now - IDLE
        )
        found = mine.values_list("branch__name", "repository").first()
        if found is None:
            raise NotFound(GONE, field="work")
        buffer.add_value(USED, key, now)
        return Work(*found)


def get_owner_name(actor: Actor) -> str:
    return f"{actor.kind}:{actor.id}"


def hash_handle(work: str) -> str:
    return hashlib.sha256(work.encode("utf-8", "surrogatepass")).hexdigest()


def write_used(times: Mapping[str, datetime]) -> None:
    for key, at in times.items():
        WorkHandle.objects.filter(pk=key).update(used_at=Greatest(F("used_at"), at))


buffer.register_kind(USED, write_used, merge=max)
