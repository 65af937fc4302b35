"""Erasure in replays: their messages go with their source's, and what their contexts repeat is taken out."""

from typing import Any
from uuid import UUID

from conversations.engines.forks import find_conversations, find_descendants
from conversations.models import Message, Replay, ReplayStep
from memory.engines.erasure.scopes import Targets
from memory.engines.erasure.traces import Traces, change_rows
from memory.engines.support.batches import batched
from memory.models.base import ERASED_MARK

COLUMNS = ("system_prompt", "extra_context", "memory_context", "note")
BATCH_SIZE = 500


def add_replayed(project_id: UUID, found: Targets) -> None:
    """Add what replays of erased messages wrote: recorded results, and answers that may repeat them."""
    sources = find_conversations(project_id, found.get_uids("message"))
    sources |= find_descendants(project_id, found.get_uids("conversation"))
    for batch in batched(sorted(sources), BATCH_SIZE):
        forks = Replay.objects.filter(project=project_id, source_id__in=batch)
        uids = list(forks.values_list("conversation_id", flat=True))
        found.add_memories("conversation", uids)
        rows = Message._base_manager.filter(branch__project=project_id, conversation_id__in=uids)
        found.add_memories("message", set(rows.order_by().values_list("uid", flat=True)))


class ReplayTraces:
    """The replays of a project, as rows in which an erasure looks for texts."""

    def erase_traces(self, traces: Traces) -> int:
        """Rewrite every prompt, context and waiting answer that has something of what is erased."""
        rows = Replay.objects.filter(project=traces.project_id)
        count = change_rows(
            rows, COLUMNS, lambda row: [traces.redact_value(getattr(row, name)) for name in COLUMNS]
        )
        gone = traces.targets.get_uids("conversation")
        steps = ReplayStep.objects.filter(replay__project=traces.project_id, applied=False)

        def redact(row: Any) -> list[Any]:
            if row.replay.conversation_id in gone:
                return [row.answer | {"text": ERASED_MARK, "calls": []}]
            return [traces.redact_value(row.answer)]

        return count + change_rows(steps.select_related("replay"), ("answer",), redact)
