"""The fields of a fact."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import EVERYWHERE, LINE, READ, TOOLS, WRITE, Field, Noun, Option, Use
from memory.engines.fields.common import (
    DEDUPLICATE,
    END_USER,
    ITEM_FIELDS,
    STATED,
    StatedFields,
    answered_branch,
    answered_id,
    answered_time,
    owner_fields,
)
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    JSONObject,
    LongText,
    Moment,
    Number,
    Reference,
    Repository,
    TagList,
    Text,
    Whole,
)
from memory.models import Fact, FactAssessment, Vector

TEXT_BYTES = 64 * 1024
ESSENCE_LENGTH = 200

CREATE_ONLY = READ | LINE | Use.CREATE
DERIVED = READ | Use.IGNORED  # worked out by the store
# What stands beside the history: counted or judged, and no part of a version.
ANNOTATED = Use.ANSWER | Use.IGNORED
EMBEDDING_STATES = [*Vector.State.choices, ("off", "Off")]
STATUSES = Choice(Fact.Status.choices)


class FactContent(StatedFields, total=False):
    """What may be said of a new fact beside its text, in Python; a time or an id may be a text."""

    essence: str
    category: str
    kind: str
    priority: str
    confidence: float
    parent_id: UUID | str | None
    source_type: str
    source_id: str
    source: str
    repository: str
    origin: str
    visibility: str
    created_cycle: int
    updated_cycle: int
    valid_from: datetime | str | None
    valid_until: datetime | str | None
    expires_at: datetime | str | None
    pinned: bool
    tags: list[str]
    metadata: dict[str, Any]


class NewFact(FactContent):
    """The fields of a new fact, in Python."""

    fact_text: str


FACT = Noun(
    "fact",
    answered_id(Use.TOOL_ANSWER | Use.TOOL_BRIEF | LINE),
    answered_branch(Use.IGNORED),
    Field(
        "version",
        Whole(),
        use=DERIVED | Use.TOOL_ANSWER | Use.TOOL_BRIEF | Use.EXPORT,
        answer_help="Grows by one with each change; the ETag begins with it.",
    ),
    Field(
        "fact_text",
        LongText(TEXT_BYTES),
        "At most 64 KiB in UTF-8.",
        EVERYWHERE & ~Use.OPTION,  # an argument, without a name
        required=True,
        label=_("Text"),
        tool_help="One statement that stands by itself, with names and numbers; up to 64 KiB.",
    ),
    Field(
        "essence",
        Text(ESSENCE_LENGTH, 1),
        "The line for a prompt; made from the text when it is not given.",
        EVERYWHERE & ~Use.TOOL_ANSWER | Use.TOOL_BRIEF,
        answer_help="The line that goes into a prompt.",
        tool_help="The line for an index, 1 to 200 characters; made from the text when absent.",
        label=_("Prompt line"),
        form_help=_("Left empty, it is made from the text."),
        option=Option("the line that goes into a prompt; default: the first sentence"),
    ),
    Field(
        "category",
        Text(100, 1, published=False),
        "general when it is not given.",
        EVERYWHERE | Use.TOOL_BRIEF | Use.INHERIT,
        default="general",
        label=_("Category"),
        suggestions="categories",
        tool_help="Such as decision, preference, bug_fix, architecture, pattern, error, insight.",
        option=Option("such as decision, bug_fix, preference; default general", metavar="NAME"),
    ),
    Field(
        "kind",
        Choice(Fact.Kind.choices, reserved=(Fact.Kind.REFLECTION,)),
        default="OBSERVATION",
        use=EVERYWHERE | Use.INHERIT,
        label=_("Kind"),
        tool_help="Default OBSERVATION.",
        option=Option("OBSERVATION (default), BELIEF, TASK, OUTPUT_DRAFT, NOTE", metavar="KIND"),
    ),
    Field(
        "priority",
        Choice(Fact.Priority.choices),
        default="P3",
        label=_("Priority"),
        use=EVERYWHERE | Use.INHERIT,
        tool_help="P1 is the highest; default P3.",
        option=Option("P1 to P4; default P3", metavar="P"),
    ),
    Field(
        "status",
        STATUSES,
        label=_("Status"),
        tool_help="Where it goes in its life.",
        use=READ | LINE | Use.UPDATE | Use.TOOL_UPDATE | Use.TOOL_ANSWER | Use.TOOL_BRIEF,
        tool_excludes=(Fact.Status.SUPERSEDED,),
    ),
    Field("held_status", Choice([("", "None"), *Fact.Status.choices]), use=LINE),
    Field(
        "confidence",
        Number(),
        "0.7 by default.",
        default=0.7,
        label=_("Confidence"),
        tool_help="How sure you are; default 0.7.",
        option=Option("0 to 1; default 0.7"),
    ),
    Field(
        "confirmation_count",
        Whole(),
        use=ANNOTATED | Use.TOOL_ANSWER | Use.EXPORT,
        answer_help="Independent sources that said the same.",
    ),
    Field("access_count", Whole(), use=ANNOTATED),
    answered_time("last_accessed_at", null=True).with_traits(use=ANNOTATED),
    Field(
        "verification_status",
        Choice(FactAssessment.Status.choices),
        label=_("Belief"),
        use=ANNOTATED | Use.TOOL_ANSWER | Use.TOOL_BRIEF | Use.EXPORT,
        answer_help="verified and invalidated: by a person or a judge; plausible: a guess by the heuristic.",
    ),
    answered_time("verified_at", null=True).with_traits(use=ANNOTATED | Use.EXPORT),
    Field("verified_by", Reference(200), use=ANNOTATED | Use.EXPORT),
    Field("verification_method", Reference(20), use=Use.IGNORED | Use.EXPORT),
    Field("verification_reason", Text(2000), use=Use.IGNORED | Use.EXPORT),
    Field(
        "parent_id",
        Identifier(),
        null=True,
        label=_("Replaces"),
        use=CREATE_ONLY | Use.TOOL_CREATE | Use.TOOL_ANSWER | Use.TOOL_BRIEF,
        answer_help="The fact that this one replaces.",
        tool_help="The fact that this one replaces.",
        option=Option("the fact that it replaces", "--parent"),
    ),
    Field(
        "source_type",
        Choice(Fact.SourceType.choices),
        use=DERIVED | Use.CREATE | Use.EXPORT,
        default="manual",
        label=_("Origin"),
    ),
    Field(
        "source_id",
        Reference(200),
        use=READ | WRITE | LINE | Use.OPTION,
        label=_("Id at its source"),
        option=Option("and its id there"),
    ),
    Field(
        "source",
        Text(200),
        "The key's label when it is not given.",
        READ | WRITE | LINE | Use.TOOL_CREATE | Use.TOOL_ANSWER | Use.OPTION,
        label=_("Source"),
        tool_help="Where it comes from, such as a file or an address.",
        option=Option("where it comes from, in words"),
    ),
    Field(
        "repository",
        Repository(),
        "A remote's address in any form, or a folder; else where the session or the caller works.",
        READ | WRITE | LINE | Use.TOOL_ANSWER | Use.OPTION | Use.INHERIT,
        label=_("Repository"),
        answer_help="Where it was learned: its remote's address, or a folder; empty where that is unknown.",
        option=Option("where it was learned, such as github.com/acme/shop", metavar="NAME"),
    ),
    Field(
        "origin",
        Choice(Fact.Origin.choices, reserved=(Fact.Origin.DREAMING,)),
        use=CREATE_ONLY | Use.OPTION,
        default="EXPERIENCE",
        label=_("Origin"),
        option=Option("EXPERIENCE (default), SEEDED_LLM, DISTILLED_LLM"),
    ),
    Field(
        "visibility",
        Choice(Fact.Visibility.choices),
        default="selective",
        label=_("Visibility"),
        use=READ | WRITE | LINE | Use.FORM | Use.TOOL_CREATE | Use.OPTION | Use.INHERIT,
        tool_help="private facts leave in no export; default selective.",
        option=Option("private, selective (default), public"),
    ),
    *owner_fields(session_id=Use.TOOL_ANSWER, agent_id=Use.TOOL_ANSWER),
    Field("created_cycle", Whole(), use=CREATE_ONLY),
    Field("updated_cycle", Whole(), use=READ | WRITE | LINE, label=_("Cycle")),
    Field(
        "valid_from",
        Moment(),
        null=True,
        label=_("True from"),
        tool_help="Since when it is true.",
        option=Option("since when it is true in the world"),
    ),
    Field(
        "valid_until",
        Moment(),
        "Later than valid_from.",
        null=True,
        label=_("True until"),
        tool_help="Until when it is true.",
        option=Option("until when"),
    ),
    Field(
        "expires_at",
        Moment(),
        null=True,
        label=_("Expires"),
        tool_help="When it may be forgotten.",
        option=Option("from then on no search finds it"),
    ),
    Field(
        "pinned",
        Flag(),
        use=EVERYWHERE & ~Use.TOOL_ANSWER,
        default=False,
        label=_("Pinned"),
        tool_help="Keep it in view.",
        option=Option("keep it at hand"),
    ),
    Field(
        "tags",
        TagList(),
        use=EVERYWHERE | Use.INHERIT,
        label=_("Tags"),
        form_help=_("With commas between them."),
        tool_help="Up to 50 short words.",
        option=Option("as often as wanted", "--tag"),
    ),
    Field(
        "metadata",
        JSONObject(),
        "At most 64 KiB of JSON, at most 64 levels deep.",
        READ | WRITE | LINE | TOOLS | Use.OPTION,
        label=_("Metadata"),
        tool_help="Anything else, as JSON.",
        option=Option('such as \'{"file": "auth.py"}\''),
    ),
    *ITEM_FIELDS,
    Field("embedding_state", Choice(EMBEDDING_STATES), use=ANNOTATED),
    Field("embedding_model", Reference(200), use=ANNOTATED),
    Field("content_hash", Reference(64), use=DERIVED, answer_help="SHA-256 of the text."),
    answered_time("created_at", LINE | Use.TOOL_ANSWER),
    answered_time("updated_at", Use.IGNORED | Use.TOOL_ANSWER | Use.EXPORT),
)

# The two orders of a request: what may change later comes first.
CONTENT = FACT.select_fields(WRITE)
CREATED = FACT.select_fields(Use.CREATE, Use.UPDATE)
UPDATED = FACT.select_fields(Use.UPDATE, Use.CREATE)
ITEM = (*CONTENT, *CREATED, *STATED, *END_USER, DEDUPLICATE)  # one of several
NEW_FACT_TEXT = FACT["fact_text"].with_traits(name="new_fact_text")
FACT_ID = Field("fact_id", Identifier(), tool_help="The fact.")
