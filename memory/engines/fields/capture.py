"""The fields of sessions, observations and relations."""

from datetime import datetime
from typing import Any, TypedDict

from memory.engines.fields.base import READ, Field, Noun, Use
from memory.engines.fields.common import STATED, answered_branch, answered_id, answered_time, stated
from memory.engines.fields.types import (
    Choice,
    CutText,
    Flag,
    Identifier,
    JSONObject,
    LongText,
    Moment,
    Number,
    Reference,
    Text,
    Whole,
)
from memory.models import Observation, Session

CREATE = READ | Use.CREATE
TOOL = Use.TOOL_ANSWER
NAME_LENGTH = 200
CUT = "At most 2,000 characters; what was longer ends in a mark."

OBSERVATION = Noun(
    "observation",
    answered_id(TOOL),
    answered_branch(),
    Field("observation_type", Choice(Observation.Type.choices), use=CREATE | TOOL),
    Field("tool_name", CutText(), use=CREATE | TOOL),
    Field("summary", CutText(), "Made from the call when not given.", CREATE | TOOL),
    Field("raw_input", CutText(json=True), "A text or JSON.", CREATE, answer_help=CUT),
    Field("raw_output", CutText(json=True), "A text or JSON.", CREATE, answer_help=CUT),
    Field("outcome", Choice(Observation.Outcome.choices), use=CREATE | TOOL),
    Field(
        "parent_id", Identifier(), use=CREATE, null=True, answer_help="The observation that it follows from."
    ),
    Field(
        "message_id", Identifier(), use=CREATE, null=True, answer_help="The message that holds the full text."
    ),
    Field("metadata", JSONObject(), use=CREATE),
    Field("embed", Flag(), "Not for plain tool calls, by default.", Use.CREATE),
    *stated(session_id=TOOL, agent_id=TOOL),
    answered_time("created_at", TOOL),
)
OBSERVATION_TEXTS = tuple(field.name for field in OBSERVATION if isinstance(field.type, CutText))


class RelationFields(TypedDict, total=False):
    """What may be said of a relation beside the names that it joins, in Python."""

    session_id: str
    task_id: str
    agent_id: str
    properties: dict[str, Any]
    confidence: float
    valid_from: datetime | str | None
    valid_until: datetime | str | None


def _name(name: str) -> Field:
    return Field(name, Text(NAME_LENGTH, 1, published=False), use=CREATE | TOOL, required=True)


RELATION = Noun(
    "relation",
    answered_id(TOOL),
    answered_branch(),
    Field("version", Whole(), use=READ),
    _name("source_entity"),
    _name("relation_type"),
    _name("target_entity"),
    Field("properties", JSONObject(), use=CREATE),
    Field("confidence", Number(), "1.0 by default.", CREATE | TOOL, default=1.0),
    Field("strength", Whole(), use=READ | TOOL, answer_help="How often it was stated while open."),
    Field("valid_from", Moment(), use=CREATE | TOOL, null=True),
    Field(
        "valid_until",
        Moment(),
        "Later than valid_from.",
        CREATE | TOOL,
        null=True,
        answer_help="null while it is open.",
    ),
    *stated(),
    answered_time("created_at"),
    answered_time("updated_at"),
)
RELATION_NAMES = tuple(field.name for field in RELATION if field.required)


class SessionFields(TypedDict, total=False):
    """What may be said of a new session beside its id, in Python."""

    project_path: str
    parent_session: str
    task_id: str
    agent_id: str
    summary: str


_SESSION, _TASK, _AGENT = STATED
SESSION = Noun(
    "session",
    Field("id", Reference(200), use=READ | TOOL, attribute="key"),
    Field("session_id", Reference(200, 1, published=False), use=Use.CREATE, required=True),
    Field("branch", Reference(200), use=READ | TOOL, attribute="branch.name"),
    Field(
        "status",
        Choice(Session.Status.choices, reserved=(Session.Status.ACTIVE,)),
        use=READ | TOOL | Use.UPDATE,
    ),
    Field("project_path", Text(1000), use=CREATE),
    Field("parent_session", Reference(200), use=CREATE),
    _TASK.changed(use=CREATE),
    _AGENT.changed(use=CREATE | TOOL),
    Field("summary", LongText(64 * 1024), use=READ | Use.UPDATE),
    answered_time("started_at", TOOL),
    answered_time("active_at", null=True, answer_help="When it was last heard of."),
    answered_time("ended_at", TOOL, null=True),
)
