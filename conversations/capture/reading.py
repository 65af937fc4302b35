"""What the storing of events asks for, read in one statement before their transaction.

The connection notes it, so that the functions that ask stay as they are; where anything is written meanwhile,
they read again.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conversations.capture.events import HookEvent
from conversations.capture.rows import filter_conversations, get_event_actor, get_project_path
from conversations.engines.messages import plan_last_number
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.backend import get_features
from memory.db.expressions import ColumnFrom
from memory.db.querysets import VersionedQuerySet
from memory.db.raw_select import Statement, fetch_one, name_fields, plan_equal, plan_one
from memory.db.united import note_as, read_together
from memory.engines.embedding.models import embedder_is_on
from memory.engines.sessions.context import plan_previous
from memory.engines.sessions.manager import clean_path
from memory.engines.versions.lookup import rows_to_write
from memory.exceptions import Invalid
from memory.models import Branch, IngestedEvent, Session
from memory.queue.producer import build_key, plan_waiting

# Events that become messages.
SAYING = frozenset({"UserPromptSubmit", "Stop", "SubagentStop", "PostToolUse", "PostToolUseFailure"})


def read_ahead(events: Sequence[HookEvent], actor: Actor, branch_name: str) -> None:
    """Read what events of one session ask for; nothing where the branch is unknown."""
    if len({event.session for event in events}) != 1 or not branch_name.isascii():
        return
    branch = fetch_one(Branch, project=actor.project_id, name=branch_name)
    if branch and get_features().keeps_notes:
        of_session: dict[str, Any] = {"project": actor.project_id, "key": events[0].session}
        branch.head, branch.end_user = branch.head + 1, actor.end_user  # as of the commit that they become
        talk = Talk(branch, events[0], actor)
        number = talk.plan_number()
        read_together([plan_one(Session, **of_session), *plan_events(events, talk), *number])
        fetch_one(Session, **of_session)  # noted by its key too
        talk.note_number(number)


@dataclass(frozen=True)
class Talk:
    """The conversation that an event may go on, before it is read."""

    branch: Branch
    event: HookEvent
    actor: Actor

    @cached_property
    def rows(self) -> VersionedQuerySet[Conversation]:
        who = get_event_actor(self.actor, self.event)
        return filter_conversations(rows_to_write(self.branch, Conversation), self.event, who)

    def plan_number(self) -> list[Statement]:
        """Return the statement that reads the number of its last message, where one can."""
        keys = self.rows.plan_edge(("uid",), 1, "uid")
        if len(keys) > 1 or self.event.name not in SAYING:
            return []
        return [
            one
            for _, sql, values in keys
            for one in self._plan_last(ColumnFrom(Message, "conversation_id", sql, values))
        ]

    def note_number(self, read: Sequence[Statement]) -> None:
        """Note it as what the storing of the message asks for."""
        for found in self.rows.newest(1) if read else ():
            (statement,) = self._plan_last(conversation_id=found.uid)
            note_as(statement, read[0])

    def _plan_last(self, *conditions: Any, **equal: Any) -> list[Statement]:
        return plan_last_number(rows_to_write(self.branch, Message).filter(*conditions, **equal))


def plan_events(events: Sequence[HookEvent], talk: Talk) -> Iterator[Statement]:
    actor = talk.actor
    keys = {key for event in events if (key := event.key(actor.project_id))}
    yield from plan_equal(IngestedEvent, ("id",), id=keys)
    if embedder_is_on():
        yield from plan_waiting(build_key("memory.embed", (str(actor.project_id),)))
    yield from talk.rows.plan_edge(name_fields(Conversation), 1, "uid")
    if talk.event.name == "SessionStart" and (path := get_project_path(talk.event)):
        with suppress(Invalid):  # which is refused later
            yield plan_previous(talk.branch.pk, clean_path(path))
