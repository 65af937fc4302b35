"""Deletion of sessions, with what they captured on their branch; what was learned of it stays."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Annotated

from django.db.models import QuerySet
from django.utils import timezone

from memory.actors import Actor, own_session, own_sessions
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.deletion.memories import (
    ERASED,
    UNCHANGED,
    Deletion,
    captured_models,
    count_deleted,
    delete_rows,
    erase_target,
    fetch_rows,
    require_filter,
    restore_versions,
)
from memory.engines.fields.capture import SESSION_FILTERS
from memory.engines.fields.common import ANY_BRANCH
from memory.engines.fields.deletion import DROP_COPIES, DRY_DELETION, ERASE, SESSION_IDS
from memory.engines.fields.filters import make_filter_checks
from memory.engines.sessions.context import filter_visible, require_scope
from memory.engines.sessions.manager import get_session
from memory.engines.store.snapshots import forbid_patterns
from memory.engines.support import validation as c
from memory.engines.versions.commits import CommitWriter, open_commit
from memory.exceptions import Conflict, NotFound
from memory.models import OPEN, Commit, Erasure, Session

KIND = "session.delete"
FILTERS = make_filter_checks(SESSION_FILTERS)
NOT_DELETED = "There is no deleted session with this id."


@retry_methods
class SessionDeletion:
    def delete_session(
        self,
        *,
        session_id: str,
        actor: Actor,
        erase: Annotated[bool, ERASE] = False,
        drop_copies: Annotated[bool, DROP_COPIES] = False,
    ) -> Deletion | Erasure:
        """Delete a session with its conversations, messages and observations, or erase it with what was
        learned of it. Its id is not given again. Raises NotFound, BranchForbidden.
        """
        if not erase:
            return self._delete_session(session_id, actor)
        forbid_patterns(actor)
        erasure = erase_target(actor, Erasure.Scope.SESSION, session_id, drop_copies)
        with suppress(*UNCHANGED):
            self._delete_session(session_id, actor)
        return erasure

    def delete_sessions(
        self,
        *,
        actor: Actor,
        branch_name: Annotated[str, ANY_BRANCH] = "",
        status: str = "",
        agent_id: str = "",
        task_id: str = "",
        repository: str = "",
        ids: Annotated[Sequence[str], SESSION_IDS] = (),
        dry_run: Annotated[bool, DRY_DELETION] = False,
    ) -> Deletion:
        """Delete the sessions that fit all filters, each in a commit of its own. Raises Invalid."""
        actor.require_scope("write", branch_name or None, grows=False)
        stated = {"status": status, "agent_id": agent_id, "task_id": task_id, "repository": repository}
        found = c.drop_empty(c.validate(stated, FILTERS))
        require_filter(ids, found | c.drop_empty({"branch": branch_name}))
        keys = list(select_sessions(actor, branch_name, found, ids).values_list("key", flat=True))
        for key in [] if dry_run else keys:
            self._delete_session(key, actor)
        return count_deleted("session", keys, dry_run)

    def restore_session(self, *, session_id: str, actor: Actor) -> Session:
        """Restore a deleted session with what was deleted with it. Raises NotFound, Conflict,
        BranchForbidden.
        """
        actor.require_scope("write")
        with write_transaction():
            session = find_deleted(actor, session_id)
            require_scope(actor, "write", session)
            if session.erased_at:
                raise Conflict(ERASED)
            with open_commit(actor, session.branch.name, "session.restore", bounded=False) as commit:
                restore_captured(commit, session)
                # Before the commit is stored, which names the session.
                session.mark_deleted(None)
                commit.targets.append(session.key)
            if commit.commit is None:
                record_entry(actor, "session.restore", session.key)
            session.refresh_from_db()
        return session

    def _delete_session(self, session_id: str, actor: Actor) -> Deletion:
        actor.require_scope("write", grows=False)
        with write_transaction():
            session = get_session(actor, session_id, is_shown=True)
            require_scope(actor, "write", session)
            with open_commit(actor, session.branch.name, KIND, bounded=False) as commit:
                counts = delete_captured(commit, session)
                commit.targets = [session.key]
            at = commit.commit.at if commit.commit else timezone.now()
            if commit.commit is None:
                record_entry(actor, KIND, session.key)
            session.mark_deleted(at, actor.label or actor.kind)
        return Deletion(1, [session.key], {"session": 1, **counts}, commit=commit.commit)


def select_sessions(
    actor: Actor, branch_name: str, found: dict[str, str], ids: Sequence[str]
) -> QuerySet[Session]:
    """Return the sessions that an actor may see, by the filters of their list."""
    rows: QuerySet[Session] = filter_visible(actor)
    if "repository" in found:
        found = {**found, "project_path": found["repository"]}
    columns = {name: value for name, value in found.items() if name != "repository"}
    rows = rows.filter(**columns, **({"branch__name": branch_name} if branch_name else {}))
    return (rows.filter(key__in=own_sessions(ids, actor.end_user)) if ids else rows).order_by(
        "-started_at", "-pk"
    )


def find_deleted(actor: Actor, session_id: str) -> Session:
    """Return a deleted session, locked. Raises NotFound."""
    key = own_session(c.plain_text("session_id", session_id), actor.end_user)
    rows = Session.objects.filter(project=actor.project_id, key=key, hidden=False).exclude(deleted_at=None)
    rows = rows.filter(**actor.end_user.list_columns())
    rows.select_for_update().first()
    found = rows.select_related("branch").first()
    if found is None:
        raise NotFound(NOT_DELETED)
    return found


def delete_captured(commit: CommitWriter, session: Session) -> dict[str, int]:
    """Delete what was captured in a session, on its branch."""
    counts: Counter[str] = Counter()
    for model in captured_models():
        # What went with its owner is gone by now.
        rows = fetch_rows(commit.visible_rows(model), "session_id", [session.key])
        counts += Counter(delete_rows(commit, rows))
    return dict(counts)


def restore_captured(commit: CommitWriter, session: Session) -> None:
    """Restore what the deletion of a session has deleted."""
    assert session.deleted_at is not None
    made = Commit.objects.filter(branch=session.branch_id, kind=KIND, at=session.deleted_at).first()
    for model in captured_models() if made else ():
        assert made is not None
        rows = model._base_manager.filter(
            branch=session.branch_id, seq_from=made.seq, seq_to=OPEN, deleted=True
        )
        restore_versions(commit, model, list(rows))
