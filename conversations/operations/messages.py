"""What may be done with messages beside those of one conversation."""

from conversations.engines.messages import MessageEngine
from conversations.models import Message
from conversations.operations.conversations import MESSAGE_ROW
from memory.operations.base import Resource, Row

MESSAGES = Resource("messages", "message", row=Row("message_id", "pk", "uuid"), model=Message)
MESSAGES.add("retrieve", MessageEngine().get_message, "Read a message", MESSAGE_ROW)
