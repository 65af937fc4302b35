"""Erasure in scores: judges may repeat a message in words of their own."""

from conversations.engines.forks import find_conversations
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
        uids = find_conversations(traces.project_id, traces.targets.get_uids("message"))
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


def without_words(ballots: list[dict]) -> list[dict]:
    """Return votes whose reasons are erased."""
    return [
        {**one, "reasons": dict.fromkeys(one["reasons"], ERASED_MARK)} if "reasons" in one else one
        for one in ballots
    ]
