"""The form that copies messages of a conversation to another one, or to a new one."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from conversations.engines.cherry_pick import ConversationCherryPick, Pick
from conversations.engines.conversations import ConversationEngine, ConversationFilter
from conversations.engines.messages import MessageEngine
from conversations.models import Conversation
from conversations.views.conversations import Conversations
from conversations.views.thread import list_calls
from memory.engines.branches.manager import BranchManager
from memory.engines.support import validation as c
from memory.exceptions import Day1Error, Invalid
from memory.views.base import ProjectPage
from memory.views.field_widgets import OptionalText
from memory.views.flash import flash_success
from memory.views.view_context import ViewContext
from memory.views.widgets import add_form_error

pick_engine = ConversationCherryPick()
conversation_engine, message_engine = ConversationEngine(), MessageEngine()
MAX_TARGETS = 20  # conversations that are offered
TARGET, BRANCH, FACTS = "target_conversation_id", "target_branch", "with_facts"


class PickForm(forms.Form):
    """Where the messages go; all fields are texts that the engine checks."""

    target_conversation_id = OptionalText(
        label=lazy("To the end of"),
        help_text=lazy("A conversation: its id, or the address of its page. Empty: a new one."),
        widget=forms.TextInput({"list": "pick-targets", "autocomplete": "off"}),
    )
    title = OptionalText(
        label=lazy("Title of a new one"),
        help_text=lazy("Empty: that of its source."),
        widget=forms.TextInput({"dir": "auto", "maxlength": 300}),
    )
    target_branch = OptionalText(
        label=lazy("On the branch"),
        help_text=lazy("Empty: this branch."),
        widget=forms.TextInput({"list": "pick-branches", "autocomplete": "off"}),
    )
    with_facts = forms.BooleanField(
        label=lazy("With the facts that came of them"),
        help_text=lazy("They are merged into the other branch with their messages."),
        required=False,
    )
    use_required_attribute = False


class PickPage(ProjectPage):
    """The messages of a conversation by pages, each with a tick, and where the ticked ones go."""

    template_name = "conversation/pick.html"
    section, scope, title = "conversations", "write", lazy("Pick messages")
    extra_context = {"list_title": Conversations.title}

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
            form=kwargs.pop("form", None) or self._build_form(),
            **kwargs,
        )

    def _build_form(self, data: Any = None) -> PickForm:
        form = PickForm(data)
        if not self.reader.can["merge"]:
            del form.fields[FACTS]
        return form

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        form = self._build_form(request.POST)
        form.is_valid()  # every field is an optional text: the engine validates
        try:
            pick = self._pick_messages()
        except Day1Error as error:
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        flash_success(request, describe_pick(pick))
        return redirect(self.reader.url("conversation", pick.conversation.uid, branch=pick.branch, end=1))

    def _pick_messages(self) -> Pick:
        sent = self.request.POST
        if not (ticked := sent.getlist("message")):
            raise Invalid("Tick the messages to pick.")
        target = sent.get(TARGET, "").strip()
        return pick_engine.pick(
            conversation_id=self.kwargs["conversation_id"],
            message_ids=[c.parse_uuid("message", one) for one in ticked],
            target_conversation_id=read_conversation(target) if target else None,
            target_branch=sent.get(BRANCH, "").strip(),
            title=sent.get("title", "").strip(),
            with_facts=bool(sent.get(FACTS)),
            **self.reader.write_args,
        )


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
