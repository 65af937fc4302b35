"""The fields of sessions, observations and relations."""

from datetime import datetime
from typing import Any, TypedDict

from memory.engines.fields import common
from memory.engines.fields.base import READ, Field, Noun, Option, Use
from memory.engines.fields.filters import any_of, learned_in, one_of, owned_by, recorded
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
    Repository,
    Text,
    Whole,
)
from memory.models import Observation, Session

CREATE = READ | Use.CREATE
OFFERED = CREATE | Use.OPTION
TOOL = Use.TOOL_ANSWER
NAME_LENGTH = 200
CUT = "At most 2,000 characters; what was longer ends in a mark."

OBSERVATION = Noun(
    "observation",
    common.answered_id(TOOL),
    common.answered_branch(),
    Field(
        "observation_type",
        Choice(Observation.Type.choices),
        use=OFFERED | TOOL,
        option=Option("worked out where not said", "--type", checked=True),
    ),
    Field(
        "tool_name",
        CutText(),
        use=OFFERED | TOOL,
        option=Option("the tool that was called", "--tool", "NAME"),
    ),
    Field("summary", CutText(), "Made from the call when not given.", CREATE | TOOL),
    Field(
        "raw_input",
        CutText(json=True),
        "A text or JSON.",
        OFFERED,
        answer_help=CUT,
        option=Option("what it was given", "--input"),
    ),
    Field(
        "raw_output",
        CutText(json=True),
        "A text or JSON. Empty where `message_id` names a tool's result, which holds it in full.",
        OFFERED,
        answer_help=CUT,
        option=Option("what it gave back", "--output"),
    ),
    Field(
        "outcome",
        Choice(Observation.Outcome.choices),
        use=OFFERED | TOOL,
        option=Option("worked out where not said", checked=True),
    ),
    Field(
        "parent_id", Identifier(), use=CREATE, null=True, answer_help="The observation that it follows from."
    ),
    Field(
        "message_id", Identifier(), use=CREATE, null=True, answer_help="The message that holds the full text."
    ),
    Field("metadata", JSONObject(), use=OFFERED, option=common.METADATA_OPTION),
    Field("embed", Flag(), "Not for plain tool calls, by default.", Use.CREATE),
    *common.owner_fields(session_id=TOOL, agent_id=TOOL),
    common.answered_time("created_at", TOOL),
)
OBSERVATION_FILTERS = OBSERVATION.filtered_by(
    any_of(
        OBSERVATION["observation_type"],
        "Observations of one of these types.",
        option=Option(flag="--type", checked=True),
    ),
    any_of(OBSERVATION["outcome"], "Observations with one of these outcomes.", option=Option(checked=True)),
    any_of(
        OBSERVATION["tool_name"], "Calls of one of these tools.", option=Option("of one of these", "--tool")
    ),
    any_of(
        OBSERVATION["session_id"],
        "Observations of one of these sessions.",
        option=Option("of one of these", "--session"),
    ),
    any_of(
        OBSERVATION["agent_id"],
        "Observations of one of these agents.",
        option=Option("of one of these", "--agent"),
    ),
    any_of(
        OBSERVATION["task_id"],
        "Observations made for one of these tasks.",
        option=Option("of one of these", "--task"),
    ),
    *owned_by("Observations"),
    learned_in("Observations"),
    *recorded("Observations"),
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


def _name_field(name: str, help: str = "", **traits: Any) -> Field:
    kind = Text(NAME_LENGTH, 1, published=False)
    return Field(name, kind, help, CREATE | TOOL, required=True, **traits)


RELATION = Noun(
    "relation",
    common.answered_id(TOOL),
    common.answered_branch(),
    Field("version", Whole(), use=READ),
    _name_field("source_entity"),
    _name_field("relation_type", "type is understood too.", alias="type"),
    _name_field("target_entity"),
    Field("properties", JSONObject(), use=OFFERED, option=Option("such as '{\"port\": 5432}'")),
    Field(
        "confidence",
        Number(),
        "1.0 by default.",
        OFFERED | TOOL,
        default=1.0,
        option=Option("0 to 1; default 1"),
    ),
    Field("strength", Whole(), use=READ | TOOL, answer_help="How often it was stated while open."),
    Field(
        "valid_from",
        Moment(),
        use=OFFERED | TOOL,
        null=True,
        option=Option("since when it is true in the world"),
    ),
    Field(
        "valid_until",
        Moment(),
        "Later than valid_from.",
        OFFERED | TOOL,
        null=True,
        answer_help="null while it is open.",
        option=Option("until when"),
    ),
    *common.origin_fields(),
    common.answered_time("created_at"),
    common.answered_time("updated_at"),
)
RELATION_FILTERS = RELATION.filtered_by(
    one_of("source", Reference(200), "Relations from this entity.", option=Option("from this one")),
    one_of("target", Reference(200), "Relations to this entity.", option=Option("to this one")),
    one_of(
        "relation_type",
        Reference(200),
        "Relations of this type.",
        option=Option("of this type", "--type"),
        alias="type",
    ),
    one_of(
        "open_only", Flag(), "true leaves out what was closed.", option=Option("not closed ones", "--open")
    ),
)
RELATION_NAMES = tuple(field.name for field in RELATION if field.required)


class SessionFields(TypedDict, total=False):
    """What may be said of a new session beside its id, in Python."""

    project_path: str
    parent_session: str
    task_id: str
    agent_id: str
    summary: str


_SESSION, _TASK, _AGENT = common.STATED
MESSAGE_LIMIT = Field(
    "message_limit", Whole(1, 100), "Messages.", option=Option("default 50", "--messages", "N")
)
FACT_LIMIT = Field("fact_limit", Whole(1, 100), "Facts.", option=Option("default 20", "--facts", "N"))
SESSION = Noun(
    "session",
    Field("id", Reference(200), use=READ | TOOL, attribute="key"),
    Field("session_id", Reference(200, 1, published=False), use=Use.CREATE, required=True),
    Field("branch", Reference(200), use=READ | TOOL, attribute="branch.name"),
    Field(
        "status",
        Choice(Session.Status.choices, reserved=(Session.Status.ACTIVE,)),
        use=READ | TOOL | Use.UPDATE,
        option=Option("default completed", checked=True),
    ),
    Field(
        "project_path",
        Repository(),
        "Where the work is done: a remote's address in any form, or a folder.",
        OFFERED | TOOL,
        option=Option("where the work is done", "--path", "PATH"),
    ),
    Field(
        "parent_session",
        Reference(200),
        use=OFFERED,
        option=Option("the session that it goes on from", "--parent"),
    ),
    _TASK.with_traits(use=OFFERED, option=Option("the task that it is for", "--task")),
    _AGENT.with_traits(use=OFFERED | TOOL, option=Option("the agent that works in it", "--agent")),
    *(one.with_traits(use=READ, help="") for one in common.END_USER),
    Field("summary", LongText(64 * 1024), use=READ | Use.UPDATE, option=Option("what came of it")),
    common.answered_time("started_at", TOOL),
    common.answered_time("active_at", null=True, answer_help="When it was last heard of."),
    common.answered_time("ended_at", TOOL, null=True),
)
SESSION_ENDING = (
    SESSION["status"],
    SESSION["summary"].with_traits(type=LongText(64 * 1024, blank=True)),
)
SESSION_FILTERS = SESSION.filtered_by(
    one_of(
        "status",
        Choice(Session.Status.choices),
        "Sessions in this state.",
        option=Option("in this state", checked=True),
    ),
    one_of("agent_id", Reference(200), "Sessions of this agent.", option=Option("of this agent", "--agent")),
    one_of("task_id", Reference(200), "Sessions for this task.", option=Option("of this task", "--task")),
    learned_in("Sessions"),
)
