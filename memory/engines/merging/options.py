"""What is to be merged: the two branches, the strategy, and the decisions on conflicts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.engines.fields.merges import MAX_IDS, STRATEGY
from memory.engines.merging.decisions import Decision
from memory.engines.support import validation as c
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchArchived, Invalid
from memory.models import Branch, MergeRequest

CHERRY_PICK = MergeRequest.Strategy.CHERRY_PICK


@dataclass(frozen=True)
class MergeOptions:
    """Options of one merge; ``request`` is the merge request that it belongs to, if any."""

    source: Branch
    target: Branch
    strategy: str = MergeRequest.Strategy.AUTO
    ids: tuple[UUID, ...] = ()
    decisions: tuple[Decision, ...] = ()
    request: MergeRequest | None = None


def find_branches(actor: Actor, source: str, target: str) -> tuple[Branch, Branch]:
    """Return the two branches of a merge.

    Raises BranchNotFound, BranchArchived, and Invalid for a branch that is to be merged into itself.
    """
    if source == target:
        raise Invalid("A branch cannot be merged into itself.", field="target")
    branches = find_branch(actor, source), find_branch(actor, target)
    check_live(*branches)
    return branches


def check_live(*branches: Branch) -> None:
    """Check that no branch is archived. Raises BranchArchived."""
    for branch in branches:
        if branch.archived_at:
            raise BranchArchived(name=branch.name)


def check_strategy(strategy: str, ids: Sequence[Any]) -> tuple[str, tuple[UUID, ...]]:
    """Return the checked strategy and ids, which belong to cherry_pick alone. Raises Invalid."""
    strategy = STRATEGY.check("strategy", strategy)
    if len(ids) > MAX_IDS:
        raise Invalid("{field} has at most {most} entries.", field="ids", most=MAX_IDS)
    found = tuple(dict.fromkeys(c.parse_uuid(f"ids[{index}]", uid) for index, uid in enumerate(ids)))
    if bool(found) != (strategy == CHERRY_PICK):
        raise Invalid("ids name the memories of the strategy cherry_pick, and of no other.", field="ids")
    return strategy, found
