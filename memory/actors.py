"""Actors: the key, person or process that calls an engine, with its scopes and branches."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any, Self
from urllib.parse import quote
from uuid import UUID

from django.utils import timezone

from memory.db.lineage import EVERYBODY, EndUser
from memory.exceptions import (
    AgentForbidden,
    BranchForbidden,
    Invalid,
    ScopeMissing,
    UserForbidden,
)
from memory.models.projects import Membership
from memory.models.usage import check_room

# Each scope includes those before it.
SCOPES = ("read", "propose", "write", "curate", "merge", "admin", "owner")
ADMIN, OWNER = SCOPES[-2:]
# The scopes of who keeps the server, and sees no memory of any project: its figures; its projects and their
# templates. None of those above includes one of them, and they include none of those.
SERVER_SCOPES = ("metrics", "server")
METRICS, SERVER = SERVER_SCOPES
MAX_SESSION, MAX_NAME = 200, 64  # letters of a session's id as it is stored, and of a name before it
NO_PROJECT: Any = None  # of an actor that keeps the server: no row of any project is found by it

WRITES = ("propose", "write")  # the scopes of what makes a project grow
# Kind and id of an actor, as people name one whose label is that of several: user:7, key:0197…, local:
IDENTITY = re.compile(r"(user|key|local|server|system):(\S*)")

ROLE_SCOPES = dict(zip(Membership.Role.values, ("read", "curate", ADMIN, OWNER), strict=True))


@dataclass(frozen=True)
class Actor:
    """An API key, a person or the system, in one project, over one surface; a key of the server in none."""

    project_id: UUID
    kind: str  # key | user | local | server | system
    id: str = ""
    label: str = ""
    scopes: frozenset[str] = frozenset()
    branch_patterns: tuple[str, ...] = ()
    surface: str = "engine"
    session_id: str = ""
    task_id: str = ""
    agent_id: str = ""
    bound_agent: str = ""
    end_user: EndUser = EVERYBODY  # whose memory alone it reads and writes
    default_branch: str = ""  # "" is main
    repository: str = ""  # that the caller works in, where it says so
    expires_at: datetime | None = None
    has_quota: bool = False  # of its own: what it writes is counted
    told_at: datetime | None = None  # see acting_at

    def has_scope(self, scope: str) -> bool:
        """Return whether the actor's scopes include this one, by itself or through a wider one."""
        steps = SERVER_SCOPES if scope in SERVER_SCOPES else SCOPES
        return not self.scopes.isdisjoint(steps[steps.index(scope) :])

    def require_scope(self, scope: str, branch_name: str | None = None, *, grows: bool = True) -> None:
        """Check a scope and, if given, a branch; for what writes also the quota of the project.

        ``grows`` is False for what needs the scope and stores nothing more. Raises ScopeMissing,
        BranchForbidden, QuotaExceeded.
        """
        if not self.has_scope(scope):
            raise ScopeMissing(scope=scope)
        if branch_name is not None and not self.may_use(branch_name):
            raise BranchForbidden(name=branch_name)
        if grows and scope in WRITES:
            check_room(self.project_id)

    def require_admin_of_all(self) -> None:
        """Check for the scope admin on every branch and for every agent, which decisions of a project need.

        Raises ScopeMissing, BranchForbidden, AgentForbidden.
        """
        self.require_scope("admin")
        self.require_every_branch()
        self.require_every_agent()

    def require_every_branch(self) -> None:
        """Refuse a key that is limited to branches: it decides for those only. Raises BranchForbidden."""
        if self.branch_patterns and "*" not in self.branch_patterns:
            raise BranchForbidden(
                "This decides for the whole project, and this key may use only some branches: use a key"
                " without branch patterns."
            )

    def require_every_agent(self) -> None:
        """Refuse a key that is bound to an agent: it acts for that one only. Raises AgentForbidden."""
        if self.bound_agent:
            raise AgentForbidden(
                "This decides for every agent, and this key is bound to {agent}: use a key without an agent.",
                agent=self.bound_agent,
            )

    def require_every_user(self) -> None:
        """Refuse who acts for an end user or an app what is about more than their memory. Raises
        UserForbidden.
        """
        if self.end_user != EVERYBODY:
            raise UserForbidden(
                "This is about more than the memory of one end user: use a key that is bound to none."
            )

    def may_use(self, branch_name: str) -> bool:
        """Return whether a branch pattern allows this name; without patterns every name is allowed."""
        patterns = self.branch_patterns
        return not patterns or any(fnmatchcase(branch_name, pattern) for pattern in patterns)

    def acting_at(self, moment: datetime) -> Self:
        """Return a copy of the actor whose commits are dated at a past time; needs the scope admin.

        For memory that is older than the store. A commit is still never earlier than the one before it on its
        branch, and the audit trail has the real time. Raises Invalid for a time in the future.
        """
        self.require_scope("admin")
        if moment > timezone.now():
            raise Invalid("Nothing was done in the future.", field="at")
        return replace(self, told_at=moment)

    def within(self, project_id: UUID) -> Self:
        """Return who keeps the server as an owner of a project that it makes or changes."""
        self.require_scope(SERVER)
        return replace(self, project_id=project_id, scopes=frozenset({OWNER}), expires_at=None)

    def write_time(self) -> datetime:
        """Return the time under which the actor's next write is recorded."""
        return self.told_at or timezone.now()

    def with_origin(
        self,
        session_id: str = "",
        task_id: str = "",
        agent_id: str = "",
        user_id: str = "",
        app_id: str = "",
    ) -> Self:
        """Return a copy of the actor with session, task and agent ids, for an end user and an app if given.

        Raises AgentForbidden for another's agent, UserForbidden for another's end user or app.
        """
        is_stated = session_id or task_id or agent_id or user_id or app_id
        if not is_stated and self.bound_agent in ("", self.agent_id):
            return self
        if self.bound_agent and agent_id and agent_id != self.bound_agent:
            raise AgentForbidden()
        end_user = self._choose_user(EndUser(user_id, app_id))
        return replace(
            self,
            end_user=end_user,
            session_id=own_session(session_id, end_user) or self.session_id,
            task_id=task_id or self.task_id,
            agent_id=agent_id or self.bound_agent or self.agent_id,
        )

    def for_owner(self, row: Any) -> Self:
        """Return the actor as it goes on with what belongs to somebody: what it writes is theirs too, in its
        session of theirs.
        """
        return self.with_origin(self.session_id, user_id=row.user_id, app_id=row.app_id)

    def _choose_user(self, stated: EndUser) -> EndUser:
        own, other = self.end_user.list_columns(), stated.list_columns()
        if any(own.get(name, value) != value for name, value in other.items()):
            raise UserForbidden()
        return EndUser(**{**own, **other})

    @property
    def identity(self) -> tuple[str, str]:
        """Kind and id: a label may be that of several."""
        return self.kind, self.id

    def identity_fields(self, group: str) -> dict[str, str]:
        """Return who acts, as columns: a group such as ``actor`` has kind, id and label behind its name; one
        such as ``created_by`` is the label, and has kind and id.
        """
        label = group if group.endswith("_by") else f"{group}_label"
        return {label: self.label, f"{group}_kind": self.kind, f"{group}_id": self.id}

    def origin_fields(self) -> dict[str, str]:
        """Return the session, task and agent ids as the fields of a row."""
        return {"session_id": self.session_id, "task_id": self.task_id, "agent_id": self.agent_id}

    def owner_fields(self) -> dict[str, str]:
        """Return the same fields for a row that may belong to an end user, with whose it is."""
        return {**self.origin_fields(), **vars(self.end_user)}


def own_sessions(session_ids: Iterable[str], end_user: EndUser) -> tuple[str, ...]:
    """Return the ids of an end user's sessions as they are stored."""
    return tuple(own_session(one, end_user) for one in session_ids)


def own_session(session_id: str, end_user: EndUser) -> str:
    """Return the id under which an end user's session is stored: two may give theirs the same id.

    The user's name stands before it, and behind an @ that of the app, each as in an address; an id that
    begins so already stays. Raises Invalid for one that is too long then.
    """
    if not session_id or end_user == EVERYBODY:
        return session_id
    user, app = _write_name(end_user.user_id), _write_name(end_user.app_id)
    prefix = f"{user}@{app}/" if app else f"{user}/"
    if session_id.startswith(prefix):
        return session_id
    if (most := MAX_SESSION - len(prefix)) < len(session_id):
        raise Invalid("{field} has at most {most} characters.", field="session_id", most=most)
    return f"{prefix}{session_id}"


def _write_name(name: str) -> str:
    """Return a name as in an address; of a long one the beginning and, behind a sign that no name has there,
    what tells it from others.
    """
    quoted = quote(name, safe="")
    if len(quoted) <= MAX_NAME:
        return quoted
    return f"{quoted[: MAX_NAME // 2]}!{sha256(name.encode()).hexdigest()[: MAX_NAME // 2]}"


def local_actor(project_id: UUID, label: str = "local", surface: str = "cli") -> Actor:
    """Return an owner's actor for the command line, which can read the data directory itself."""
    scopes = frozenset({OWNER, SERVER})
    return Actor(project_id, "local", label=label, scopes=scopes, surface=surface)
