"""A conversation as a file: its export, the form that imports one, and its compaction."""

import json
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from conversations.engines.compaction import KEPT_MESSAGES, CompactionEngine
from conversations.engines.import_export.document import MARKDOWN, MAX_BYTES
from conversations.engines.import_export.engine import ConversationTransfer
from conversations.models import Conversation
from conversations.operations.conversations import CONVERSATIONS
from conversations.views.conversations import Conversations
from memory.exceptions import Day1Error, Invalid, TooLarge
from memory.views.frame.base import ProjectPage
from memory.views.frame.files import build_file, read_upload
from memory.views.frame.flash import flash_success
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage
from memory.views.text.error_text import error_sentence

transfer, compaction_engine = ConversationTransfer(), CompactionEngine()
MARKDOWN_TYPE = "text/markdown; charset=utf-8"


class ExportConversation(ProjectPage):
    """The document of a conversation as a file: JSON, or with ?format=markdown a text to read."""

    section = "conversations"
    reads_past = True

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        uid: UUID = self.kwargs["conversation_id"]
        if request.GET.get("format") == MARKDOWN:
            text = transfer.export_markdown(conversation_id=uid, **self.reader.read_args)
            return build_file(text, f"conversation-{uid}.md", MARKDOWN_TYPE)
        document = transfer.export_conversation(conversation_id=uid, **self.reader.read_args)
        text = json.dumps(document, ensure_ascii=False, indent=1)
        return build_file(text, f"conversation-{uid}.json")


class ImportConversation(ProjectPage):
    """The form that stores the conversation of a file."""

    template_name = "conversation/import.html"
    section, scope, title = "conversations", "write", lazy("Import a conversation")
    extra_context = {"list_title": Conversations.title, "most": MAX_BYTES // 1024}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        try:
            row, is_new = transfer.import_conversation(
                document=read_upload(request, parse_document, MAX_BYTES), **self.reader.write_args
            )
        except Day1Error as error:
            context = self.get_context_data(refusal=error_sentence(error))
            return self.render_to_response(context, status=error.status)
        text = _("Imported.") if is_new else _("It was imported before: nothing was added.")
        flash_success(request, text)
        return redirect(self.reader.url("conversation", row.uid))


def parse_document(content: bytes) -> Any:
    """Return the JSON value of a file, or its Markdown; None for broken JSON. Raises Invalid, TooLarge."""
    if len(content) > MAX_BYTES:
        raise TooLarge(what="The file", limit=f"{MAX_BYTES // 1024} KiB")
    try:
        text = content.decode("utf-8-sig", "surrogatepass")
    except UnicodeDecodeError:
        raise Invalid("The file is no text in UTF-8.", field="file") from None
    if not text.lstrip().startswith(("{", "[")):
        return {"format": MARKDOWN, "text": text}
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class CompactConversation(ActionPage):
    """The button of a conversation's page that sums up what came before its last messages."""

    scope, usual, warns = "write", "compact", ("compact",)
    http_method_names = ["post"]
    actions = {
        "compact": Action(
            CONVERSATIONS["make_compact"],
            lambda row: _("{n} messages are summed up. They stay as they are.").format(n=row.messages),
            further=(KEPT_MESSAGES.with_traits(required=True),),
        )
    }

    def find_next(self, action: Action, result: Any) -> str:
        return f"{self.reader.url('conversation', self.kwargs['conversation_id'])}#compaction"


def load_compaction(reader: ViewContext, conversation: Conversation) -> dict[str, Any]:
    """Return the summary that holds, and whether the reader may make one; as it is now alone."""
    if not reader.is_now:
        return {"compaction": None, "may_compact": False, "uid": conversation.uid}
    found = compaction_engine.get_compact(
        conversation_id=conversation.uid, actor=reader.actor, branch_name=reader.branch.name, limit=1
    )
    return {
        "compaction": found.compaction,
        "may_compact": reader.allowed_now["write"],
        "keep": found.keep,
        "uid": conversation.uid,
    }
