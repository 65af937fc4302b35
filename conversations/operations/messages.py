"""What may be done with messages beside those of one conversation."""

from conversations.answers import conversations as shapes
from conversations.engines.deletion import message_deletion
from conversations.engines.fields.conversations import MESSAGE_FILTERS
from conversations.engines.messages import MessageEngine, MessageFilter
from conversations.models import Message
from conversations.operations.conversations import MESSAGE_ROW
from memory.operations.base import Answer, Resource, Row
from memory.operations.deletion import add_deletion

engine = MessageEngine()

MESSAGES = Resource("messages", "message", row=Row("message_id", "pk", "uuid"), model=Message)
MESSAGES.add("retrieve", engine.get_message, "Read a message", MESSAGE_ROW, serves_end_users=True)
MESSAGES.add_read(
    "search",
    engine.search_messages,
    "Search messages",
    Answer(shapes.MessagesFoundShape, shapes.messages_found, takes=("branch", "actor")),
    of_row=False,
    filters=MESSAGE_FILTERS,
    without=("query_vector",),
    serves_end_users=True,
)
add_deletion(
    MESSAGES,
    message_deletion,
    MESSAGE_ROW,
    (MessageFilter, MESSAGE_FILTERS),
    {"conversation_id": "0198a1b2-0000-7000-8000-000000000001", "dry_run": True},
    "Delete a message",
    "Delete the messages that fit",
    "List the deleted messages that can be restored",
    "Restore a deleted message in its place",
)
