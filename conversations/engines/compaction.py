"""Engine of compactions: the earlier part of a long conversation as a summary, its end word for word."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from conversations.engines.conversations import get_visible
from conversations.engines.forks import find_conversations, find_descendants
from conversations.engines.semantic_diff.tool_steps import ToolStep, list_tool_steps
from conversations.engines.threads import Thread, load_thread
from conversations.models import Compaction, Message
from memory.actors import Actor
from memory.db.querysets import Lineage, VersionedQuerySet
from memory.db.transactions import retry_methods
from memory.engines.audit.trail import record_entry
from memory.engines.erasure.traces import Traces
from memory.engines.fields.base import Field, Option
from memory.engines.fields.types import Text, Whole
from memory.engines.support.batches import batched
from memory.engines.versions.lookup import MAIN, find_branch, open_lineage
from memory.exceptions import Invalid, TooLarge
from memory.ranking import count_tokens
from memory.texts import cut_line

MAX_MESSAGES = 20_000
KEEP, MAX_KEEP = 50, 1_000  # messages at the end that stay word for word
MAX_SUMMARY = 16_000  # characters
KEPT_MESSAGES = Field(
    "keep",
    Whole(0, MAX_KEEP),
    "Last messages left out, 50 by default.",
    option=Option("last messages that are left out of it; default 50"),
)
SUMMARY = Field(
    "summary",
    Text(MAX_SUMMARY),
    "Yours; rules write one by default.",
    option=Option("yours; default rules write one"),
)
LIMIT = Field("limit", Whole(1, MAX_KEEP), "Messages behind it at most.")
BATCH_SIZE = 500
MAX_TRIED = 5  # summaries of which the newest that holds is taken
MAX_LINE = 200  # of a prompt or an answer in it
Role = Message.Role


@dataclass(frozen=True)
class CompactConversation:
    """The newest compaction that still holds, None without one, and the messages behind it.

    ``keep`` is how many last messages a new one may leave, the default where there are more; 0 means that
    there is nothing to sum up.
    """

    compaction: Compaction | None
    messages: Sequence[Message]
    keep: int = 0


@retry_methods
class CompactionEngine:
    def compact_conversation(
        self,
        *,
        conversation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        keep_last: Annotated[int, KEPT_MESSAGES] = KEEP,
        summary: Annotated[str, SUMMARY] = "",
    ) -> Compaction:
        """Store a summary of all messages but the last ``keep_last``; none of them is changed.

        Rules write it, a line for each turn, unless ``summary`` is given. It holds until one of the messages
        is erased, hidden or moved. Raises NotFound, Invalid where nothing is left to compact, TooLarge.
        """
        actor.require_scope("write", branch_name)
        branch = find_branch(actor, branch_name)
        covered = list_covered(branch.lineage(), conversation_id, KEPT_MESSAGES.check("keep", keep_last))
        row = build_compaction(covered, SUMMARY.check("summary", summary))
        row.project_id, row.branch, row.conversation_id = actor.project_id, branch, conversation_id
        row.created_at, row.created_by = timezone.now(), actor.label
        with transaction.atomic():
            row.save(force_insert=True)
            record_entry(actor, "conversation.compact", str(conversation_id), {"messages": row.messages})
        return row

    def get_compact(
        self,
        *,
        conversation_id: UUID,
        actor: Actor,
        branch_name: str = MAIN,
        limit: Annotated[int, LIMIT] = KEEP,
    ) -> CompactConversation:
        """Return the newest summary that still holds, and the last ``limit`` messages behind it.

        Without a summary they are the last messages of the conversation. Raises NotFound.
        """
        lineage, limit = open_lineage(actor, branch_name), LIMIT.check("limit", limit)
        thread = load_thread(lineage, get_visible(lineage, conversation_id))
        rows = Message.objects.in_lineage(lineage)
        known = Compaction.objects.filter(
            project=actor.project_id,
            conversation_id=conversation_id,
            branch__in=[pk for pk, _seq in lineage],
        ).select_related("branch")
        found = next((one for one in known[:MAX_TRIED] if holds(one, thread, rows)), None)
        last = list(thread.stream(rows, limit, down=True))[::-1]
        uids = [row.uid for row in last]
        if found and found.last_message_id in uids:
            last = last[uids.index(found.last_message_id) + 1 :]
        return CompactConversation(found, last, choose_keep(len(thread.last_keys(rows, KEEP + 1))))


def list_covered(lineage: Lineage, conversation_id: UUID, keep: int) -> list[Message]:
    """Return all messages of a conversation but the last ``keep``. Raises NotFound, Invalid, TooLarge."""
    thread = load_thread(lineage, get_visible(lineage, conversation_id))
    messages = list(thread.stream(Message.objects.in_lineage(lineage), MAX_MESSAGES + 1))
    if len(messages) > MAX_MESSAGES:
        raise TooLarge(what="The conversation", limit=f"{MAX_MESSAGES} messages")
    if not (covered := messages[: len(messages) - keep]):
        raise Invalid("There are no more than {keep} messages, which are kept.", keep=keep, field="keep")
    return covered


def build_compaction(covered: Sequence[Message], summary: str) -> Compaction:
    """Build the summary of messages, the caller's or one by rules; where it belongs is for the caller."""
    steps = list_tool_steps(covered)
    text = summary or summarize_messages(covered, steps)
    return Compaction(
        last_message_id=covered[-1].uid,
        digest=compute_digest((one.uid, one.content_hash) for one in covered),
        messages=len(covered),
        tokens=sum(one.token_count for one in covered),
        summary=text,
        summary_tokens=count_tokens(text),
        method=Compaction.Method.CALLER if summary else Compaction.Method.RULES,
        tools=dict(Counter(step.name for step in steps).most_common(50)),
    )


def choose_keep(messages: int) -> int:
    """Return how many last messages stay by default: of a short conversation the half."""
    return KEEP if messages > KEEP else messages // 2


# ---- what it stands for ----------------------------------------------------------------------------


def holds(row: Compaction, thread: Thread, rows: VersionedQuerySet) -> bool:
    """Return whether the messages that a summary stands for are as they were."""
    keys = list_keys(thread, rows)[: row.messages]
    return compute_digest(keys) == row.digest


def list_keys(thread: Thread, rows: VersionedQuerySet) -> list[tuple[UUID, str]]:
    """Return id and hash of each message of a thread, in order, without their texts."""
    return [
        (uid, content_hash)
        for _, part in thread.split(rows)
        for _number, uid, content_hash in sorted(
            part.gather_values("sequence_num", "uid", "content_hash"), key=lambda values: values[0]
        )
    ]


def compute_digest(keys: Any) -> str:
    text = "\n".join(f"{uid.hex} {content_hash}" for uid, content_hash in keys)
    return hashlib.sha256(text.encode()).hexdigest()


# ---- the summary -----------------------------------------------------------------------------------


def summarize_messages(messages: Sequence[Message], steps: Sequence[ToolStep]) -> str:
    """Return a line for each turn: the prompt, and what was answered last."""
    lines = list(_list_turns(messages))
    calls = Counter(step.name for step in steps)
    failed = sum(step.failed for step in steps)
    tools = ", ".join(f"{name} {count}" for name, count in calls.most_common(10))
    head = f"{len(messages)} messages, {len(lines)} turns." + (
        f" Tools: {tools}; {failed} failed." if tools else ""
    )
    return fit_lines(head, lines)


def fit_lines(head: str, lines: Sequence[str]) -> str:
    """Return the head and the lines, the first and the last ones where not all fit."""
    size = max(1, (MAX_SUMMARY - len(head) - 100) // (2 * MAX_LINE + 20))
    if len(lines) > size:
        first, last = size // 2, size - size // 2
        gap = f"… {len(lines) - size} turns are left out …"
        lines = [*lines[:first], gap, *lines[len(lines) - last :]]
    return "\n".join([head, *lines])


def _list_turns(messages: Sequence[Message]) -> Iterator[str]:
    prompt, answer = "", ""
    for row in messages:
        if row.role == Role.USER:
            if prompt or answer:
                yield describe_turn(prompt, answer)
            prompt, answer = row.content, ""
        elif row.role == Role.ASSISTANT and row.content.strip():
            answer = row.content
    if prompt or answer:
        yield describe_turn(prompt, answer)


def describe_turn(prompt: str, answer: str) -> str:
    return f"- {cut_line(prompt, MAX_LINE)}" + (f" → {cut_line(answer, MAX_LINE)}" if answer else "")


# ---- erasure ---------------------------------------------------------------------------------------


class CompactionTraces:
    """The summaries of a project: those of erased messages go."""

    def erase_traces(self, traces: Traces) -> int:
        gone = find_conversations(traces.project_id, traces.targets.get_uids("message"))
        gone |= find_descendants(traces.project_id, traces.targets.get_uids("conversation"))
        count = 0
        for batch in batched(sorted(gone), BATCH_SIZE):
            rows = Compaction.objects.filter(project=traces.project_id, conversation_id__in=batch)
            count += rows.delete()[0]
        return count
