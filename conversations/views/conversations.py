"""Conversations: their list, each with its messages, and a page for a message."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.fields.conversations import ROLE_FILTER
from conversations.engines.fork_tree import find_source
from conversations.engines.messages import MessageEngine, MessageFilter, may_read_thinking
from conversations.engines.replays.engine import ReplayEngine
from conversations.models import Conversation, Replay
from conversations.operations.conversations import CONVERSATIONS
from conversations.operations.messages import MESSAGES
from conversations.views.thread import list_entries, load_notes
from memory.engines.facts.links import LinkEngine
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.views.frame.panels import Panels
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action
from memory.views.generic.deletion import DeletablePage, build_deletion
from memory.views.generic.filter_tokens import refuse_unknown
from memory.views.generic.filters_form import active_filters, build_filter_form
from memory.views.generic.list_page import FOUND, ListPage, require_known
from memory.views.text.error_text import error_sentence
from memory.views.text.labels import RUN_WORDS

MAX_FORKS = 10  # at the side of a thread
CONVERSATION_PANELS = Panels()  # at its side
LABELS = {
    "session_id": _("Session"),
    "agent_id": _("Agent"),
    "task_id": _("Task"),
    "status": _("Status"),
    "fork": _("Forks"),
}


class Conversations(ListPage):
    """The list of conversations; a search finds messages, each with its neighbours."""

    reads_past = True
    template_name = "conversations.html"
    section = "conversations"
    is_live = True
    title = _("Conversations")
    operation, words = CONVERSATIONS["list"], RUN_WORDS
    labels = LABELS
    extra_context = {
        "lead": _("What people and agents said."),
        "lead_of_found": _("What people and agents said, the best answers first."),
        "search": _("Keyword and semantic search in the messages"),
        "drawing": "message",
        "none_fits": _("Nothing that was said on this branch until this time matches."),
        "none_yet": _(
            "Nothing was said on this branch yet. Conversations come from the hooks of an agent's program, or"
            " over the API."
        ),
        "show_all": _("Show all conversations"),
    }

    def search_rows(self, query: str, filters: Mapping[str, Any]) -> Any:
        known = MessageFilter.from_values({**require_known(filters, "session_id", "agent_id")})
        return MessageEngine().search_messages(query=query, filters=known, limit=FOUND, **self.place)


class ConversationPage(DeletablePage):
    """A thread by pages: from its begin, from a message (?message=), or its end (?end=1)."""

    reads_past = True
    template_name = "conversation.html"
    section = "conversations"
    is_live = True
    actions = build_deletion(CONVERSATIONS, "conversations")
    extra_context = {"list_title": Conversations.title}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        uid: UUID = kwargs.pop("conversation_id")
        one = ConversationEngine().get_conversation(conversation_id=uid, **self.reader.read_args)
        roles = active_filters(self.request.GET, ["role"])
        form = build_filter_form({"role": ROLE_FILTER}, roles, {"role": _("Role")})
        shown: dict[str, Any] = {"page": None, "error": "", "one": one, "form": form, "title": str(one)}
        shown |= {"set": len(roles), "filtered": bool(roles)}
        try:
            refuse_unknown(self.request, ["role"], ["message", "end"])
            shown["page"] = page = self._list_messages(uid)
        except Invalid as error:
            return super().get_context_data(**{**shown, "error": error_sentence(error)}, **kwargs)
        shown |= {
            "entries": list_entries(page.results, load_notes(self.reader, page.results)),
            "begin_at": self.request.GET.get("message", ""),
            "thinking": may_read_thinking(self.reader.actor),
        }
        shown["panels"] = CONVERSATION_PANELS.load(self.reader, one)
        return super().get_context_data(**shown, **load_forks(self.reader, one), **kwargs)

    def _list_messages(self, uid: UUID) -> Any:
        role, begin_at = self.request.GET.get("role", ""), self.request.GET.get("message", "")
        return MessageEngine().list_messages(
            conversation_id=uid,
            roles=[role] if role else [],
            begin_at=c.parse_uuid("message", begin_at) if begin_at else None,
            from_end="end" in self.request.GET,
            **self.reader.read_args,
            **self.paging(),
        )


def load_forks(reader: ViewContext, conversation: Conversation) -> dict[str, Any]:
    """Return what stands at the side of a thread: where it was forked, and its newest forks."""
    engine = ConversationEngine()
    filters = ConversationFilter.from_values({"parent_conversation_id": [conversation.uid]})
    forks = engine.list_conversations(filters=filters, limit=MAX_FORKS, **reader.read_args)
    source = find_source(conversation, **reader.read_args)
    replay = find_replay(reader, conversation) if source else None
    return {"forks": forks, "source": source, "replay": replay}


def find_replay(reader: ViewContext, fork: Conversation) -> Replay | None:
    """Return the replay that made a fork, if one did and it can be read."""
    return ReplayEngine().find_replays(conversation_ids=[fork.uid], actor=reader.actor).get(fork.uid)


class MessagePage(DeletablePage):
    reads_past = True
    template_name = "message.html"
    section = "conversations"
    actions = build_deletion(MESSAGES, "conversations")
    extra_context = {"list_title": Conversations.title}
    conversation_id: UUID | None = None  # of the message that is deleted

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        uid: UUID = kwargs.pop("message_id")
        row: Any = MessageEngine().get_message(message_id=uid, **self.reader.read_args)
        row.facts = LinkEngine().facts_from(source_ids=[uid], **self.reader.read_args).get(uid, [])
        talk = ConversationEngine().get_conversation(
            conversation_id=row.conversation_id, **self.reader.read_args
        )
        thinking = may_read_thinking(self.reader.actor)
        return super().get_context_data(one=row, talk=talk, title=str(talk), thinking=thinking, **kwargs)

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        if name == "delete":
            uid = self.kwargs["message_id"]
            row = MessageEngine().get_message(message_id=uid, **self.reader.read_args)
            self.conversation_id = row.conversation_id
        return super().carry_out(name, values)

    def find_next(self, action: Action, result: Any) -> str:
        """Return the address of the conversation of a message that is gone."""
        if self.conversation_id is None:
            return super().find_next(action, result)
        return self.reader.url("conversation", self.conversation_id)
