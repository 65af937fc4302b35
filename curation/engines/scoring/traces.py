"""Erasure in scores: judges may repeat a message in words of their own."""

from collections.abc import Sequence
from uuid import UUID

from conversations.models import Conversation, Message
from curation.models import Score, Scoring
from memory.engines.erasure.traces import Traces, change_rows
from memory.engines.support.batches import batched
from memory.models.base import ERASED_MARK

BATCH_SIZE = 500
COLUMNS = ("dimensions", "ballots", "warning")


class ScoreTraces:
    """The scores and scorings of a project, as rows in which an erasure looks for texts."""

    def erase_traces(self, traces: Traces) -> int:
        """Blank what was said of a conversation that has an erased message, and redact the rest."""
        uids = find_conversations(traces)
        count = 0
        for batch in batched(sorted(uids), BATCH_SIZE):
            scores = Score.objects.filter(project=traces.project_id, target_id__in=batch)
            count += scores.exclude(explanation__in=("", ERASED_MARK)).update(explanation=ERASED_MARK)
            scorings = Scoring.objects.filter(project=traces.project_id, conversation_id__in=batch)
            count += change_rows(scorings, ("ballots",), lambda row: [without_words(row.ballots)])
        rows = Scoring.objects.filter(project=traces.project_id)
        return count + change_rows(
            rows, COLUMNS, lambda row: [traces.redact_value(getattr(row, name)) for name in COLUMNS]
        )


def find_conversations(traces: Traces) -> set[UUID]:
    """Return the conversations of erased messages, with their forks, which may share them."""
    found: set[UUID] = set()
    for batch in batched(sorted(traces.targets.get_uids("message")), BATCH_SIZE):
        rows = Message._base_manager.filter(uid__in=batch)
        found |= set(rows.values_list("conversation_id", flat=True))
    fresh = found
    while fresh:
        fresh = {uid for batch in batched(sorted(fresh), BATCH_SIZE) for uid in find_forks(batch)} - found
        found = found | fresh
    return found


def find_forks(uids: Sequence[UUID]) -> set[UUID]:
    rows = Conversation._base_manager.filter(parent_conversation_id__in=uids)
    return set(rows.values_list("uid", flat=True))


def without_words(ballots: list[dict]) -> list[dict]:
    """Return votes whose reasons are erased."""
    return [
        {**one, "reasons": dict.fromkeys(one["reasons"], ERASED_MARK)} if "reasons" in one else one
        for one in ballots
    ]
