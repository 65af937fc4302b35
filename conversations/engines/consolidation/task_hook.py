"""Consolidation as a part in the end of a task, see DAY1["task_hooks"]."""

from conversations.engines.consolidation.engine import Level, run_facts
from conversations.engines.consolidation.levels import read_facts
from conversations.engines.consolidation.runs import drop_run
from memory.actors import Actor
from memory.engines.versions.policies import find_direct_writes
from memory.exceptions import Conflict
from memory.models import AgentTask, Branch, TaskAgent
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
