"""Names and moves: short names of tasks, branches of agents, states of objectives, who may change what."""

import hashlib
import re
from uuid import UUID

from django.utils.text import slugify

from memory.actors import Actor
from memory.engines.access.work_handles import get_owner_name
from memory.engines.branches.manager import RESERVED
from memory.engines.fields.tasks import MAX_OBJECTIVES, SLUG
from memory.engines.sessions.briefing import SLUG_LENGTH, match_task
from memory.engines.support import validation as c
from memory.exceptions import AgentForbidden, BranchForbidden, Conflict, IllegalTransition, Invalid, NotFound
from memory.models import AgentTask, TaskAgent, TaskObjective

PREFIX = "task/"
DIGEST_LENGTH = 6
MAX_AGENTS = 100  # of one task
State = TaskObjective.State
MOVES: dict[str, tuple[str, ...]] = {
    State.OPEN: (State.ACTIVE,),
    State.ACTIVE: (State.OPEN, State.DONE, State.BLOCKED),
    State.DONE: (State.ACTIVE,),
    State.BLOCKED: (State.ACTIVE,),
}


# ---- names -----------------------------------------------------------------------------------------


def choose_slug(slug: str, name: str) -> str:
    """Return the slug that was given, checked, or one made of the task's name. Raises Invalid."""
    if not slug:
        made = shorten(slugify(name), SLUG_LENGTH)
        return made if made and made not in RESERVED else add_digest(made, name)
    if not re.fullmatch(SLUG, slug):
        raise Invalid(
            "{field} is made of a–z and 0–9, with single '.', '_' or '-' between them.", field="slug"
        )
    if slug in RESERVED:
        raise Invalid("A branch name cannot end in {word}.", word=slug, field="slug")
    c.refuse_secret("slug", slug)
    return slug


def name_agent_branch(task: AgentTask, agent_id: str) -> str:
    """Return the name of an agent's branch, ``task/<slug>/<agent>``: different for different agents."""
    is_plain = re.fullmatch(SLUG, agent_id) and agent_id not in RESERVED and len(agent_id) <= SLUG_LENGTH
    return f"{task.branch.name}/{agent_id if is_plain else add_digest(slugify(agent_id), agent_id)}"


def add_digest(segment: str, text: str) -> str:
    """Return a segment of a branch's name that only this text makes."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]
    return "-".join(part for part in (shorten(segment, SLUG_LENGTH - DIGEST_LENGTH - 1), digest) if part)


def shorten(segment: str, max_length: int) -> str:
    return segment[:max_length].strip("-_")


# ---- values ----------------------------------------------------------------------------------------


def choose_agent(actor: Actor, agent_id: str) -> str:
    """Return the agent that is named, else the caller's own. Raises AgentForbidden, Invalid."""
    if actor.bound_agent and agent_id and agent_id != actor.bound_agent:
        raise AgentForbidden()
    agent = c.text_check(200)("agent_id", agent_id) or actor.bound_agent or actor.agent_id
    if not agent.strip():
        raise Invalid("{field} is needed.", field="agent_id")
    return agent


# ---- rows ------------------------------------------------------------------------------------------


def find_task(
    actor: Actor, task: UUID | str, scope: str = "read", lock: bool = False, grows: bool = True
) -> AgentTask:
    """Return a task by its id or its slug; with ``lock`` locked until the transaction ends.

    Raises NotFound, ScopeMissing, BranchForbidden.
    """
    actor.require_scope(scope, grows=grows)
    text = c.plain_text("task", str(task))
    rows = AgentTask.objects.filter(match_task(text), project=actor.project_id)
    if lock:  # the row alone: its branches are locked by who commits on them
        rows.select_for_update().first()
    found = rows.select_related("branch", "parent").first()
    if found is None:
        raise NotFound("There is no task with this id or short name.")
    if not actor.may_use(found.branch.name):
        raise BranchForbidden("This task is on a branch that this key may not use.")
    return found


def find_part(task: AgentTask, agent_id: str) -> TaskAgent:
    """Return an agent's part of a task. Raises NotFound."""
    part = task.agents.select_related("branch").filter(agent_id=agent_id).first()
    if part is None:
        raise NotFound("{agent} has not joined this task.", agent=agent_id)
    part.task = task
    return part


def find_objective(task: AgentTask, n: int) -> TaskObjective:
    """Return an objective by its number. Raises NotFound."""
    objective = task.objectives.filter(n=n).first() if 0 < n <= MAX_OBJECTIVES else None
    if objective is None:
        raise NotFound("This task has no objective {n}.", n=n)
    return objective


# ---- rights and states -----------------------------------------------------------------------------


def require_part(actor: Actor, task: AgentTask) -> None:
    """Refuse an actor that neither made nor joined the task, and may not curate. Raises ScopeMissing."""
    if not has_part(actor, task):
        actor.require_scope("curate")


def has_part(actor: Actor, task: AgentTask) -> bool:
    """Return whether the actor may change the task: it made or joined it, or curates."""
    owner = get_owner_name(actor)
    is_own = task.owner == owner or task.agents.filter(owner=owner).exists()
    return is_own or actor.has_scope("curate")


def require_active(task: AgentTask) -> None:
    """Refuse a task that is over. Raises IllegalTransition."""
    if task.state != AgentTask.State.ACTIVE:
        raise IllegalTransition("The task {task} is {state} already.", task=task.slug, state=task.state)


def require_working(part: TaskAgent) -> None:
    """Refuse a part that is over. Raises IllegalTransition."""
    if part.state != TaskAgent.State.WORKING:
        raise IllegalTransition(
            "{agent} has completed its part already: join again to go on.", agent=part.agent_id
        )


def check_move(objective: TaskObjective, state: str, agent_id: str) -> None:
    """Check the next state of an objective. Raises IllegalTransition, and Conflict for another's step."""
    if state == objective.state:
        if state == State.ACTIVE and objective.agent_id != agent_id:
            raise Conflict("{agent} is at it already.", agent=objective.agent_id or "?", field="state")
        return
    if state not in MOVES[objective.state]:
        raise IllegalTransition(
            "An objective that is {old} cannot become {new}, only {moves}.",
            old=objective.state,
            new=state,
            moves=", ".join(MOVES[objective.state]),
        )
