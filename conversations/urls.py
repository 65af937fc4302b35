"""The pages of conversations, below the address of a project in both frames."""

from django.utils.translation import gettext_lazy as _

from conversations.views.compare import ComparePage
from conversations.views.consolidation import ConsolidationPage, Consolidations
from conversations.views.conversations import (
    CONVERSATION_PANELS,
    ConversationPage,
    Conversations,
    MessagePage,
)
from conversations.views.fork_list import Forks
from conversations.views.forks import ForkPage, ForkTreePage
from conversations.views.home_leads import load_learned, load_told_lately
from conversations.views.learning import Learning, SwitchRule, describe_learning
from conversations.views.pick import PickPage
from conversations.views.replay_batches import ReplayBatches, ReplayBatchPage
from conversations.views.replays import NewReplay, ReplayPage, Replays
from conversations.views.sample import Sample
from conversations.views.told import AnswerLine, load_told
from conversations.views.transfer import (
    CompactConversation,
    ExportConversation,
    ImportConversation,
    load_compaction,
)
from memory.views.frame.frames import WEB, Page, build_patterns
from memory.views.frame.navigation import BEHAVIOUR, Section, add_section, add_setting
from memory.views.frame.panels import HOME_LEADS, SESSION_LEADS

PAGES: list[Page] = [
    ("consolidation", Consolidations, "consolidations"),
    ("consolidation/<uuid:run_id>", ConsolidationPage, "consolidation"),
    ("conversations", Conversations, "conversations"),
    ("conversations/forks", Forks, "forks"),
    ("conversations/import", ImportConversation, "conversation-import"),
    ("conversations/<uuid:conversation_id>", ConversationPage, "conversation"),
    ("conversations/<uuid:conversation_id>/compact", CompactConversation, "compact"),
    ("conversations/<uuid:conversation_id>/export", ExportConversation, "export-conversation"),
    ("conversations/<uuid:conversation_id>/fork", ForkPage, "fork"),
    ("conversations/<uuid:conversation_id>/forks", ForkTreePage, "fork-tree"),
    ("conversations/<uuid:conversation_id>/pick", PickPage, "pick"),
    ("conversations/<uuid:conversation_id>/replay", NewReplay, "replay-new"),
    ("conversations/<uuid:first>/compare/<uuid:second>", ComparePage, "compare"),
    ("learning", Learning, "learning"),
    ("learning/<slug:name>", SwitchRule, "switch-rule"),
    ("messages/<uuid:message_id>", MessagePage, "message"),
    ("sample", Sample, "sample"),
    ("session/told", AnswerLine, "session-told"),
    ("replays", Replays, "replays"),
    ("replays/batches", ReplayBatches, "replay-batches"),
    ("replays/batches/<uuid:batch_id>", ReplayBatchPage, "replay-batch"),
    ("replays/<uuid:replay_id>", ReplayPage, "replay"),
]
CONVERSATION_PANELS.add("conversation/compaction.html", load_compaction)
SESSION_LEADS.add("session_told.html", load_told)
HOME_LEADS.add("home_learned.html", load_learned)
HOME_LEADS.add("home_told.html", load_told_lately)
urlpatterns = build_patterns(PAGES, WEB)

add_section(Section("conversations", _("Conversations"), "message", "c", order=20, place="sessions"))
add_section(Section("consolidations", _("Consolidation"), "merge", "i", order=30, place="insights"))
add_setting(
    "learning",
    _("Learning"),
    "book",
    "n",
    scope="curate",
    group=BEHAVIOUR,
    order=30,
    describe=describe_learning,
)
