"""What the next session would be told at its start, without one."""

from django.utils import timezone

from memory.actors import Actor
from memory.engines.sessions.briefing import StartContext, start_context
from memory.engines.sessions.manager import find_previous
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN, find_branch
from memory.models import Session

CHECK_PATH = c.text_check(1000)


def preview_context(*, actor: Actor, branch_name: str = MAIN, repository: str = "") -> StartContext:
    """Return what a session that begins now in a repository would be told; nothing is stored or counted.

    Raises Invalid, BranchNotFound, scope and branch refusals.
    """
    actor.require_scope("read", branch_name)
    branch = find_branch(actor, branch_name)
    session = Session(
        project_id=actor.project_id, branch=branch, project_path=CHECK_PATH("repository", repository)
    )
    previous = find_previous(session) if session.project_path else None
    session.parent_session = previous.key if previous else ""
    return start_context(session, actor, branch.lineage(), timezone.now())
