"""The nightly consolidation of what agents know, in the projects that asked for it."""

import logging
from datetime import timedelta

from django.utils import timezone

from conversations.engines.consolidation.task_hook import consolidate_branch
from conversations.models import ConsolidationRun
from memory.actors import Actor
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Day1Error
from memory.models import Branch, Fact, Project

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
