"""Rights on replays: their readers may read what went into them, and whoever runs one may write its fork."""

from typing import Any
from uuid import UUID

from conversations.models import Replay
from memory.actors import Actor
from memory.engines.access.key_actors import get_actor
from memory.engines.access.members import build_member_actor
from memory.engines.versions.branch_access import list_allowed_branches
from memory.exceptions import Unauthenticated
from memory.models import ApiKey, Membership


def require_read(row: Replay, actor: Actor) -> None:
    """Check that an actor may read the branches of the fork, the source and the memory of a replay.

    Raises ScopeMissing, BranchForbidden.
    """
    for name in (row.branch.name, row.source_branch.name, *row.memory_branches):
        actor.require_scope("read", name)


def filter_readable(rows: Any, actor: Actor) -> Any:
    """Return the replays all of whose branches an actor may read."""
    if (allowed := list_allowed_branches(actor)) is None:
        return rows
    rows = rows.filter(branch__in=allowed, source_branch__in=allowed)
    every = Replay.objects.filter(project=actor.project_id).order_by()
    lists = every.values_list("memory_branches", flat=True).distinct()
    for names in lists:
        rows = rows if all(map(actor.may_use, names)) else rows.exclude(memory_branches=names)
    return rows


def describe_runner(actor: Actor) -> dict[str, str]:
    """Return who runs a replay, as ``require_runner`` reads it."""
    return {"kind": actor.kind, "id": actor.id, "label": actor.label}


def require_runner(row: Replay) -> None:
    """Check that whoever runs a replay may still read what went into it, and write its fork.

    Raises Unauthenticated, ScopeMissing, BranchForbidden.
    """
    if not row.runner:  # no engine has queued it
        return
    runner = row.runner
    actor = load_actor(row.project_id, runner["kind"], runner["id"], runner["label"])
    require_read(row, actor)
    actor.require_scope("write", row.branch.name)


def load_actor(project_id: UUID, kind: str, actor_id: str, label: str) -> Actor:
    """Return an actor with the rights that it has now; the command line and Day1 itself have all of them.

    Raises Unauthenticated for a key that has ended and a person who is no member any more.
    """
    if kind == "key":
        key = ApiKey.objects.filter(project=project_id, pk=actor_id).first()
        if key is None or key.revoked_at or key.ended:
            raise Unauthenticated("The API key that started this has ended.")
        return get_actor(key, "worker")
    if kind == "user":
        member = (
            Membership.objects.filter(project=project_id, user_id=int(actor_id))
            .select_related("user")
            .first()
        )
        if member is None or not member.user.is_active:
            raise Unauthenticated("The person who started this is no longer a member of the project.")
        return build_member_actor(member, member.user, "worker")
    return Actor(project_id, kind, actor_id, label, frozenset({"admin"}), surface="worker")
