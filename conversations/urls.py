"""The pages of conversations, below the address of a project in both frames."""

from django.utils.translation import gettext_lazy as _

from conversations.views.consolidation import ConsolidationPage, Consolidations
from conversations.views.conversations import ConversationPage, Conversations, MessagePage
from conversations.views.learning import Learning, SwitchRule
from memory.views.frames import WEB, Page, build_patterns
from memory.views.navigation import Section, add_section

PAGES: list[Page] = [
    ("consolidation", Consolidations, "consolidations"),
    ("consolidation/<uuid:run_id>", ConsolidationPage, "consolidation"),
    ("conversations", Conversations, "conversations"),
    ("conversations/<uuid:conversation_id>", ConversationPage, "conversation"),
    ("learning", Learning, "learning"),
    ("learning/<slug:name>", SwitchRule, "switch-rule"),
    ("messages/<uuid:message_id>", MessagePage, "message"),
]
urlpatterns = build_patterns(PAGES, WEB)

add_section(Section("conversations", _("Conversations"), "message", "c", order=34))
add_section(Section("consolidations", _("Consolidation"), "merge", "i", order=84))
add_section(Section("learning", _("Learning"), "gear", "n", scope="curate", order=85))
