"""Fields that many nouns have: who writes, where, and at which version."""

from typing import TypedDict

from django.utils.translation import gettext_lazy as _

from memory.engines.fields.base import LINE, NO_USE, READ, Field, Option, Use
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    JSONValue,
    Moment,
    OwnerName,
    Point,
    Reference,
    Versions,
    Whole,
)

WHO = READ | Use.STATE | LINE
NAMESPACE_LENGTH, KEY_LENGTH = 512, 255
STATED = (
    Field(
        "session_id",
        Reference(200),
        "An unknown session begins here.",
        WHO,
        label=_("Session"),
        tool_help="The session that this belongs to; an unknown one is begun.",
        option=Option("the session that says it", "--session"),
    ),
    Field(
        "task_id",
        Reference(200),
        use=WHO,
        label=_("Task"),
        tool_help="The task that this is for.",
        option=Option("the task that says it", "--task"),
    ),
    Field(
        "agent_id",
        Reference(200),
        "403 when the key is bound to another agent.",
        WHO,
        label=_("Agent"),
        tool_help="Who you are, when several agents share the key.",
        option=Option("the agent that says it", "--agent"),
    ),
)
END_USER = (
    Field(
        "user_id",
        OwnerName(200, 1),
        "The end user whose memory this is about; 403 when the key is bound to another.",
        WHO | Use.OPTION,
        label=_("End user"),
        option=Option("the end user whose memory this is about", "--user"),
    ),
    Field(
        "app_id",
        OwnerName(200, 1),
        "The app whose memory this is about; 403 when the key is bound to another.",
        WHO | Use.OPTION,
        label=_("App"),
        option=Option("the app whose memory this is about", "--app"),
    ),
)


class StatedFields(TypedDict, total=False):
    """What a caller may say of itself and of whom it acts for, in Python."""

    session_id: str
    task_id: str
    agent_id: str
    user_id: str
    app_id: str


METADATA_OPTION = Option("a JSON object to keep with it")
STATED_CHECKS = {field.name: field.check for field in (*STATED, *END_USER)}

BRANCH = Field(
    "branch",
    Reference(200),
    "main when it is not given; branch_name is understood too.",
    option=Option("default main", metavar="NAME"),
    alias="branch_name",
)
ANY_BRANCH = BRANCH.with_traits(
    help="Every branch when it is not given.", option=Option("default: every branch", metavar="NAME")
)
AT = Field(
    "at",
    Point(),
    "A point in the branch's past: a seq, a commit's id or a time in ISO 8601.",
    option=Option("as it was then: a seq, a commit's id or a time such as 2026-05-01", metavar="POINT"),
)
EXPECTED_VERSION = Field(
    "expected_version",
    Whole(),
    "412 when the fact is at another.",
    tool_help="Only while it is at this version.",
    option=Option("only if it is still at this version", "--expected-version", metavar="N"),
)

EXPECTED_VERSIONS = Field("expected_versions", Versions(), "Ids, and the versions that were read.")


def answered_id(use: Use = NO_USE) -> Field:
    """Return the id of a row, as answers have it."""
    return Field("id", Identifier(), use=READ | use, attribute="uid")


def answered_branch(use: Use = NO_USE) -> Field:
    """Return the branch of a row, as answers have it."""
    return Field("branch", Reference(200), use=READ | use, answer_help="The branch that it was read through.")


def answered_time(name: str, use: Use = NO_USE, **traits: object) -> Field:
    """Declare a time that the store sets and callers only read."""
    return Field(name, Moment(), use=READ | use).with_traits(**traits)


def origin_fields(use: Use = NO_USE, **by_name: Use) -> tuple[Field, ...]:
    """Return who wrote a row, as answers have it, with further uses for all or for one of them."""
    fields = (field.with_traits(help="") for field in STATED)
    return tuple(field.with_traits(use=field.use | use | by_name.get(field.name, NO_USE)) for field in fields)


def owner_fields(use: Use = NO_USE, **by_name: Use) -> tuple[Field, ...]:
    """Return the same of a row that may belong to an end user, with whose it is."""
    whose = (field.with_traits(help="", use=WHO | use) for field in END_USER)
    return (*origin_fields(use, **by_name), *whose)


PROPOSE = Field(
    "propose",
    Flag(),
    "Keep it as created: not searched until activated.",
    tool_help="true leaves it for a person to accept; the default of keys that may not write.",
)
DEDUPLICATE = Field(
    "deduplicate",
    Flag(),
    "True by default: the same text is returned, not doubled.",
    tool_help="false stores the same text again; default true.",
)
INDEXED = "indexed"
WAIT = Field(
    "wait",
    Choice([(INDEXED, INDEXED)]),
    "indexed: the answer comes when searches find what was written, by words and by meaning, or after"
    " about ten seconds; `indexed` in it says which.",
    option=Option("indexed: until searches find what was written"),
)
DRY_RUN = Field("dry_run", Flag(), "Answer the same, and write nothing.", option=Option("write nothing"))
# A label alone may be that of several: a user, a key and the command line can have the same.
MAKER = (
    Field("created_by", Reference(200), use=READ),
    Field(
        "created_by_kind",
        Reference(10),
        use=READ,
        answer_help="key, user, local (the command line), server (a key of it) or system; empty where nobody"
        " knows any more.",
    ),
    Field("created_by_id", Reference(64), use=READ, answer_help="The id of the key or user; else empty."),
)
# A fact that stands under a key is an item; in other facts all of these are null.
ITEM_FIELDS = (
    Field(
        "namespace",
        Reference(NAMESPACE_LENGTH),
        use=READ | LINE,
        null=True,
        label=_("Namespace"),
        answer_help="Of an item: where its key stands, as segments with slashes between them.",
    ),
    Field(
        "key", Reference(KEY_LENGTH), use=READ | LINE, null=True, label=_("Key"), answer_help="Of an item."
    ),
    Field(
        "value",
        JSONValue(),
        use=READ | LINE,
        null=True,
        label=_("Value"),
        answer_help="Of an item: any JSON, as it was put.",
    ),
    Field(
        "embed",
        Flag(),
        use=READ | LINE,
        null=True,
        answer_help="False: it has no vector, words alone find it.",
    ),
)
