"""Session activity within commits: an unknown session is created by the commit that names it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.db import transaction

from memory.actors import Actor
from memory.db.lineage import EndUser
from memory.db.raw_select import select_equal
from memory.engines.support.usage import count_rows
from memory.engines.support.validation import refuse_secret
from memory.engines.support.write_buffer import buffer
from memory.exceptions import AgentForbidden, Conflict, UserForbidden
from memory.models import Branch, Session


@dataclass(frozen=True)
class SessionOrigin:
    """What a session that begins is for, and whose."""

    task_id: str = ""
    agent_id: str = ""
    user_id: str = ""
    app_id: str = ""

    @classmethod
    def of_row(cls, row: Any) -> Self:
        return cls(row.task_id, row.agent_id, getattr(row, "user_id", ""), getattr(row, "app_id", ""))


def begin_sessions(
    branch: Branch, at: datetime, named: Mapping[str, SessionOrigin], repository: str = ""
) -> dict[str, str]:
    """Create the unknown sessions, given by their ids, in the running commit.

    A known session of the branch whose repository is unknown gets this one. Returns the repository of each.
    Raises Conflict for an erased or deleted session, Invalid for an id that holds a secret, UserForbidden for
    a session of another end user.
    """
    touch_sessions(branch, at, named)
    known = {}
    columns = ("key", "project_path", "erased_at", "deleted_at", "user_id", "app_id")
    stored = select_equal(Session, columns, project=[branch.project_id], key=named)
    for key, path, erased_at, deleted_at, *owner in stored:
        require_owner(EndUser(named[key].user_id, named[key].app_id), EndUser(*owner))
        refuse_closed(key, erased_at, deleted_at)
        known[key] = path
    missing = sorted(set(named) - set(known))
    for key in missing:
        refuse_secret("session_id", key, drawn=False)
    if repository and len(missing) < len(named):
        rows = Session.objects.filter(project=branch.project_id, key__in=named)
        rows.filter(branch=branch, project_path="").update(project_path=repository)
    new = [
        Session(
            project_id=branch.project_id,
            key=key,
            branch=branch,
            started_at=at,
            project_path=repository,
            **asdict(named[key]),
        )
        for key in missing
    ]
    if new:
        # Another branch's writer may create the same session at this moment: either row will do.
        Session.objects.bulk_create(new, ignore_conflicts=True)
        count_rows(branch.project_id, new)
    return {key: known.get(key) or repository for key in named}


def require_owner(end_user: EndUser, owner: EndUser) -> None:
    """Refuse an end user what is another's; who acts for nobody in particular may use it. Raises
    UserForbidden.
    """
    if not end_user.owns(owner):
        raise UserForbidden()


def refuse_closed(key: str, erased_at: datetime | None, deleted_at: datetime | None) -> None:
    """Refuse to add to a session that was erased or deleted. Raises Conflict."""
    if erased_at:
        raise Conflict("The session {key} was erased: it takes nothing more.", key=key)
    if deleted_at:
        raise Conflict("The session {key} is deleted: restore it, or name another one.", key=key)


def require_session(actor: Actor) -> None:
    """Check that an actor may write in the session that it names: what memory gives it is kept as given to
    that session, which then learns none of it. A session that does not exist yet may be named.

    Raises ScopeMissing, BranchForbidden, AgentForbidden, UserForbidden.
    """
    if not actor.session_id:
        return
    actor.require_scope("propose", grows=False)
    rows = Session.objects.filter(project=actor.project_id, key=actor.session_id)
    for branch_name, agent_id, *owner in rows.values_list("branch__name", "agent_id", "user_id", "app_id"):
        require_owner(actor.end_user, EndUser(*owner))
        actor.require_scope("propose", branch_name, grows=False)
        if actor.bound_agent and agent_id not in ("", actor.bound_agent):
            raise AgentForbidden()


def touch_sessions(branch: Branch, at: datetime, keys: Iterable[str]) -> None:
    """Record activity of sessions, once the transaction is committed: a dry run is none."""
    named = [(branch.project_id, key) for key in keys]

    def add_values() -> None:
        for one in named:
            buffer.add_value("sessions", one, at)

    transaction.on_commit(add_values)


def write_activity(heard: Mapping[tuple[UUID, str], datetime]) -> None:
    """Write the times of sessions' last activity. A crash may lose some: they only show who is idle."""
    for (project_id, key), at in heard.items():
        Session.objects.filter(project=project_id, key=key).update(active_at=at)


buffer.register_kind("sessions", write_activity)
