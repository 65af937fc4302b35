"""What a bundle takes of a branch: a reader for each kind of memory, and the texts that may hold secrets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from django.utils import timezone

from conversations.models import Conversation, Message
from curation.engines.bundles.document import PARTS
from memory import redaction
from memory.db.querysets import Lineage
from memory.engines.facts.assessment import attach_belief, searchable_rows, with_verification
from memory.engines.fields.common import ITEM_FIELDS
from memory.engines.support.batches import batched
from memory.engines.versions.commits import MAX_COMMIT_ROWS
from memory.exceptions import TooLarge
from memory.models import Fact, FactAssessment, FactLink, Relation
from memory.models.base import ERASED_MARK
from memory.models.end_users import OF_NOBODY

BATCH_SIZE = 500
VERIFIED, PLAUSIBLE = FactAssessment.Status.VERIFIED.value, FactAssessment.Status.PLAUSIBLE.value
HEURISTIC = FactAssessment.Method.HEURISTIC.value
VERDICT, METHOD = "verification_status", "verification_method"
FACT_FIELDS = (
    "fact_text essence category kind priority status confidence origin visibility tags metadata"
    " valid_from valid_until expires_at created_at"
).split()
ITEM_NAMES = tuple(one.name for one in ITEM_FIELDS)  # of facts that are items
VERDICT_FIELDS = (VERDICT, METHOD, "verified_at")
MESSAGE_FIELDS = "role content tool_calls sequence_num token_count model said_at metadata created_at".split()
FORK_FIELDS = ("parent_conversation_id", "fork_point_message_id")
LINK_FIELDS = "from_id to_id to_type link_type weight valid_from valid_until".split()
RELATION_FIELDS = (
    *"source_entity relation_type target_entity".split(),
    *"properties confidence valid_from valid_until created_at".split(),
)
TEXTS = {  # fields of an item that people and programs write, by kind
    "facts": ("fact_text", "essence", "category", "tags", "metadata", "value"),
    "conversations": ("title", "model"),
    "messages": ("content", "tool_calls", "model", "metadata"),
    "relations": ("source_entity", "relation_type", "target_entity", "properties"),
}
Item = dict[str, Any]


@dataclass
class Selection:
    """What is read of a branch; the ids of what was taken decide which links go with it."""

    lineage: Lineage
    only_verified: bool = True
    with_conversations: bool = True
    with_relations: bool = True
    facts: set[UUID] = field(default_factory=set)
    messages: set[UUID] = field(default_factory=set)
    left_out: dict[str, int] = field(default_factory=dict)


# ---- content ---------------------------------------------------------------------------------------


def read_content(selection: Selection) -> dict[str, list[Item]]:
    """Return what a bundle takes of a branch, by kind. Raises TooLarge."""
    readers = (
        read_facts,
        read_conversations,
        read_links,
        read_relations,
    )  # links are between what came before
    content = {kind: read(selection) for kind, read in zip(PARTS, readers, strict=True)}
    check_content(content)
    return content


def check_content(content: Mapping[str, list[Item]]) -> None:
    """Check that one commit can write all of it, each fact with its verdict. Raises TooLarge."""
    counts = count_content(content)
    check_count(sum(counts.values()) + counts["facts"])


def count_content(content: Mapping[str, list[Item]]) -> dict[str, int]:
    """Return how many memories there are of each kind, messages included."""
    talks = content.get("conversations", [])
    messages = sum(len(talk["messages"]) for talk in talks if isinstance(talk.get("messages"), list))
    return {**{kind: len(content.get(kind, [])) for kind in PARTS}, "messages": messages}


# ---- readers ---------------------------------------------------------------------------------------


def read_facts(selection: Selection) -> list[Item]:
    """Return the current facts that may leave, each with its verdict, the oldest first. Raises TooLarge."""
    every = searchable_rows(selection.lineage, timezone.now())
    common = every.filter(**OF_NOBODY)
    shared = common.exclude(visibility=Fact.Visibility.PRIVATE)
    verified = with_verification(VERIFIED, selection.lineage)
    chosen = shared.filter(verified) if selection.only_verified else shared
    rows = take_all(chosen)
    attach_belief(rows, selection.lineage)
    selection.facts = {row.uid for row in rows}
    counts = [one.count() for one in (every, common, shared)] + [len(rows)]
    reasons = ("personal", "private", "unverified")
    left = {name: more - less for name, (more, less) in zip(reasons, pairwise(counts), strict=True)}
    selection.left_out = {reason: count for reason, count in left.items() if count}
    return [{"id": str(row.uid), **read_fields(row, list_names(row))} for row in rows]


def list_names(row: Fact) -> list[str]:
    """Return the fields of a fact in a bundle."""
    return [*FACT_FIELDS, *(ITEM_NAMES if row.path else ()), *VERDICT_FIELDS]


def read_conversations(selection: Selection) -> list[Item]:
    """Return the conversations in which something was said, the oldest first; thinking never leaves."""
    if not selection.with_conversations:
        return []
    rows = take_all(Conversation.objects.in_lineage(selection.lineage).filter(**OF_NOBODY))
    messages = read_messages(selection, [row.uid for row in rows])
    spoken = [row for row in rows if row.uid in messages]
    return [read_conversation(row) | {"messages": messages[row.uid]} for row in spoken]


def read_conversation(row: Conversation) -> Item:
    """Return a conversation, and where a fork left its parent: what was said until there is not repeated."""
    names = ("title", "model", "created_at", *(FORK_FIELDS if row.parent_conversation_id else ()))
    return {"id": str(row.uid), **read_fields(row, names)}


def read_messages(selection: Selection, conversations: Sequence[UUID]) -> dict[UUID, list[Item]]:
    found: dict[UUID, list[Item]] = {}
    every = Message.objects.in_lineage(selection.lineage)
    for batch in batched(conversations, BATCH_SIZE):
        rows = every.filter(conversation_id__in=batch).fetch_all()
        for row in sorted(rows, key=lambda one: one.sequence_num):
            if row.content != ERASED_MARK:
                selection.messages.add(row.uid)
                item = {"id": str(row.uid), **read_fields(row, MESSAGE_FIELDS)}
                found.setdefault(row.conversation_id, []).append(item)
        check_count(len(selection.messages))
    return found


def read_links(selection: Selection) -> list[Item]:
    """Return the links between what was taken."""
    taken = selection.facts | selection.messages
    rows: list[FactLink] = []
    for batch in batched(sorted(selection.facts), BATCH_SIZE):
        found = FactLink.objects.in_lineage(selection.lineage).filter(from_id__in=batch).fetch_all()
        rows += [row for row in found if row.to_id in taken]
        check_count(len(rows))
    return [read_fields(row, LINK_FIELDS) for row in sorted(rows, key=lambda row: row.uid)]


def read_relations(selection: Selection) -> list[Item]:
    if not selection.with_relations:
        return []
    rows = take_all(Relation.objects.in_lineage(selection.lineage))
    kept = [row for row in rows if row.source_entity != ERASED_MARK]
    return [{"id": str(row.uid), **read_fields(row, RELATION_FIELDS)} for row in kept]


def take_all(rows: Any) -> list[Any]:
    """Return all rows, the oldest first. Raises TooLarge for more than a commit can write."""
    found = rows.lowest(MAX_COMMIT_ROWS + 1, "uid")
    check_count(len(found))
    return list(found)


def check_count(count: int) -> None:
    if count > MAX_COMMIT_ROWS:
        limit = f"{MAX_COMMIT_ROWS} memories: it is imported in one commit"
        raise TooLarge(what="The bundle", limit=limit)


def read_fields(row: Any, names: Iterable[str]) -> Item:
    return {name: plain_value(getattr(row, name)) for name in names}


def plain_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID | str) else value


def read_verdict(fact: Mapping[str, Any]) -> tuple[str, str]:
    """Return the verdict on a fact of a bundle, and its method: where none is named, it is a guess."""
    status, method = str(fact.get(VERDICT) or ""), str(fact.get(METHOD))
    is_judged = method in FactAssessment.Method.values and status != PLAUSIBLE
    by = method if is_judged else HEURISTIC
    return FactAssessment.read_status(status, by), by


# ---- secrets ---------------------------------------------------------------------------------------


def redact_content(content: dict[str, list[Item]]) -> tuple[dict[str, list[Item]], int]:
    """Return the content without secrets in its texts, and how many there were."""
    count, found = 0, dict(content)
    for kind in ("facts", "conversations", "relations"):
        redacted = [redact_item(kind, item) for item in content.get(kind, [])]
        found[kind] = [item for item, _ in redacted]
        count += sum(number for _, number in redacted)
    return found, count


def count_secrets(data: Mapping[str, Any]) -> int:
    """Return how many secrets there are in the texts and names of a document."""
    clean = redaction.redact_all(data)
    count = redaction.count_marks(clean) - redaction.count_marks(data)
    return max(count, int(clean != redaction.limit_depth(data)))


def redact_item(kind: str, item: Item) -> tuple[Item, int]:
    texts = {name: item[name] for name in TEXTS[kind] if name in item}
    clean = redaction.redact_all(texts)
    count = redaction.count_marks(clean) - redaction.count_marks(texts) if clean != texts else 0
    result = item | clean
    if kind == "conversations" and isinstance(item.get("messages"), list):
        parts = [redact_item("messages", one) for one in item["messages"] if isinstance(one, dict)]
        result["messages"], count = [one for one, _ in parts], count + sum(number for _, number in parts)
    return result, max(count, int(clean != redaction.limit_depth(texts)))
