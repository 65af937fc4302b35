"""What may be done with runs of consolidation."""

from django.utils.translation import gettext_lazy as _

from conversations.answers import consolidation as shapes
from conversations.engines.consolidation.engine import ConsolidationEngine
from conversations.engines.consolidation.report import ConsolidationReport
from conversations.engines.fields.consolidation import CONSOLIDATION, CONSOLIDATION_FILTERS
from conversations.engines.orders import RUNS as ORDER
from conversations.models import ConsolidationRun
from memory.engines.fields.base import Use
from memory.operations.base import Answer, Resource
from memory.operations.columns import Column


def choose_code(report: ConsolidationReport) -> int:
    """Return the status of the answer to a start: a queued run is not done yet."""
    if report.run.dry_run:
        return 200
    return 202 if report.run.state == ConsolidationRun.State.QUEUED else 201


engine = ConsolidationEngine()
RUN = Answer(shapes.ConsolidationShape, shapes.render)
REPORT = Answer(shapes.ConsolidationDetailShape, shapes.render_report)
STARTED = Answer(
    shapes.ConsolidationDetailShape, shapes.render_report, codes=(200, 201, 202), choose_code=choose_code
)
ONE = "runs/<uuid:run_id>"

CONSOLIDATION_RUNS = Resource("consolidation", "consolidation", model=ConsolidationRun)
CONSOLIDATION_RUNS.add_read(
    "runs",
    engine.list_runs,
    "List runs, newest first",
    RUN,
    filters=CONSOLIDATION_FILTERS,
    order=ORDER,
    operation_id="consolidation_runs_list",
)
CONSOLIDATION_RUNS.show(
    "runs",
    Column("id", head="id"),
    Column("level", head="level"),
    Column("target", _("Run"), "target", tone="text"),
    Column("branch", _("Branch"), "branch", of="branch.name"),
    Column("state", head="state"),
    Column("messages", head="read"),
    Column("created", head="new"),
    Column("updated", head="confirmed"),
    Column("deduplicated", head="repeated"),
    Column("started_at", _("Begun"), "begun", "time"),
    Column("created_by", _("By")),
)
CONSOLIDATION_RUNS.add(
    "start_run",
    engine.consolidate,
    "Consolidate a session, an agent's facts or a task, or dream on a branch",
    STARTED,
    path="runs",
    body="ConsolidationInput",
    about="A run to start.",
    fields=CONSOLIDATION.select_fields(Use.CREATE),
)
CONSOLIDATION_RUNS.add_read("one_run", engine.get_run, "Read a run, with what it did", REPORT, path=ONE)
CONSOLIDATION_RUNS.add("undo", engine.undo_run, "Undo a run whole", RUN, path=f"{ONE}/undo")
CONSOLIDATION_RUNS.add(
    "accept",
    engine.accept_changes,
    "Accept facts of a run as true",
    REPORT,
    path=f"{ONE}/accept",
    body="AcceptChangesInput",
    about="Which facts of a run are accepted.",
)
CONSOLIDATION_RUNS.add(
    "reject",
    engine.reject_changes,
    "Undo what it did to some facts",
    REPORT,
    path=f"{ONE}/reject",
    body="RejectChangesInput",
    about="Which facts of a run are rejected.",
)
