"""Who acts: every engine method takes one, and asks it before anything else."""

from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Self
from uuid import UUID

from django.utils import timezone

from memory.exceptions import AgentForbidden, BranchForbidden, Invalid, ScopeMissing

# Each scope includes those before it.
SCOPES = ("read", "propose", "write", "curate", "merge", "admin")

ROLE_SCOPES = {"viewer": "read", "curator": "curate", "maintainer": "admin"}


@dataclass(frozen=True)
class Actor:
    """A key, a person or the system, in one project, over one surface."""

    project_id: UUID
    kind: str  # key | user | local | system
    id: str = ""
    label: str = ""
    scopes: frozenset[str] = frozenset()
    branch_patterns: tuple[str, ...] = ()
    surface: str = "engine"
    session_id: str = ""
    task_id: str = ""
    agent_id: str = ""
    bound_agent: str = ""
    default_branch: str = ""  # "" is main
    expires_at: datetime | None = None
    told_at: datetime | None = None  # see acting_at

    def can(self, scope: str) -> bool:
        """Whether one of the scopes held is this one or includes it."""
        wanted = SCOPES.index(scope)
        return any(SCOPES.index(held) >= wanted for held in self.scopes)

    def require(self, scope: str, branch_name: str | None = None) -> None:
        """Refuses with scope_missing or branch_forbidden."""
        if not self.can(scope):
            raise ScopeMissing(scope=scope)
        if branch_name is not None and not self.may_use(branch_name):
            raise BranchForbidden(name=branch_name)

    def may_use(self, branch_name: str) -> bool:
        """Whether a branch pattern allows this name; no pattern allows every name."""
        patterns = self.branch_patterns
        return not patterns or any(fnmatchcase(branch_name, pattern) for pattern in patterns)

    def acting_at(self, moment: datetime) -> Self:
        """The same actor, whose acts are recorded as done at a time in the past; needs the scope admin.

        For memory that is older than the store. A commit is still never earlier than the one before it on
        its branch, and the audit trail says when it was really made. Raises Invalid for a time to come.
        """
        self.require("admin")
        if moment > timezone.now():
            raise Invalid("Nothing was done in the future.", field="at")
        return replace(self, told_at=moment)

    def now(self) -> datetime:
        """The time at which what the actor does now is recorded."""
        return self.told_at or timezone.now()

    def stating(self, session_id: str = "", task_id: str = "", agent_id: str = "") -> Self:
        """The same actor with what the caller states of itself; refused for another's agent."""
        if self.bound_agent and agent_id and agent_id != self.bound_agent:
            raise AgentForbidden()
        return replace(
            self,
            session_id=session_id or self.session_id,
            task_id=task_id or self.task_id,
            agent_id=agent_id or self.bound_agent or self.agent_id,
        )

    def stated(self) -> dict[str, str]:
        """What the caller stated of itself, as the fields of a row."""
        return {"session_id": self.session_id, "task_id": self.task_id, "agent_id": self.agent_id}


def local_actor(project_id: UUID, label: str = "local", surface: str = "cli") -> Actor:
    """Whoever may read the data directory: the command line on the server's own machine."""
    return Actor(project_id, "local", label=label, scopes=frozenset({"admin"}), surface=surface)
