"""What may be done with messages beside those of one conversation."""

from conversations.answers import conversations as shapes
from conversations.engines.deletion import MessageDeletion
from conversations.engines.fields.conversations import MESSAGE_FILTERS
from conversations.engines.messages import MessageEngine
from conversations.models import Message
from conversations.operations.conversations import MESSAGE_ROW
from memory.engines.fields.common import STATED
from memory.operations.base import Answer, Resource, Row
from memory.operations.deletion import DELETED, MANY_DELETED

engine, deletion = MessageEngine(), MessageDeletion()

MESSAGES = Resource("messages", "message", row=Row("message_id", "pk", "uuid"), model=Message)
MESSAGES.add("retrieve", engine.get_message, "Read a message", MESSAGE_ROW, serves_end_users=True)
MESSAGES.add(
    "search",
    engine.search_messages,
    "Search messages",
    Answer(shapes.MessagesFoundShape, shapes.messages_found, takes=("branch", "actor")),
    verb="get",
    of_row=False,
    filters=MESSAGE_FILTERS,
    without=("query_vector",),
    serves_end_users=True,
)
MESSAGES.add(
    "destroy", deletion.delete_message, "Delete a message", DELETED, origin=STATED, serves_end_users=True
)
MESSAGES.add(
    "delete_many",
    deletion.delete_messages,
    "Delete the messages that fit",
    MANY_DELETED,
    path="delete",
    of_row=False,
    body="MessagesDeleteInput",
    about="Ids, filters or both: what fits all of them is deleted.",
    filters=MESSAGE_FILTERS,
    origin=STATED,
    example={"conversation_id": "0198a1b2-0000-7000-8000-000000000001", "dry_run": True},
    serves_end_users=True,
)
MESSAGES.add(
    "deleted",
    deletion.list_deleted,
    "List the deleted messages that can be restored",
    MESSAGE_ROW,
    verb="get",
    of_row=False,
    serves_end_users=True,
)
MESSAGES.add(
    "restore",
    deletion.restore_message,
    "Restore a deleted message in its place",
    MESSAGE_ROW,
    body="RestoreMemoryInput",
    about="The branch and the caller.",
    origin=STATED,
    serves_end_users=True,
)
