"""Engine of exports and imports of conversations."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid5

from conversations.engines.conversations import attach_counts, begin_copy, get_visible
from conversations.engines.import_export.document import (
    MARKDOWN,
    MAX_BYTES,
    MAX_MESSAGES,
    build_document,
    check_document,
    check_size,
    compute_digest,
    name_line,
    take_markdown,
    write_markdown,
)
from conversations.engines.messages import MessageEngine, build_message, may_read_thinking
from conversations.engines.threads import load_thread
from conversations.models import Conversation, Message
from memory.actors import Actor
from memory.db.budget import take_within
from memory.db.transactions import retry_methods
from memory.engines.audit.trail import AuditEngine
from memory.engines.support.validation import secrets_found
from memory.engines.versions.commits import open_commit
from memory.engines.versions.lookup import MAIN, open_lineage
from memory.engines.versions.policies import Write
from memory.exceptions import Day1Error, Invalid, TooLarge
from memory.redaction import count_marks, redact_all

NAMESPACE = UUID("0d7c8d2e-52f0-5d8a-9a35-6a3c9c1a9d18")
TEXTS = ("title", "messages")
MAX_READ = 2 * MAX_BYTES  # of messages that are read: more would not fit


@retry_methods
class ConversationTransfer:
    def export_conversation(
        self, *, conversation_id: UUID, actor: Actor, branch_name: str = MAIN, at: Any = None
    ) -> dict[str, Any]:
        """Return a conversation with all of its messages as a document, without secrets.

        Messages that a fork shares are part of it; thinking is for curators. ``redacted`` counts what was
        taken out. Raises NotFound, TooLarge.
        """
        lineage = open_lineage(actor, branch_name, at)
        row = get_visible(lineage, conversation_id)
        thread = load_thread(lineage, row)
        rows = thread.stream(Message.objects.in_lineage(lineage), MAX_MESSAGES + 1)
        messages = take_within(rows, MAX_MESSAGES + 1, MAX_READ)
        if len(messages) > MAX_MESSAGES:
            raise TooLarge(what="The conversation", limit=f"{MAX_MESSAGES} messages")
        document = build_document(row, branch_name, messages, may_read_thinking(actor))
        redacted = {name: redact_all(document[name]) for name in TEXTS}
        count = count_marks(redacted) - count_marks({name: document[name] for name in TEXTS})
        document |= {**redacted, "redacted": count}
        check_size(document)
        AuditEngine().record_export(actor=actor, target=str(conversation_id), detail={"branch": branch_name})
        return document

    def export_markdown(self, **options: Any) -> str:
        """Return a conversation as Markdown, without secrets. Raises as ``export_conversation``."""
        return write_markdown(self.export_conversation(**options))

    def import_conversation(
        self, *, document: Mapping[str, Any], actor: Actor, branch_name: str = MAIN
    ) -> tuple[Conversation, bool]:
        """Store the conversation of a document, in one commit; return it, and whether it is new.

        ``{"format": "markdown", "text": …}`` is one, too. The same document again adds nothing. Raises
        Invalid, UnknownField and TooLarge with the place in the document or the line of the text, scope and
        branch errors.
        """
        actor.require_scope("write", branch_name)
        if not isinstance(document, Mapping) or document.get("format") != MARKDOWN:
            return self._store_document(document, actor, branch_name)
        found, lines = take_markdown(document)
        try:
            return self._store_document(found, actor, branch_name)
        except Day1Error as error:
            raise name_line(error, lines) from error

    def _store_document(
        self, document: Mapping[str, Any], actor: Actor, branch_name: str
    ) -> tuple[Conversation, bool]:
        fields = check_document(document)
        items = enumerate(secrets_found.walk("messages", fields.pop("messages")))
        messages = [build_item(place, item, actor) for place, item in items]
        uid = uuid5(NAMESPACE, f"{actor.project_id}:{branch_name}:{compute_digest(document)}")
        with open_commit(actor, branch_name, "conversation.import", write=Write.ADD) as commit:
            for known in commit.visible_rows(Conversation).fetch_by_key("uid", [uid]):
                return attach_counts([known], commit.lineage)[0], False
            row = Conversation(uid=uid, created_at=commit.at, **fields, **actor.owner_fields())
            begin_copy(commit, row)
            MessageEngine().add(commit, row, messages)
        return attach_counts([row], commit.lineage)[0], True


def build_item(place: int, item: Mapping[str, Any], actor: Actor) -> Message:
    """Build a message of a document. Raises Invalid with its place."""
    try:
        return build_message(item, actor)
    except Day1Error as error:
        field = str(error.data.get("field") or "")
        where = f"messages[{place}]" + (f".{field}" if field else "")
        raise Invalid(
            "Message {number}: {reason}", number=place + 1, reason=error.text, field=where
        ) from error
