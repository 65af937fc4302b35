"""Instances in a workspace: the store is copied once their branch is made."""

from collections.abc import Callable
from dataclasses import dataclass

from curation.models import TemplateUse
from memory.actors import Actor
from memory.engines.branches.manager import BranchManager
from memory.engines.store.workspaces import WorkspaceEngine
from memory.models import Workspace

MAX_WORKSPACE_NAME = 100


@dataclass(frozen=True)
class Instance:
    """A branch that began from a template; with the isolation ``database`` the workspace that holds it."""

    use: TemplateUse
    workspace: Workspace | None = None


def isolate_use(actor: Actor, target_branch: str, begin: Callable[[], TemplateUse]) -> Instance:
    """Begin a use, and copy the store with its branch into a workspace; without the copy nothing counts.

    What is left then is the archived branch, which keeps its name: a branch is never deleted.
    The branch comes first, so that it is in the copy, and the store has not moved when that is promoted.
    """
    use = begin()
    try:
        name = target_branch[:MAX_WORKSPACE_NAME]
        workspace = WorkspaceEngine().create_workspace(
            name=name, description=f"From the template {use.version.template.name}", actor=actor
        )
    except BaseException:
        BranchManager().archive_branch(name=target_branch, actor=actor)
        use.delete()
        raise
    return Instance(use, workspace)
