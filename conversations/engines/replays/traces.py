"""Erasure in replays: what their prompts and contexts repeat is taken out."""

from conversations.models import Replay, ReplayStep
from memory.engines.erasure.traces import Traces, change_rows

COLUMNS = ("system_prompt", "extra_context", "memory_context")


class ReplayTraces:
    """The replays of a project, as rows in which an erasure looks for texts."""

    def erase_traces(self, traces: Traces) -> int:
        """Rewrite every prompt, context and waiting answer that has something of what is erased."""
        rows = Replay.objects.filter(project=traces.project_id)
        count = change_rows(
            rows, COLUMNS, lambda row: [traces.redact_value(getattr(row, name)) for name in COLUMNS]
        )
        steps = ReplayStep.objects.filter(replay__project=traces.project_id, applied=False)
        return count + change_rows(steps, ("answer",), lambda row: [traces.redact_value(row.answer)])
