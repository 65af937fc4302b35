"""What may be done with sessions."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from memory.answers import capture as shapes
from memory.engines.deletion.sessions import SessionDeletion
from memory.engines.fields.base import Use
from memory.engines.fields.capture import SESSION, SESSION_ENDING, SESSION_FILTERS
from memory.engines.fields.orders import SESSIONS as ORDER
from memory.engines.sessions.briefing import preview_context
from memory.engines.sessions.creation import CreatedSession
from memory.engines.sessions.manager import SessionManager
from memory.models import Session
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column
from memory.operations.deletion import DELETED, MANY_DELETED


def render_created(done: CreatedSession) -> dict[str, Any]:
    """Return a session and whether it was begun now."""
    return {**shapes.session(done.session), "created": done.created}


engine, deletion = SessionManager(), SessionDeletion()
ROW = Answer(shapes.SessionShape, shapes.session)
# The id is the client's own and may contain slashes; the last segment is a route of the session.
PATTERN = r"(?:[^/]+/)*(?!(?:context|delete|end|next-context|restore)/?$)[^/]+"

SESSIONS = Resource(
    "sessions", "session", row=Row("session_id", "session_id", pattern=PATTERN), model=Session
)
SESSIONS.add(
    "create",
    engine.create_session,
    "Begin a session",
    Answer(shapes.WrittenSessionShape, render_created, lambda done: done.created),
    body="SessionInput",
    about="A session; the id is the client's own.",
    fields=SESSION.select_fields(Use.CREATE),
    serves_end_users=True,
)
SESSIONS.add(
    "list",
    engine.get_recent_sessions,
    "List sessions, the last begun first",
    ROW,
    filters=SESSION_FILTERS,
    order=ORDER,
    serves_end_users=True,
)
SESSIONS.show(
    "list",
    Column("id", _("Session"), "id", of="key", tone="text"),
    Column("status", _("Status"), "status", "word", tone="bare"),
    Column("agent_id", _("Agent"), "agent", "filter", tone="maybe bare", late=1),
    Column("task_id", _("Task"), tone="maybe bare"),
    Column("branch", _("Branch"), kind="branch", of="branch.name", tone="bare"),
    Column("started_at", _("Began"), "began", "time", order="created_at", tone="bare"),
    Column("project_path", head="path", late=1),
    Column("summary", head="text", late=1),
)
SESSIONS.add_read(
    "next_context",
    preview_context,
    "What the next session would be told at its start; nothing is counted as told",
    Answer(shapes.NextContextShape, shapes.next_context, takes=("branch", "repository")),
    path="next-context",
    of_row=False,
)
SESSIONS.add("retrieve", engine.get_session, "Read a session", ROW, serves_end_users=True)
SESSIONS.add_read(
    "context",
    engine.get_session_context,
    "What was said, learned and done in a session",
    Answer(shapes.SessionContextShape, shapes.session_context),
    serves_end_users=True,
)
SESSIONS.add(
    "end",
    engine.end_session,
    "End a session",
    ROW,
    body="EndInput",
    about="The outcome of a session.",
    fields=SESSION_ENDING,
    serves_end_users=True,
)
SESSIONS.add(
    "destroy",
    deletion.delete_session,
    "Delete a session with what it captured",
    DELETED,
    serves_end_users=True,
)
SESSIONS.add(
    "delete_many",
    deletion.delete_sessions,
    "Delete the sessions that fit",
    MANY_DELETED,
    path="delete",
    of_row=False,
    body="SessionsDeleteInput",
    about="Ids, filters or both: what fits all of them is deleted.",
    filters=SESSION_FILTERS,
    example={"agent_id": "claude-code", "dry_run": True},
    serves_end_users=True,
)
SESSIONS.add(
    "restore",
    deletion.restore_session,
    "Restore a deleted session",
    ROW,
    body="SessionRestoreInput",
    about="For whom.",
    serves_end_users=True,
)
