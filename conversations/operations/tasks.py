"""What may be done with a task whose agents learned the same."""

from conversations.answers.consolidation import ConsolidationDetailShape, render_report
from conversations.engines.consolidation.engine import ConsolidationEngine
from memory.operations.base import Answer
from memory.operations.tasks import TASKS

TASKS.add(
    "consolidate",
    ConsolidationEngine().consolidate_task,
    "Make one of what the agents of a task learned twice",
    Answer(ConsolidationDetailShape, render_report, lambda report: not report.run.dry_run),
    body="TaskConsolidationInput",
    about="How a task is consolidated.",
)
