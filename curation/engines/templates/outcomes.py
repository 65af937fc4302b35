"""Outcomes of work that began from a template: of a task that is completed or cancelled."""

from django.db.models import Q

from curation.models import TemplateUse
from memory.actors import Actor
from memory.models import AgentTask, TaskAgent

Outcome = TemplateUse.Outcome


class TaskOutcomes:
    """The part of templates in the end of a task, see DAY1["task_hooks"]."""

    def complete_agent(self, part: TaskAgent, actor: Actor) -> None:
        """Do nothing: the task goes on."""

    def complete_task(self, task: AgentTask, actor: Actor) -> None:
        """Count a success for the templates that the task's work began from."""
        end_uses(task, actor, Outcome.SUCCESS)

    def cancel_task(self, task: AgentTask, actor: Actor) -> None:
        """Count a failure likewise."""
        end_uses(task, actor, Outcome.FAILURE)


def end_uses(task: AgentTask, actor: Actor, outcome: str) -> None:
    """Set the outcome of the open uses on a task's branches, or that name the task."""
    own = Q(branch__name__startswith=f"{task.branch.name}/") | Q(task_id__in=[task.slug, str(task.pk)])
    uses = TemplateUse.objects.filter(own, version__template__project=task.project_id, outcome=Outcome.OPEN)
    uses.update(outcome=outcome, ended_at=actor.write_time())
