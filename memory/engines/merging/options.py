"""What is to be merged: the two branches, the strategy, and the decisions on conflicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.engines.fields.merges import MAX_IDS
from memory.engines.merging.plan import Decision, MergePoints
from memory.engines.merging.strategies import AUTO, check_strategy
from memory.engines.support import validation as c
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchArchived, Conflict, Invalid
from memory.models import Branch, MergeRequest


@dataclass(frozen=True)
class MergeOptions:
    """Options of one merge; ``request`` is the merge request that it belongs to, if any."""

    source: Branch
    target: Branch
    strategy: str = AUTO
    ids: tuple[UUID, ...] = ()
    decisions: tuple[Decision, ...] = ()
    request: MergeRequest | None = None

    @property
    def points(self) -> MergePoints:
        """Return both branches at their heads."""
        source, target = self.source, self.target
        return MergePoints(source.project_id, source, source.head, target, target.head)

    @property
    def state(self) -> tuple[int, int, tuple[Decision, ...]]:
        """Return what the checks of a merge depend on: both heads and the decisions."""
        return self.source.head, self.target.head, self.decisions


def require_on_target(actor: Actor, scope: str, target: str) -> None:
    """Check the scope for a merge; admin, which forces one, sets aside the policy that binds all agents.

    Raises ScopeMissing, BranchForbidden, AgentForbidden.
    """
    actor.require_scope(scope, target)
    if scope == "admin":
        actor.require_every_agent()


def find_branches(actor: Actor, source: str, target: str) -> tuple[Branch, Branch]:
    """Return the two branches of a merge.

    Raises BranchNotFound, BranchArchived, and Conflict for a branch that is to be merged into itself.
    """
    if source == target:
        raise Conflict("A branch cannot be merged into itself.")
    branches = find_branch(actor, source), find_branch(actor, target)
    check_live(*branches)
    return branches


def check_live(*branches: Branch) -> None:
    """Check that no branch is archived. Raises BranchArchived."""
    for branch in branches:
        if branch.archived_at:
            raise BranchArchived(name=branch.name)


def parse_strategy(strategy: str, ids: Sequence[Any]) -> tuple[str, tuple[UUID, ...]]:
    """Return the checked strategy and ids, which belong to cherry_pick alone. Raises Invalid."""
    if len(ids) > MAX_IDS:
        raise Invalid("{field} has at most {most} entries.", field="ids", most=MAX_IDS)
    found = tuple(dict.fromkeys(c.parse_uuid(f"ids[{index}]", uid) for index, uid in enumerate(ids)))
    return check_strategy(strategy, found), found
