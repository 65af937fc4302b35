"""Conversations of the demo, with tool calls and the facts learned from them, written through the engines."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from conversations.engines.conversations import ConversationEngine
from conversations.engines.messages import MessageEngine
from conversations.models import Message
from memory.actors import Actor
from memory.engines.sessions.learning import load_consolidator, system_actor
from memory.engines.sessions.manager import SessionManager
from memory.engines.sessions.observations import ObservationEngine
from memory.engines.sessions.tool_calls import extract_output
from memory.models import Observation

TURN = timedelta(seconds=80)  # between two turns of a conversation
SPOKEN = (Message.Role.USER, Message.Role.ASSISTANT)
NOTED = (Observation.Type.DECISION, Observation.Type.INSIGHT)
TurnList = list[Mapping[str, Any]]


def replay_conversation(where: Mapping[str, Any], title: str, model: str, turns: TurnList) -> None:
    """Store a conversation as hooks do: a tool result is a message, and an observation that refers to it.

    A turn is {user}, {assistant, thinking}, {tool, input, output}, {decision} or {insight}.
    """
    actor: Actor = where["actor"]
    talk = ConversationEngine().create_conversation(title=title, model=model, **where)
    messages = list(_messages(turns, model, actor.write_time()))
    written = MessageEngine().write_messages(conversation_id=talk.uid, messages=messages, **where)
    answers = iter([row for row in written if row.role == Message.Role.TOOL_RESULT])
    observed = list(_observations(turns, answers))
    if observed:
        ObservationEngine().write_observations(observations=observed, **where)
    _learn(actor)


def _messages(turns: TurnList, model: str, began: datetime) -> Iterator[dict[str, Any]]:
    for index, turn in enumerate(turns):
        at = {"said_at": began + index * TURN}
        for role in SPOKEN:
            if role in turn:
                by = {"model": model} if role == Message.Role.ASSISTANT else {}
                yield {"role": role, "content": turn[role], "thinking": turn.get("thinking", ""), **by, **at}
        if "tool" in turn:
            call = {"id": f"call_{index}", "name": turn["tool"], "input": turn["input"]}
            role, content = Message.Role.TOOL_RESULT, extract_output(turn["output"])
            yield {"role": role, "content": content, "tool_calls": [call], **at}


def _observations(turns: TurnList, answers: Iterator[Message]) -> Iterator[dict[str, Any]]:
    for turn in turns:
        if "tool" in turn:
            call = {"tool_name": turn["tool"], "raw_input": turn["input"], "raw_output": turn["output"]}
            yield {**call, "message_id": next(answers).uid}
        for kind in NOTED:
            if kind in turn:
                yield {"observation_type": kind, "summary": turn[kind]}


def _learn(actor: Actor) -> None:
    """Consolidate the session at its time in the story, so that a later worker finds nothing new."""
    engine = load_consolidator()
    session = SessionManager().get_session(session_id=actor.session_id, actor=actor)
    if engine is not None:
        who = replace(system_actor(session), surface=actor.surface).acting_at(actor.write_time())
        engine.consolidate_session(session=session, actor=who)
