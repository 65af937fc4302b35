"""What the storing of events asks for, read in one statement before their transaction.

The connection notes it, so that the functions that ask stay as they are; where anything is written meanwhile,
they read again.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from conversations.capture.events import HookEvent
from conversations.capture.rows import filter_conversations, get_event_actor, get_project_path
from conversations.models import Conversation
from memory.actors import Actor
from memory.db.backend import get_features
from memory.db.raw_select import Statement, fetch_one, name_fields, plan_equal, plan_one
from memory.db.united import read_together
from memory.engines.embedding.models import embedder_is_on
from memory.engines.sessions.context import plan_previous
from memory.engines.sessions.manager import clean_path
from memory.engines.versions.lookup import rows_to_write
from memory.exceptions import Invalid
from memory.models import Branch, IngestedEvent, Session
from memory.queue.producer import build_key, plan_waiting


def read_ahead(events: Sequence[HookEvent], actor: Actor, branch_name: str) -> None:
    """Read what events of one session ask for; nothing where the branch is unknown."""
    if len({event.session for event in events}) != 1 or not branch_name.isascii():
        return
    branch = fetch_one(Branch, project=actor.project_id, name=branch_name)
    if branch and get_features().keeps_notes:
        of_session: dict[str, Any] = {"project": actor.project_id, "key": events[0].session}
        read_together([plan_one(Session, **of_session), *plan_events(events, branch, actor)])
        fetch_one(Session, **of_session)  # noted by its key too


def plan_events(events: Sequence[HookEvent], branch: Branch, actor: Actor) -> Iterator[Statement]:
    keys = {key for event in events if (key := event.key(actor.project_id))}
    yield from plan_equal(IngestedEvent, ("id",), id=keys)
    if embedder_is_on():
        yield from plan_waiting(build_key("memory.embed", (str(actor.project_id),)))
    branch.head, branch.end_user = branch.head + 1, actor.end_user  # as of the commit that they become
    for event in events[:1]:
        rows = rows_to_write(branch, Conversation)
        mine = filter_conversations(rows, event, get_event_actor(actor, event))
        yield from mine.plan_edge(name_fields(Conversation), 1, "uid")
        if event.name == "SessionStart" and (path := get_project_path(event)):
            with suppress(Invalid):  # which is refused later
                yield plan_previous(branch.pk, clean_path(path))
