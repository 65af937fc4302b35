"""What the engine of merge requests answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from memory.engines.merging.approvals import Approval
from memory.engines.merging.checked_merge import Checked, MergeResult
from memory.engines.merging.plan_pages import MergePlan
from memory.engines.merging.plan_views import PlanView
from memory.models import MergeDecision, MergeRequest


@dataclass(frozen=True)
class RequestCheck:
    """A merge request with its approvals and the results of its checks, or why there are none."""

    request: MergeRequest
    approvals: Sequence[Approval]
    check: Checked | None
    not_checked: str = ""
    view: PlanView | None = None  # none for who may not read the target


@dataclass(frozen=True)
class RequestPlan:
    """A page of a request's plan, with what was decided about its conflicts by kind and id."""

    request: MergeRequest
    plan: MergePlan
    decisions: dict[tuple[str, UUID], MergeDecision]


@dataclass(frozen=True)
class Settled:
    """How many conflicts were decided just now, and how many are left without a decision."""

    request: MergeRequest
    decided: int
    undecided: int
    decided_at: datetime | None = None  # of these decisions


@dataclass(frozen=True)
class MergedRequest:
    """A merged request and the result of its merge."""

    request: MergeRequest
    result: MergeResult
