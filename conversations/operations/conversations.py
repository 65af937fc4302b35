"""What may be done with conversations."""

from operator import attrgetter

from django.utils.translation import gettext_lazy as _

from conversations.answers import comparisons, replays
from conversations.answers import conversations as shapes
from conversations.engines.cherry_pick import ConversationCherryPick
from conversations.engines.compaction import CompactionEngine
from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.deletion import conversation_deletion
from conversations.engines.fields.conversations import (
    CONVERSATION,
    CONVERSATION_FILTERS,
    MESSAGE_INPUT,
    ROLE_FILTER,
)
from conversations.engines.fields.replays import REPLAY
from conversations.engines.messages import MessageEngine
from conversations.engines.replays.engine import ReplayEngine
from conversations.engines.semantic_diff.engine import SemanticDiffEngine
from conversations.engines.statistics import count_thread
from conversations.models import Conversation
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED
from memory.engines.support.ordering import BY_AGE
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column
from memory.operations.deletion import add_deletion

engine, message_engine, diff_engine = ConversationEngine(), MessageEngine(), SemanticDiffEngine()
compaction_engine = CompactionEngine()
ROW = Answer(shapes.ConversationShape, shapes.conversation, takes=("branch",))
FORK = Answer(shapes.ConversationShape, shapes.fork, takes=("branch", "memory_branch"), codes=(201,))
PICK = Answer(shapes.PickShape, shapes.pick, attrgetter("added"), takes=("actor",))
STATS = Answer(shapes.ThreadStatsShape, shapes.thread_stats)
COMPACT = Answer(shapes.CompactShape, shapes.compact, takes=("branch", "actor"))
MESSAGE_ROW = Answer(shapes.MessageShape, shapes.message, takes=("branch", "actor"))
WRITTEN = Answer(shapes.MessageShape, shapes.message, takes=("branch", "actor"), codes=(201,))
MANY_WRITTEN = Answer(shapes.MessagesShape, shapes.messages_written, takes=("branch", "actor"), codes=(201,))
ROW_DIFF = Answer(comparisons.RowDiffShape, comparisons.row_diff, takes=("actor",), is_whole=True)
SEMANTIC_DIFF = Answer(comparisons.SemanticDiffShape, comparisons.semantic_diff)
OWN = (*STATED, *CONVERSATION.select_fields(Use.CREATE))

CONVERSATIONS = Resource(
    "conversations", "conversation", row=Row("conversation_id", "pk", "uuid"), model=Conversation
)
CONVERSATIONS.add(
    "create",
    engine.create_conversation,
    "Begin a conversation",
    ROW,
    body="ConversationInput",
    about="A conversation to create.",
    fields=OWN,
    serves_end_users=True,
)
CONVERSATIONS.add(
    "list",
    engine.list_conversations,
    "List conversations, newest first",
    ROW,
    filters=CONVERSATION_FILTERS,
    order=BY_AGE,
    serves_end_users=True,
)
CONVERSATIONS.show(
    "list",
    Column("id", head="id"),
    Column("title", _("Conversation"), "text", tone="text", late=3),
    Column("status", _("Status"), "status", "filter", tone="bare", late=1),
    Column("message_count", _("Messages"), "messages", "number", late=1),
    Column("total_tokens", _("Tokens"), kind="number"),
    Column("agent_id", _("Agent"), kind="filter", tone="maybe bare"),
    Column("session_id", _("Session"), "session", "session", tone="session", late=2),
    Column("created_at", _("Began"), "began", "time", tone="bare"),
)
CONVERSATIONS.add("retrieve", engine.get_conversation, "Read a conversation", ROW, serves_end_users=True)
add_deletion(
    CONVERSATIONS,
    conversation_deletion,
    ROW,
    (ConversationFilter, CONVERSATION_FILTERS),
    {"session_id": ["s-1"], "dry_run": True},
    "Delete a conversation with its messages",
    "Delete the conversations that fit, with their messages",
    "List the deleted conversations that can be restored",
    "Restore a deleted conversation with its messages",
)
CONVERSATIONS.add(
    "complete",
    engine.close_conversation,
    "End a conversation",
    ROW,
    body="CompleteInput",
    about="The branch and the caller.",
    origin=STATED,
    serves_end_users=True,
)
CONVERSATIONS.add(
    "fork",
    engine.fork_conversation,
    "Fork a conversation at a message: both share what came before",
    FORK,
    body="ForkInput",
    about="Where a conversation is forked; title and model are the source's by default.",
    fields=OWN,
)
CONVERSATIONS.add(
    "cherry_pick",
    ConversationCherryPick().pick,
    "Copy messages to another conversation; again, it adds nothing",
    PICK,
    path="cherry-pick",
    body="CherryPickInput",
    about="Messages to copy, in this order, to the end of another conversation or of a new one.",
    origin=STATED,
)
CONVERSATIONS.add_read(
    "stats",
    count_thread,
    "Statistics of a conversation, with what it shares as a fork",
    STATS,
    serves_end_users=True,
)

# ---- messages --------------------------------------------------------------------------------------

CONVERSATIONS.add_read(
    "messages",
    message_engine.list_messages,
    "The messages of a conversation, in order",
    MESSAGE_ROW,
    filters=(ROLE_FILTER,),
    without=("begin_at", "from_end"),
    serves_end_users=True,
)
CONVERSATIONS.add(
    "add_message",
    message_engine.write_message,
    "Append a message",
    WRITTEN,
    path="messages",
    body="MessageInput",
    about="A message to append; content or tool_calls is needed.",
    fields=MESSAGE_INPUT,
    origin=STATED,
    waits=True,
    serves_end_users=True,
)
CONVERSATIONS.add(
    "batch",
    message_engine.write_messages,
    "Append up to 1,000 messages, all or none",
    MANY_WRITTEN,
    path="messages/batch",
    body="MessagesInput",
    about="Up to 1,000 messages: one commit, all or none.",
    origin=STATED,
    waits=True,
    serves_end_users=True,
)

# ---- what is made of a conversation ----------------------------------------------------------------

CONVERSATIONS.add_read(
    "diff",
    diff_engine.diff_rows,
    "The differences of two conversations, message by message",
    ROW_DIFF,
    path="diff/<uuid:other>",
    without=("points",),
)
CONVERSATIONS.add_read(
    "semantic_diff",
    diff_engine.semantic_diff,
    "How two conversations differ in actions, reasoning and outcome",
    SEMANTIC_DIFF,
    path="semantic-diff/<uuid:other>",
    without=("points",),
)
CONVERSATIONS.add(
    "replay",
    ReplayEngine().create_replay,
    "Make a replay: a fork with other parameters, to go on with",
    Answer(replays.ReplayShape, replays.replay, codes=(201,)),
    body="ReplayInput",
    about="Where a conversation is forked, and what is changed; limits of steps, tokens and money.",
    fields=REPLAY.select_fields(Use.CREATE),
    origin=STATED,
)
CONVERSATIONS.add_read(
    "compact",
    compaction_engine.get_compact,
    "The summary of a conversation's earlier messages, and those behind it",
    COMPACT,
)
CONVERSATIONS.add(
    "make_compact",
    compaction_engine.compact_conversation,
    "Summarize the earlier messages of a conversation, which stay as they are",
    Answer(shapes.CompactionShape, shapes.compaction, codes=(201,)),
    path="compact",
    body="CompactInput",
    about="How a conversation is compacted.",
    origin=STATED,
)
