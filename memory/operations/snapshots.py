"""What may be done with snapshots, and the retention of past states."""

from memory.answers import copies as shapes
from memory.engines.fields.copies import SNAPSHOT_FILTERS
from memory.engines.fields.orders import SNAPSHOTS as ORDER
from memory.engines.store.snapshots import SnapshotManager
from memory.models import Snapshot
from memory.operations.base import GONE, Answer, Resource, Row

manager = SnapshotManager()
ROW = Answer(shapes.SnapshotShape, shapes.snapshot_shape)
WINDOW = Answer(shapes.WindowShape, shapes.render_window)

SNAPSHOTS = Resource("snapshots", "snapshot", row=Row("snapshot_id", "pk", "uuid"), model=Snapshot)
SNAPSHOTS.add(
    "create",
    manager.keep_state,
    "Keep a point of a branch, or the store",
    ROW,
    body="SnapshotInput",
    about="A point of a branch, or a frozen copy of the store.",
    example={"name": "before the clean-up"},
)
SNAPSHOTS.add(
    "list",
    manager.list_snapshots,
    "List snapshots, newest first",
    ROW,
    filters=SNAPSHOT_FILTERS,
    order=ORDER,
)
SNAPSHOTS.add("retrieve", manager.get_snapshot, "Read a snapshot", ROW)
SNAPSHOTS.add("destroy", manager.drop_snapshot, "Forget a snapshot, and remove its copy", GONE)
SNAPSHOTS.add(
    "restore",
    manager.restore_snapshot,
    "Go back to a snapshot",
    Answer(shapes.RestoreShape, shapes.restore_shape),
    body="RestoreInput",
    about="Options of a restore.",
)
SNAPSHOTS.add_read(
    "window",
    manager.get_window,
    "How long the database keeps every state",
    WINDOW,
    of_row=False,
)
SNAPSHOTS.add(
    "set_retention",
    manager.set_retention,
    "Set it",
    WINDOW,
    path="window",
    of_row=False,
    body="WindowInput",
    about="The retention of past states, in days.",
)
