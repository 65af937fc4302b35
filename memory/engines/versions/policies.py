"""Branch policies in force: which entry applies to a branch, and which direct writes it lets pass.

An entry for the branch's own name goes before patterns, a longer pattern before a shorter one, any entry
before the defaults. See docs/decisions/0021.
"""

from dataclasses import dataclass
from enum import Enum, auto
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Self
from uuid import UUID

from memory.actors import Actor
from memory.db.companions import fetch_all
from memory.engines.versions.lookup import MAIN
from memory.exceptions import CHANGES_REFUSED, DirectWritesRefused
from memory.models.policies import VERIFYING_METHODS, BranchPolicy, DirectWrites, Gate, filter_methods

MAX_POLICIES = 100  # of a project: every direct write reads them
RULES = ("gates", "approvals", "author_may_approve", "accept_methods", "direct_writes")


class Write(Enum):
    """What a commit does to a branch, as policies tell them apart."""

    CHANGE = auto()  # changes or removes what the branch shows; the default, so that nothing slips through
    ADD = auto()  # adds memories that cannot be proposals
    STATE = auto()  # states facts, which can become proposals
    EXTRACT = auto()  # facts that Day1 finds in a captured session
    EXEMPT = (
        auto()
    )  # merges, reverts, restores, verdicts, review answers, proposals, capture: no direct write


@dataclass(frozen=True)
class Policy:
    """The policy in force on a branch. ``pattern`` names the entry that gave it; empty for the defaults."""

    pattern: str = ""
    gates: tuple[str, ...] = (Gate.CONFLICTS, Gate.SECRETS)
    approvals: int = 0
    author_may_approve: bool = True
    accept_methods: tuple[str, ...] = VERIFYING_METHODS
    direct_writes: str = DirectWrites.ALLOW

    @classmethod
    def from_values(cls, pattern: str, *values: Any) -> Self:
        gates, approvals, author_may_approve, methods, direct_writes = values
        counting = tuple(filter_methods(methods) or VERIFYING_METHODS)
        return cls(pattern, tuple(gates), approvals, bool(author_may_approve), counting, direct_writes)

    @property
    def is_default(self) -> bool:
        return not self.pattern


OTHERS_POLICY = Policy()
MAIN_POLICY = Policy(gates=(Gate.CONFLICTS, Gate.REQUIRE_VERIFIED, Gate.SECRETS, Gate.RECALL))


def find_policy(project_id: UUID, branch_name: str) -> Policy:
    """Return the policy in force on a branch of a project: as the store has it, so nothing can go stale."""
    entry = _find_entry(project_id, branch_name)
    if entry is None:
        return default_policy(branch_name)
    return Policy.from_values(entry.pattern, *(getattr(entry, name) for name in RULES))


def find_direct_writes(project_id: UUID, branch_name: str) -> str:
    """Return what a branch does with direct writes."""
    entry = _find_entry(project_id, branch_name)
    return str(entry.direct_writes if entry else default_policy(branch_name).direct_writes)


def _find_entry(project_id: UUID, branch_name: str) -> BranchPolicy | None:
    """Return the entry in force on a branch."""
    entries = fetch_all(BranchPolicy, project=project_id)
    matching = [entry for entry in entries if matches_branch(entry.pattern, branch_name)]
    return min(matching, key=partial(_rank_entry, branch_name), default=None)


def _rank_entry(branch_name: str, entry: BranchPolicy) -> tuple[bool, int, str]:
    return entry.pattern != branch_name, -len(entry.pattern), entry.pattern


def default_policy(branch_name: str) -> Policy:
    """Return the policy of a branch without an entry."""
    return MAIN_POLICY if branch_name == MAIN else OTHERS_POLICY


def matches_branch(pattern: str, branch_name: str) -> bool:
    return pattern == branch_name or fnmatchcase(branch_name, pattern)


def check_direct_write(actor: Actor, branch_name: str, write: Write) -> bool:
    """Check a write against the policy of its branch; return whether its facts become proposals.

    Raises DirectWritesRefused.
    """
    if write == Write.EXEMPT:
        return False
    match find_direct_writes(actor.project_id, branch_name):
        case DirectWrites.ALLOW:
            return False
        case DirectWrites.PROPOSE:
            return _proposes_facts(actor, branch_name, write)
    if write == Write.EXTRACT:
        return True
    raise DirectWritesRefused(branch=branch_name)


def _proposes_facts(actor: Actor, branch_name: str, write: Write) -> bool:
    if write == Write.EXTRACT:
        return True
    if write == Write.ADD or actor.has_scope("curate"):
        return False
    if write == Write.CHANGE:
        raise DirectWritesRefused(CHANGES_REFUSED, branch=branch_name)
    return True


def require_curator(actor: Actor, branch_name: str) -> None:
    """Require the scope curate where direct writes are guarded. Raises ScopeMissing."""
    if actor.has_scope("curate"):
        return
    if find_direct_writes(actor.project_id, branch_name) != DirectWrites.ALLOW:
        actor.require_scope("curate")
