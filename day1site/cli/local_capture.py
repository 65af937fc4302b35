"""The part of the local client on what was said, done and connected."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.messages import MessageEngine, may_read_thinking
from day1site.cli import capture_shapes as shapes
from day1site.cli.client import Answer, Given
from day1site.cli.points import point
from day1site.cli.shapes import Shape, page
from memory.actors import Actor
from memory.engines import cleaning as c
from memory.engines.observations import ObservationEngine, ObservationFilter
from memory.engines.relations import RelationEngine
from memory.engines.session_manager import SessionManager


class LocalCapture:
    actor: Actor

    # ---- observations and relations ----------------------------------------------------------------

    def write_observation(self, branch: str, fields: Given) -> Answer:
        row = ObservationEngine().write_observation(actor=self.actor, branch_name=branch, **fields)
        return shapes.observation(row, branch)

    def write_observations(self, branch: str, observations: list[Answer]) -> list[Answer]:
        rows = ObservationEngine().write_observations(
            observations=observations, actor=self.actor, branch_name=branch
        )
        return [shapes.observation(row, branch) for row in rows]

    def get_observation(self, uid: str, branch: str, at: str | None) -> Answer:
        where: dict[str, Any] = {"actor": self.actor, "branch_name": branch, "at": point(at)}
        row = ObservationEngine().get_observation(observation_id=_id(uid), **where)
        return shapes.observation(row, branch)

    def list_observations(self, branch: str, filters: Given, paging: Given) -> Answer:
        found = ObservationEngine().list_observations(
            actor=self.actor, branch_name=branch, filters=ObservationFilter.of(filters), **_at(paging)
        )
        return page(found, lambda row: shapes.observation(row, branch))

    def write_relation(self, branch: str, fields: Given) -> Answer:
        done = RelationEngine().write_relation(actor=self.actor, branch_name=branch, **fields)
        return shapes.relation(done.relation, branch, created=done.created)

    def list_relations(self, branch: str, which: Given, paging: Given) -> Answer:
        found = RelationEngine().list_relations(actor=self.actor, branch_name=branch, **which, **_at(paging))
        return page(found, lambda row: shapes.relation(row, branch))

    def close_relation(self, uid: str, branch: str, fields: Given) -> Answer:
        where: dict[str, Any] = {"actor": self.actor, "branch_name": branch}
        return shapes.relation(
            RelationEngine().close_relation(relation_id=_id(uid), **where, **fields), branch
        )

    def graph(self, branch: str, which: Given) -> Answer:
        found = RelationEngine().graph_query(actor=self.actor, branch_name=branch, **_at(which))
        return shapes.graph(found, branch)

    # ---- sessions ----------------------------------------------------------------------------------

    def create_session(self, branch: str, fields: Given) -> Answer:
        begun = SessionManager().create_session(actor=self.actor, branch_name=branch, **fields)
        return shapes.session(begun.session, created=begun.created)

    def list_sessions(self, which: Given, paging: Given) -> Answer:
        how = {"branch_name" if name == "branch" else name: value for name, value in which.items()}
        found = SessionManager().get_recent_sessions(actor=self.actor, **how, **paging)
        return page(found, shapes.session)

    def get_session(self, session_id: str) -> Answer:
        return shapes.session(SessionManager().get_session(session_id=session_id, actor=self.actor))

    def session_context(self, session_id: str, limits: Given) -> Answer:
        found = SessionManager().get_session_context(session_id=session_id, actor=self.actor, **limits)
        return shapes.session_context(found)

    def end_session(self, session_id: str, fields: Given) -> Answer:
        row = SessionManager().end_session(session_id=session_id, actor=self.actor, **fields)
        return shapes.session(row)

    # ---- conversations -----------------------------------------------------------------------------

    def create_conversation(self, branch: str, fields: Given) -> Answer:
        row = ConversationEngine().create_conversation(actor=self.actor, branch_name=branch, **fields)
        return shapes.conversation(row, branch)

    def get_conversation(self, uid: str, branch: str, at: str | None) -> Answer:
        where: dict[str, Any] = {"actor": self.actor, "branch_name": branch, "at": point(at)}
        row = ConversationEngine().get_conversation(conversation_id=_id(uid), **where)
        return shapes.conversation(row, branch)

    def list_conversations(self, branch: str, filters: Given, paging: Given) -> Answer:
        found = ConversationEngine().list_conversations(
            actor=self.actor, branch_name=branch, filters=ConversationFilter.of(filters), **_at(paging)
        )
        return page(found, lambda row: shapes.conversation(row, branch))

    def close_conversation(self, uid: str, branch: str) -> Answer:
        where: dict[str, Any] = {"actor": self.actor, "branch_name": branch}
        return shapes.conversation(
            ConversationEngine().close_conversation(conversation_id=_id(uid), **where), branch
        )

    def write_messages(self, conversation: str, branch: str, messages: list[Answer]) -> list[Answer]:
        where: dict[str, Any] = {"actor": self.actor, "branch_name": branch}
        rows = MessageEngine().write_messages(conversation_id=_id(conversation), messages=messages, **where)
        return [self._message(branch)(row) for row in rows]

    def list_messages(self, conversation: str, branch: str, which: Given, paging: Given) -> Answer:
        found = MessageEngine().list_messages(
            conversation_id=_id(conversation), actor=self.actor, branch_name=branch,
            roles=which.get("role", ()), **_at(paging),
        )  # fmt: skip
        return page(found, self._message(branch))

    def get_message(self, uid: str, branch: str, at: str | None) -> Answer:
        where: dict[str, Any] = {"actor": self.actor, "branch_name": branch, "at": point(at)}
        return self._message(branch)(MessageEngine().get_message(message_id=_id(uid), **where))

    def _message(self, branch: str) -> Callable[[Any], Shape]:
        thinking = may_read_thinking(self.actor)
        return lambda row: shapes.message(row, branch, thinking)


def _at(given: Given) -> dict[str, Any]:
    return {**given, "at": point(given["at"])} if given.get("at") is not None else dict(given)


def _id(text: str) -> UUID:
    return c.identifier("id", text)
