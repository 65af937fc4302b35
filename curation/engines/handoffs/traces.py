"""Erasure in handoffs: packets are rewritten without what was erased, and hashed anew."""

from collections.abc import Mapping
from typing import Any

from curation.engines.handoffs.packet import compute_sha256, find_verification
from curation.models import Handoff
from memory.engines.erasure.traces import Traces, change_rows
from memory.models import Erasure, Session
from memory.models.base import ERASED_MARK

WORDS = ("context_summary", "instructions", "blockers", "reason")
COLUMNS = (*WORDS, "facts", "conversations", "verification_status", "sha256")
FACT = {"fact_text": ERASED_MARK, "essence": ERASED_MARK, "category": "general"}


class HandoffTraces:
    """The handoffs of a project, as rows in which an erasure looks for texts."""

    def erase_traces(self, traces: Traces) -> int:
        """Rewrite every packet that has something of what is erased; return how many had."""
        rows = Handoff.every.filter(project=traces.project_id)
        return change_rows(rows, COLUMNS, lambda row: redact_handoff(traces, row))


def redact_handoff(traces: Traces, row: Handoff) -> list[Any]:
    """Return the values of the columns without what is erased."""
    is_own = is_written_by(traces, row)
    redacted = Handoff(pk=row.pk, handoff_type=row.handoff_type, to_agent=row.to_agent)
    summary = traces.redact_lines(row.context_summary)
    redacted.context_summary = "" if is_own else traces.redact_value(summary)
    redacted.instructions = "" if is_own else traces.redact_value(row.instructions)
    redacted.blockers = [] if is_own else traces.redact_value(row.blockers)
    redacted.reason = traces.redact_value(row.reason)
    redacted.facts = [redact_fact(traces, fact) for fact in row.facts]
    redacted.conversations = [redact_conversation(traces, one) for one in row.conversations]
    redacted.verification_status = row.verification_status
    redacted.sha256 = row.sha256
    if any(getattr(redacted, name) != getattr(row, name) for name in COLUMNS):
        redacted.verification_status = find_verification(redacted.facts).value
        redacted.sha256 = compute_sha256(redacted)
        forget_briefings(row)
    return [getattr(redacted, name) for name in COLUMNS]


def is_written_by(traces: Traces, row: Handoff) -> bool:
    """Return whether the words of a handoff are those of an erased session, agent or person."""
    author = traces.targets.author
    if row.session_id and row.session_id in traces.targets.sessions:
        return True
    if author is None or (author.until and row.created_at > author.until):
        return False
    if row.agent_id:
        return row.agent_id == author.agent_id
    kind, _, actor_id = row.owner.partition(":")
    return author.scope == Erasure.Scope.ACTOR and author.is_maker(kind, actor_id, row.created_by)


def redact_fact(traces: Traces, fact: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = traces.redact_value(dict(fact))
    return found | FACT if fact["id"] in traces.ids else found


def redact_conversation(traces: Traces, one: Mapping[str, Any]) -> dict[str, Any]:
    messages = [redact_message(traces, row) for row in one["messages"]]
    title = ERASED_MARK if one["id"] in traces.ids else traces.redact_value(one["title"])
    return {"id": one["id"], "title": title, "messages": messages}


def redact_message(traces: Traces, row: Mapping[str, Any]) -> dict[str, Any]:
    content = ERASED_MARK if row["id"] in traces.ids else traces.redact_value(row["content"])
    return {**row, "content": content}


def forget_briefings(row: Handoff) -> None:
    """Forget what sessions were told of a handoff: they are told anew when they start again."""
    briefed = Session.objects.filter(project=row.project_id, context__contains=str(row.pk))
    briefed.update(context="")
