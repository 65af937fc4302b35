"""The fields of conversations and messages."""

from conversations.models import Conversation, Message
from memory.engines.fields.base import READ, Field, Noun, Use
from memory.engines.fields.common import answered_branch, answered_id, answered_time, stated
from memory.engines.fields.types import (
    Choice,
    Flag,
    Identifier,
    JSONObject,
    LongText,
    Moment,
    ObjectList,
    Reference,
    Text,
    Whole,
)

CREATE = READ | Use.CREATE
TOOL = Use.TOOL_CREATE
CONTENT_BYTES = 1024 * 1024
MAX_NUMBER = 2**31 - 1
CONTENT = LongText(CONTENT_BYTES, blank=True, published=False)

CONVERSATION = Noun(
    "conversation",
    answered_id(),
    answered_branch(),
    Field("version", Whole(), use=READ),
    Field("title", Text(300), use=CREATE),
    Field("status", Choice(Conversation.Status.choices), use=READ),
    Field("model", Reference(200), use=CREATE),
    Field("message_count", Whole(), use=READ),
    Field("total_tokens", Whole(), use=READ),
    *stated(),
    answered_time("created_at"),
    answered_time("updated_at"),
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
    Field("model", Reference(200), use=CREATE),
    Field("metadata", JSONObject(), use=CREATE),
    Field("embed", Flag(), "Users and assistants by default.", Use.CREATE),
    *stated(),
    Field("said_at", Moment(), use=CREATE, null=True, answer_help="When it was said, if that was earlier."),
    answered_time("created_at"),
)
