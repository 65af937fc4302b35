"""The addresses of conversations at the desk."""

from django.urls import path
from django.utils.translation import gettext_lazy as _

from conversations.admin.conversations import ConversationPage, Conversations, MessagePage
from memory.admin.sections import add_section
from memory.admin.urls import P

urlpatterns = [
    path(f"{P}conversations", Conversations.at_desk(), name="conversations"),
    path(f"{P}conversations/<uuid:conversation_id>", ConversationPage.at_desk(), name="conversation"),
    path(f"{P}messages/<uuid:message_id>", MessagePage.at_desk(), name="message"),
]

add_section("sessions", "conversations", _("Conversations"), "message")
