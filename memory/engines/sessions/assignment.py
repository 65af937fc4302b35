"""The task that a session works on."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Q

from memory.actors import Actor
from memory.engines.fields.tasks import TASK
from memory.models import AgentTask, Session, TaskObjective

SLUG_LENGTH = TASK["slug"].type.max_length


def find_assigned(session: Session, actor: Actor) -> AgentTask | None:
    """Return the task in progress that a session names, else the one whose branch, or an agent's branch of
    which, it is on; None where there is none that the actor may use.
    """
    rows = AgentTask.objects.filter(project=session.project_id, state=AgentTask.State.ACTIVE)
    rows = rows.select_related("branch").prefetch_related("objectives")
    named = rows.filter(match_task(session.task_id)).first() if session.task_id else None
    on_branch = Q(branch=session.branch_id) | Q(agents__branch=session.branch_id)
    found = named or rows.filter(on_branch).distinct().first()
    return found if found and actor.may_use(found.branch.name) else None


def match_task(text: str) -> Q:
    """Return the condition for the task of an id or a slug."""
    if not text.isascii() or len(text) > SLUG_LENGTH:
        return Q(pk__in=[])
    try:
        return Q(pk=UUID(text)) | Q(slug=text)
    except ValueError:
        return Q(slug=text)


def list_open(objectives: Iterable[TaskObjective]) -> list[TaskObjective]:
    """Return the objectives that are not done."""
    return [one for one in objectives if one.state != TaskObjective.State.DONE]
