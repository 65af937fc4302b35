"""What may be done with batches: many conversations replayed with the same parameters."""

from typing import Any

from django.utils.translation import gettext_lazy as _

from conversations.answers import replays as shapes
from conversations.engines.fields.replays import REPLAY
from conversations.engines.orders import REPLAY_BATCHES as ORDER
from conversations.engines.replays.batches import ReplayBatchEngine
from conversations.models import ReplayBatch
from conversations.operations.replays import LIMIT_FIELDS
from memory.actors import Actor
from memory.engines.fields.base import Use
from memory.engines.fields.common import STATED
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = ReplayBatchEngine()


def render_progress(batch: ReplayBatch, actor: Actor) -> dict[str, Any]:
    """Return what a batch has come to so far."""
    return shapes.report(engine.get_report(batch_id=batch.pk, actor=actor))


QUEUED = Answer(shapes.BatchReportShape, render_progress, takes=("actor",), codes=(202,))

REPLAY_BATCHES = Resource(
    "replay-batches", "replay-batch", row=Row("batch_id", "pk", "uuid"), model=ReplayBatch
)
REPLAY_BATCHES.add(
    "create",
    engine.create_batch,
    "Replay many conversations in the background",
    QUEUED,
    body="ReplayBatchInput",
    about="Which conversations are replayed, by id or by filters, and with what; the newest by default.",
    fields=REPLAY.select_fields(Use.CREATE),
    origin=STATED,
)
REPLAY_BATCHES.add(
    "list",
    engine.list_batches,
    "List batches of replays, newest first",
    Answer(shapes.ReplayBatchShape, shapes.batch),
    order=ORDER,
)
REPLAY_BATCHES.show(
    "list",
    Column("name", _("Batch"), tone="text"),
    Column("model", _("Model"), of="parameters.model"),
    Column("branch", _("Branch"), of="branch.name"),
    Column("created_at", _("Made"), kind="time"),
    Column("created_by", _("By")),
)
REPLAY_BATCHES.add(
    "retrieve",
    engine.get_report,
    "What a batch of replays has come to",
    Answer(shapes.BatchReportShape, shapes.report),
)
REPLAY_BATCHES.add(
    "run",
    engine.run_batch,
    "Go on with the replays of a batch that stopped or failed",
    QUEUED,
    body="BatchLimitsInput",
    about="Limits that take the place of those that the batch and its replays had.",
    fields=LIMIT_FIELDS,
)
REPLAY_BATCHES.add(
    "stop",
    engine.stop_batch,
    "Stop the replays of a batch that are not done",
    Answer(shapes.BatchReportShape, render_progress, takes=("actor",)),
)
