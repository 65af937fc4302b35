"""Sessions as they are stored for the first time, or completed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError

from memory.actors import Actor
from memory.db.bulk_sql import insert_one
from memory.db.transactions import write_transaction
from memory.engines.audit.trail import record_entry
from memory.engines.sessions.context import find_session, require_scope
from memory.engines.support import validation as c
from memory.engines.support.idempotency import ConcurrentRequest
from memory.engines.support.usage import count_rows
from memory.engines.versions.lookup import find_branch, require_live
from memory.engines.versions.session_activity import refuse_closed, require_owner
from memory.models import Session
from memory.models.end_users import get_owner


@dataclass(frozen=True)
class CreatedSession:
    """Stored session; ``created`` is False where it existed."""

    session: Session
    created: bool


@write_transaction()
def store_session(actor: Actor, branch_name: str, key: str, values: Mapping[str, Any]) -> CreatedSession:
    """Store a session, or fill in what the known one lacks. Raises as ``create_session``, and
    ConcurrentRequest where another transaction stores it now.
    """
    branch = require_live(find_branch(actor, branch_name))
    if known := find_session(actor.project_id, key):
        require_scope(actor, "write", known)
        require_owner(actor.end_user, get_owner(known))
        refuse_erased_session(known)
        complete_session(known, values)
        return CreatedSession(known, False)
    c.refuse_secret("session_id", key, drawn=False)
    begun = {"project_id": actor.project_id, "started_at": actor.write_time()}
    session = Session(key=key, branch=branch, **begun, **values)
    try:
        insert_one(session)
    except IntegrityError as error:
        raise ConcurrentRequest from error
    count_rows(actor.project_id, [session])
    record_entry(actor, "session.create", key)
    return CreatedSession(session, True)


def refuse_erased_session(session: Session) -> None:
    """Refuse a change of an erased or deleted session. Raises Conflict."""
    refuse_closed(session.key, session.erased_at, session.deleted_at)


def complete_session(session: Session, values: Mapping[str, Any]) -> None:
    """Fill in empty fields of the session; present values stay."""
    news = {name: value for name, value in values.items() if value and not getattr(session, name)}
    if news:
        Session.objects.filter(pk=session.pk, erased_at=None).update(**news)
        for name, value in news.items():
            setattr(session, name, value)
