"""The policy of a branch, as merges need it."""

from dataclasses import dataclass, field
from uuid import UUID

from memory.engines.versions.lookup import MAIN
from memory.models import FactAssessment

Method = FactAssessment.Method


@dataclass(frozen=True)
class Policy:
    """What a merge into a branch needs: gates, approvals, and the methods of verification that count."""

    gates: tuple[str, ...] = ("conflicts", "secrets")
    approvals: int = 0
    author_may_approve: bool = False
    accept_methods: tuple[str, ...] = field(default=(Method.JUDGE, Method.HUMAN, Method.HEURISTIC))


def find_policy(project_id: UUID, branch_name: str) -> Policy:
    """Return the policy of a branch: into main come verified facts alone."""
    if branch_name == MAIN:
        return Policy(gates=("conflicts", "secrets", "require_verified"))
    return Policy()
