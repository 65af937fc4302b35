"""What may be done with workspaces."""

from memory.answers import copies as shapes
from memory.engines.fields.copies import WORKSPACE_FILTERS
from memory.engines.fields.orders import WORKSPACES as ORDER
from memory.engines.store.workspaces import WorkspaceEngine
from memory.models import Workspace
from memory.operations.base import Answer, Resource, Row

engine = WorkspaceEngine()
ROW = Answer(shapes.WorkspaceShape, shapes.workspace)
DIFF = Answer(shapes.WorkspaceDiffShape, shapes.workspace_diff)

WORKSPACES = Resource("workspaces", "workspace", row=Row("workspace_id", "pk", "uuid"), model=Workspace)
WORKSPACES.add(
    "create",
    engine.create_workspace,
    "Copy the store to work in apart",
    ROW,
    body="WorkspaceInput",
    about="A workspace to create.",
    example={"name": "bulk import"},
)
WORKSPACES.add(
    "list",
    engine.list_workspaces,
    "List workspaces, newest first",
    ROW,
    filters=WORKSPACE_FILTERS,
    order=ORDER,
)
WORKSPACES.add("retrieve", engine.get_workspace, "Read a workspace", ROW)
WORKSPACES.add_read("diff", engine.diff_workspace, "What was done in a workspace", DIFF)
WORKSPACES.add("promote", engine.promote_workspace, "Take over what was done in it", DIFF)
WORKSPACES.add("drop", engine.drop_workspace, "Throw a workspace away", ROW)
