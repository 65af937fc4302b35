"""How far agents' branches and the branch of their task are from each other, in commits."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Max

from memory.models import AgentTask, Commit, TaskAgent


class Distance(NamedTuple):
    """Commits of an agent's branch that its task's does not have, and the other way round."""

    ahead: int
    behind: int


def measure_parts(task: AgentTask, parts: Sequence[TaskAgent]) -> dict[UUID, Distance]:
    """Return the distance of each part's branch from the task's, with three queries."""
    branches = [part.branch_id for part in parts]
    taken = Commit.objects.filter(branch=task.branch_id, source_branch__in=branches).order_by()
    merged = {
        pk: (seq, n)
        for pk, seq, n in taken.values_list("source_branch").annotate(Max("source_seq"), Count("pk"))
    }
    updates = Commit.objects.filter(branch__in=branches, source_branch=task.branch_id).order_by()
    updated = dict(updates.values_list("branch").annotate(Max("source_seq")))
    return {
        part.pk: measure_part(task, part, *merged.get(part.branch_id, (0, 0)), updated.get(part.branch_id, 0))
        for part in parts
    }


def measure_part(task: AgentTask, part: TaskAgent, merged: int, merges: int, updated: int) -> Distance:
    """Return the distance of one part, which was merged up to a seq by some commits of the task's branch."""
    # The merges of its own branch brought the task nothing that the agent lacks.
    behind = task.branch.head - max(part.branch.fork_seq, updated) - (0 if updated else merges)
    return Distance(part.branch.head - merged, max(behind, 0))
