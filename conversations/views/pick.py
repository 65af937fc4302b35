"""The form that copies messages of a conversation to another one, or to a new one."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.engines.cherry_pick import Pick
from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation
from conversations.operations.conversations import CONVERSATIONS
from conversations.views.conversations import Conversations
from conversations.views.thread import list_calls
from memory.engines.branches.manager import BranchManager
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.field_widgets import DeclaredForm

conversation_engine, message_engine = ConversationEngine(), MessageEngine()
MAX_TARGETS = 20  # conversations that are offered
TARGET = "target_conversation_id"


def describe_pick(pick: Pick) -> str:
    """Return what was picked, what was there before, and the facts that came along."""
    parts = [
        ngettext("{n} message was picked.", "{n} messages were picked.", pick.added).format(n=pick.added)
    ]
    if known := len(pick.messages) - pick.added:
        parts.append(ngettext("{n} was there before.", "{n} were there before.", known).format(n=known))
    if facts := len(pick.fact_ids):
        parts.append(
            ngettext("{n} fact belongs to them.", "{n} facts belong to them.", facts).format(n=facts)
        )
    return " ".join(parts)


class PickPage(ActionPage):
    """The messages of a conversation by pages, each with a tick, and where the ticked ones go."""

    template_name = "conversation/pick.html"
    section, scope, title = "conversations", "write", lazy("Pick messages")
    extra_context = {"list_title": Conversations.title}
    actions = {
        "create": Action(
            CONVERSATIONS["cherry_pick"],
            describe_pick,
            fields=(TARGET, "title", "target_branch", "with_facts"),
            button=lazy("Pick them"),
            drawing="out",
        )
    }

    def get_form(self, name: str) -> DeclaredForm:
        form = super().get_form(name)
        if not self.reader.can["merge"]:
            form.fields.pop("with_facts", None)
        return form

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        uid, where = self.kwargs["conversation_id"], self.reader.write_args
        begin_at = self.request.GET.get("message", "")
        page = message_engine.list_messages(
            conversation_id=uid,
            begin_at=c.parse_uuid("message", begin_at) if begin_at else None,
            **where,
            **self.paging(),
        )
        row: Any
        for row in page.results:
            row.calls = list_calls(row)
        return super().get_context_data(
            talk=conversation_engine.get_conversation(conversation_id=uid, **where),
            page=page,
            ticked=set(self.request.POST.getlist("message")) or {begin_at},
            targets=list_targets(self.reader, uid),
            branches=BranchManager().find_branches(actor=self.reader.actor),
            form=self.get_form("create"),
            **kwargs,
        )

    def carry_out(self, name: str, values: dict[str, Any]) -> Pick:
        if not (ticked := self.request.POST.getlist("message")):
            raise Invalid("Tick the messages to pick.")
        target = {TARGET: read_conversation(values[TARGET])} if TARGET in values else {}
        done: Pick = super().carry_out(name, {**values, **target, "message_ids": ticked})
        return done

    def find_next(self, action: Action, result: Pick) -> str:
        return self.reader.url("conversation", result.conversation.uid, branch=result.branch, end=1)


def read_conversation(text: str) -> UUID:
    """Read an id, or the last part of the address of a conversation. Raises Invalid."""
    try:
        return UUID(text.partition("?")[0].partition("#")[0].rstrip("/").rpartition("/")[2])
    except ValueError:
        raise Invalid("This is not the id of a conversation.", field=TARGET) from None


def list_targets(reader: ViewContext, source_id: UUID) -> Sequence[Conversation]:
    """Return the newest open conversations that could take messages, but the source."""
    filters = ConversationFilter.from_values({"status": [Conversation.Status.ACTIVE.value]})
    page = conversation_engine.list_conversations(**reader.write_args, filters=filters, limit=MAX_TARGETS)
    return [row for row in page.results if row.uid != source_id]
