"""The fields of snapshots and workspaces: what is said of a new one, and the filters of their lists."""

from memory.engines.fields.base import Field, Option, Use
from memory.engines.fields.filters import one_of
from memory.engines.fields.types import Choice, Flag, Reference, Text, Whole
from memory.models import Snapshot, Workspace

MAX_WINDOW_DAYS = 100  # days

NAME = Field("name", Text(100, 1), use=Use.CREATE)
DESCRIPTION = Field("description", Text(500), option=Option("why it is kept"))
PURPOSE = DESCRIPTION.with_traits(option=Option("what it is for"))
KIND = Field("kind", Choice(Snapshot.Kind.choices), "Default: branch.")
DRY_RUN = Field(
    "dry_run",
    Flag(),
    "true tells what would be done, and does nothing.",
    option=Option("tell what would be done, do nothing"),
)
DAYS = Field("days", Whole(0, MAX_WINDOW_DAYS))

SNAPSHOT_FILTERS = (
    one_of(
        "kind",
        Choice(Snapshot.Kind.choices),
        "Points of branches, or of the store.",
        option=Option("only these", checked=True),
    ),
    one_of(
        "branch",
        Reference(200),
        "Points of this branch.",
        alias="branch_name",
        option=Option("points of this branch", metavar="NAME"),
    ),
)
WORKSPACE_FILTERS = (
    one_of(
        "state",
        Choice(Workspace.State.choices),
        "Open, promoted or dropped ones.",
        option=Option("only these", checked=True),
    ),
)
