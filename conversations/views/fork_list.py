"""The list of all forks: where each goes on from, and the replay that made it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from conversations.engines.fork_tree import list_forks
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Conversation
from conversations.operations.conversations import CONVERSATIONS
from conversations.views.conversations import LABELS, Conversations
from memory.operations.columns import Column
from memory.views.frame.view_context import ViewContext
from memory.views.generic.list_page import ListPage
from memory.views.text.labels import RUN_WORDS

replay_engine = ReplayEngine()


FORKS = replace(
    CONVERSATIONS["list"],
    method=list_forks,
    columns=(
        Column("title", _("Fork"), tone="text"),
        Column("parent_conversation_id", _("Forked from"), tone="text"),
        Column("status", _("Status"), kind="filter"),
        Column("message_count", _("Messages"), kind="number"),
        Column("model", _("Model"), tone="maybe"),
        Column("agent_id", _("Agent"), kind="filter", tone="maybe"),
        Column("created_at", _("Began"), kind="time"),
    ),
)


class Forks(ListPage):
    """The forks of all conversations of a branch, newest first."""

    reads_past = True
    template_name = "conversation/fork_list.html"
    section, title, list_page = "conversations", _("Forks of conversations"), "forks"
    operation, words = FORKS, RUN_WORDS
    hidden_filters = ("fork",)
    labels = {
        **{name: label for name, label in LABELS.items() if name != "fork"},
        "parent_conversation_id": _("Forks of"),
    }
    extra_context = {
        "list_title": Conversations.title,
        "lead": _("Each continues another conversation from one of its messages, the newest first."),
        "search": _("Filters, such as agent:NAME or session:42"),
        "drawing": "branch",
        "none_fits": _("No fork on this branch until this time matches."),
        "none_yet": _(
            "Nothing was forked on this branch yet. Open a conversation and choose Fork or Replay at the"
            " message to go on from."
        ),
        "show_all": _("Show all forks"),
    }

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        page = super().list_rows(filters)
        mark_replays(self.reader, page.results)
        return page


def mark_replays(reader: ViewContext, forks: Sequence[Conversation]) -> None:
    """Set the replay that made each fork, None for a fork by hand."""
    uids = [fork.uid for fork in forks]
    found = replay_engine.find_replays(conversation_ids=uids, actor=reader.actor)
    for fork in forks:
        fork.replay = found.get(fork.uid)
