"""What may be done with replays; one is made of its conversation."""

from conversations.answers import replays as shapes
from conversations.engines.fields.replays import REPLAY, REPLAY_FILTERS
from conversations.engines.orders import REPLAYS as ORDER
from conversations.engines.replays.engine import LIMITS, ReplayEngine
from conversations.models import Replay
from conversations.operations.conversations import ROW_DIFF, SEMANTIC_DIFF
from memory.operations.base import Answer, Resource, Row

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
REPLAYS.add("retrieve", engine.get_replay, "Read a replay", ROW)
REPLAYS.add(
    "context",
    engine.get_replay_context,
    "What an agent goes on from, in chat format",
    Answer(shapes.ReplayContextShape, dict),
    verb="get",
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
REPLAYS.add(
    "diff",
    engine.diff_replay,
    "The differences of source and replay, message by message",
    ROW_DIFF,
    verb="get",
)
REPLAYS.add(
    "semantic_diff",
    engine.semantic_diff,
    "How source and replay differ in actions, reasoning and outcome",
    SEMANTIC_DIFF,
    verb="get",
    path="semantic-diff",
)
