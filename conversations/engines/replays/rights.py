"""Rights on replays: their readers may read what went into them, and whoever runs one may write its fork."""

from typing import Any

from conversations.models import Replay
from memory.actors import Actor
from memory.engines.access.present_rights import load_actor
from memory.models import Branch


def require_read(row: Replay, actor: Actor) -> None:
    """Check that an actor may read the branches of the fork, the source and the memory of a replay.

    Raises ScopeMissing, BranchForbidden.
    """
    for name in (row.branch.name, row.source_branch.name, *row.memory_branches):
        actor.require_scope("read", name)


def filter_readable(rows: Any, actor: Actor) -> Any:
    """Return the replays all of whose branches an actor may read."""
    if not actor.branch_patterns:
        return rows
    names = Branch.objects.filter(project=actor.project_id).values_list("pk", "name")
    allowed = [pk for pk, name in names if actor.may_use(name)]
    rows = rows.filter(branch__in=allowed, source_branch__in=allowed)
    every = Replay.objects.filter(project=actor.project_id).order_by()
    lists = every.values_list("memory_branches", flat=True).distinct()
    forbidden = [found for found in lists if not all(map(actor.may_use, found))]
    for found in forbidden:
        rows = rows.exclude(memory_branches=found)
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
