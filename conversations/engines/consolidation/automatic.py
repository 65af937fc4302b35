"""Consolidation that nobody starts: at the end of a task, and every night in the projects that want it."""

import logging
from datetime import timedelta

from django.utils import timezone

from conversations.engines.consolidation.engine import Level, run_facts
from conversations.engines.consolidation.levels import read_facts
from conversations.engines.consolidation.runs import drop_run
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.policies import find_direct_writes
from memory.exceptions import Conflict, Day1Error
from memory.models import AgentTask, Branch, Fact, Project, TaskAgent
from memory.models.policies import DirectWrites


class TaskConsolidation:
    """Runs by rule over what an agent or a task learned; no provider is asked."""

    def complete_agent(self, part: TaskAgent, actor: Actor) -> None:
        """Consolidate an agent's facts on its branch, before they are merged."""
        consolidate_branch(part.branch, part.agent_id, Level.AGENT, part.agent_id, actor)

    def complete_task(self, task: AgentTask, actor: Actor) -> None:
        """Consolidate a task's branch, before its durable facts are offered."""
        consolidate_branch(task.branch, "", Level.TASK, task.slug, actor)

    def cancel_task(self, task: AgentTask, actor: Actor) -> None:
        """Do nothing: the branches are archived as they are."""


def consolidate_branch(branch: Branch, agent_id: str, level: str, target: str, actor: Actor) -> None:
    """Run a level where the branch lets changes pass, has facts, and no other run has it."""
    if branch.archived_at or branch.read_only:
        return
    if find_direct_writes(actor.project_id, branch.name) != DirectWrites.ALLOW:
        return  # a guarded branch is changed by people
    source = read_facts(branch, agent_id)
    if not source.own:
        return
    try:
        report = run_facts(source, level, target, actor, False)
    except Conflict:  # another run is at it
        return
    if not report.run.commits:
        drop_run(report.run)


RECENT = timedelta(days=7)  # agents that wrote nothing since were consolidated on the night after

logger = logging.getLogger(__name__)


def consolidate_projects() -> None:
    """Consolidate the agents of each project with ``consolidate_agents``, on main."""
    for project in Project.objects.filter(consolidate_agents=True).order_by("pk"):
        branch = Branch.objects.live().filter(project=project, name=MAIN).first()
        if branch is not None:
            consolidate_agents(branch)


def consolidate_agents(branch: Branch) -> None:
    """Consolidate each agent that wrote on a branch lately; one that is refused is left for another night."""
    actor = Actor(
        branch.project_id, "system", label="consolidation", scopes=frozenset({"curate"}), surface="worker"
    )
    for agent_id in list_recent_agents(branch):
        try:
            consolidate_branch(branch, agent_id, ConsolidationRun.Level.AGENT, agent_id, actor)
        except Day1Error as error:
            logger.warning("Consolidation of %s on %s: %s", agent_id, branch.name, error.text)


def list_recent_agents(branch: Branch) -> list[str]:
    rows = Fact._base_manager.filter(branch=branch, updated_at__gte=timezone.now() - RECENT)
    named = rows.exclude(agent_id="").order_by("agent_id")
    return list(named.values_list("agent_id", flat=True).distinct())
