"""What may be done with replays; one is made of its conversation."""

from django.utils.translation import gettext_lazy as _

from conversations.answers import replays as shapes
from conversations.engines.fields.replays import REPLAY, REPLAY_FILTERS
from conversations.engines.orders import REPLAYS as ORDER
from conversations.engines.replays.engine import LIMITS, ReplayEngine
from conversations.models import Replay
from conversations.operations.conversations import ROW_DIFF, SEMANTIC_DIFF
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = ReplayEngine()
ROW = Answer(shapes.ReplayShape, shapes.replay)
LIMIT_FIELDS = tuple(REPLAY[name] for name in LIMITS)

REPLAYS = Resource("replays", "replay", row=Row("replay_id", "pk", "uuid"), model=Replay)
REPLAYS.add(
    "list",
    engine.list_replays,
    "List replays, newest first",
    ROW,
    filters=REPLAY_FILTERS,
    order=ORDER,
    without=("batch_id",),
)
REPLAYS.show(
    "list",
    Column("id", head="id"),
    Column("model", _("Replay"), "model", tone="text", late=1),
    Column("state", _("State"), "state"),
    Column("steps", head="steps", late=1),
    Column("input_tokens", head="tokens", late=1),
    Column("cost", head="cost", late=1),
    Column("comparison.verdict", head="verdict", late=1),
    Column("source_id", _("Conversation")),
    Column("branch", _("Branch"), of="branch.name"),
    Column("created_at", _("Made"), "begun", "time", late=1),
    Column("created_by", _("By")),
)
REPLAYS.add("retrieve", engine.get_replay, "Read a replay", ROW)
REPLAYS.add_read(
    "context",
    engine.get_replay_context,
    "What an agent goes on from, in chat format",
    Answer(shapes.ReplayContextShape, dict),
)
REPLAYS.add(
    "run",
    engine.run_replay,
    "Have the model go on, in the background; again, after its last step",
    Answer(shapes.ReplayShape, shapes.replay, codes=(202,)),
    body="ReplayLimitsInput",
    about="Limits that take the place of those that the replay had.",
    fields=LIMIT_FIELDS,
)
REPLAYS.add("cancel", engine.cancel_replay, "Cancel a replay", ROW)
REPLAYS.add("complete", engine.complete_replay, "Mark a replay that went on by hand as done", ROW)
REPLAYS.add_read(
    "diff",
    engine.diff_replay,
    "The differences of source and replay, message by message",
    ROW_DIFF,
)
REPLAYS.add_read(
    "semantic_diff",
    engine.semantic_diff,
    "How source and replay differ in actions, reasoning and outcome",
    SEMANTIC_DIFF,
    path="semantic-diff",
)
