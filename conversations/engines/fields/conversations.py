"""The fields of conversations, messages and runs of consolidation."""

from django.utils.translation import gettext_lazy as _

from conversations.models import Conversation, Message
from memory.engines.fields.base import NO_USE, READ, Field, Noun, Option, Use
from memory.engines.fields.common import (
    END_USER,
    METADATA_OPTION,
    STATED,
    answered_branch,
    answered_id,
    answered_time,
    owner_fields,
)
from memory.engines.fields.filters import any_of, learned_in, one_of, owned_by, recorded
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    JSONObject,
    ListOf,
    LongText,
    Moment,
    ObjectList,
    Record,
    Reference,
    Text,
    Whole,
)

CREATE = READ | Use.CREATE
OFFERED = CREATE | Use.OPTION
TOOL = Use.TOOL_CREATE
CONTENT_BYTES = 1024 * 1024
MAX_MESSAGES = 1000  # of a request
MAX_NUMBER = 2**31 - 1
CONTENT = LongText(CONTENT_BYTES, blank=True, published=False)


def select_one(name: str) -> Option:
    return Option(f"of one of these {name}s", f"--{name}", "ID")


CONVERSATION = Noun(
    "conversation",
    answered_id(),
    answered_branch(),
    Field("version", Whole(), use=READ),
    Field("title", Text(300), use=OFFERED, option=Option("what it is about")),
    Field("status", Choice(Conversation.Status.choices), use=READ),
    Field(
        "model",
        Text(200),
        use=OFFERED,
        option=Option("the model that answers in it", metavar="NAME"),
    ),
    Field("message_count", Whole(), use=READ, answer_help="With those that a fork shares."),
    Field("shared_messages", Whole(), use=READ, answer_help="Of a fork: how many of them it shares."),
    Field("total_tokens", Whole(), use=READ, answer_help="Of these messages."),
    Field(
        "parent_conversation_id",
        Identifier(),
        use=READ,
        answer_null=True,
        answer_help="Of a fork: the conversation that it goes on from.",
    ),
    Field(
        "fork_point_message_id",
        Identifier(),
        use=READ,
        answer_null=True,
        answer_help="Of a fork: the last message that it shares with its parent.",
    ),
    *owner_fields(),
    answered_time("created_at"),
    answered_time("updated_at"),
)
CONVERSATION_FILTERS = CONVERSATION.filtered_by(
    any_of(
        CONVERSATION["session_id"], "Conversations of one of these sessions.", option=select_one("session")
    ),
    any_of(CONVERSATION["agent_id"], "Conversations of one of these agents.", option=select_one("agent")),
    any_of(CONVERSATION["task_id"], "Conversations held for one of these tasks.", option=select_one("task")),
    any_of(
        CONVERSATION["status"],
        "Conversations in one of these states.",
        option=Option(metavar="STATUS", checked=True),
    ),
    any_of(
        CONVERSATION["parent_conversation_id"],
        "Forks of one of these conversations.",
        Identifier(),
        option=Option("forks of this conversation", "--parent", "ID"),
    ),
    one_of("fork", Flag(), "true lists forks alone, false none.", option=Option("forks alone", "--forks")),
    *owned_by("Conversations"),
    learned_in("Conversations"),
)

MESSAGE = Noun(
    "message",
    answered_id(),
    answered_branch(),
    Field("conversation_id", Identifier(), use=READ),
    Field("sequence_num", Whole(1, MAX_NUMBER), "The next one.", CREATE),
    Field("role", Choice(Message.Role.choices), use=CREATE | TOOL, required=True, tool_help="Who speaks."),
    Field(
        "content",
        CONTENT,
        "At most 1 MiB in UTF-8.",
        CREATE | TOOL,
        tool_help="What was said, up to 1 MiB.",
    ),
    Field(
        "thinking",
        CONTENT,
        "Shown to curators only.",
        CREATE,
        answer_null=True,
        answer_help="null without the scope curate.",
    ),
    Field("has_thinking", Flag(), use=READ),
    Field("tool_calls", ObjectList(CONTENT_BYTES), use=CREATE),
    Field("token_count", Whole(0, MAX_NUMBER), use=CREATE),
    Field("model", Text(200), use=OFFERED, option=Option("that said it", metavar="NAME")),
    Field("metadata", JSONObject(), use=OFFERED, option=METADATA_OPTION),
    Field(
        "picked_from",
        Identifier(),
        use=READ,
        answer_null=True,
        answer_help="Of a copy: the message that was picked.",
    ),
    Field("embed", Flag(), "Users and assistants by default.", Use.CREATE),
    *owner_fields(),
    Field(
        "said_at",
        Moment(),
        use=OFFERED,
        null=True,
        answer_help="When it was said, if that was earlier.",
        option=Option("when it was said, if that was before"),
    ),
    answered_time("created_at"),
)
# Programs send null where an assistant only calls tools.
MESSAGE_INPUT = tuple(
    one.with_traits(null=one.null or one.name == "content") for one in MESSAGE.select_fields(Use.CREATE)
)
ORDER = Field(
    "order",
    Choice([(one, one) for one in ("asc", "desc")]),
    "asc by default; desc: the last message first.",
    option=Option("asc, or desc: the last first", metavar="ORDER", checked=True),
)
ROLE_FILTER = any_of(
    MESSAGE["role"],
    "Messages of one of these roles.",
    option=Option(", ".join(Message.Role.values), metavar="ROLE", checked=True),
)
MESSAGE_FILTERS = MESSAGE.filtered_by(
    ROLE_FILTER,
    any_of(MESSAGE["session_id"], "Messages of one of these sessions.", use=NO_USE),
    any_of(MESSAGE["agent_id"], "Messages of one of these agents.", use=NO_USE),
    one_of("conversation_id", Identifier(), "Messages of this conversation.", use=NO_USE),
    *owned_by("Messages", use=NO_USE),
    learned_in("Messages", use=NO_USE),
    *recorded("Messages", use=NO_USE),
)

# What operations take beside the fields of a conversation and a message.
FORK_POINT = Field("message_id", Identifier(), "The last message that both share.", NO_USE)
MEMORY_BRANCH = Field(
    "memory_branch",
    Reference(200),
    "A branch to create as of that message, for the fork.",
    label=_("Memory branch"),
    form_help=_("A new branch with the memory as it was at this message. Empty: this branch."),
    option=Option("a branch to create as of that message, for the fork", metavar="NAME"),
)
OTHER_BRANCH = Field(
    "other_branch",
    Reference(200),
    "The branch of the second conversation; the first's by default.",
    option=Option("the branch of the second; default the first's", metavar="NAME"),
)
MESSAGE_ITEM = Record("MessageItemInput", "One message of many.", (*STATED, *END_USER, *MESSAGE_INPUT))
MESSAGES = Field("messages", ListOf(MESSAGE_ITEM, 1, MAX_MESSAGES))
PICKED = Field(
    "message_ids", ListOf(Identifier(), 1, MAX_MESSAGES), use=NO_USE, option=Option(metavar="MESSAGE_ID...")
)
TARGET_BRANCH = Field(
    "target_branch",
    Reference(200),
    "The same branch by default.",
    label=_("On the branch"),
    form_help=_("Empty: this branch."),
    suggestions="pick-branches",
    option=Option("the branch of that conversation", "--to-branch", "NAME"),
)
TARGET = Field(
    "target_conversation_id",
    Identifier(),
    "A new one by default.",
    label=_("To the end of"),
    form_help=_("A conversation: its id, or the address of its page. Empty: a new one."),
    suggestions="pick-targets",
    option=Option("the conversation that takes them", "--to", "ID"),
)
PICK_TITLE = Field(
    "title",
    Text(300),
    "Of a new one; else the source's.",
    label=_("Title of a new one"),
    form_help=_("Empty: that of its source."),
    option=Option("of a new conversation"),
)
WITH_FACTS = Field(
    "with_facts",
    Flag(),
    "Take the facts that came of them along; needs the scope merge.",
    label=_("With the facts that came of them"),
    form_help=_("They are merged into the other branch with their messages."),
    option=Option("take the facts that came of them along"),
)
