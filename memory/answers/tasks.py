"""Request and response serializers of agents' tasks."""

from typing import Any

from rest_framework import serializers as s

from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer
from memory.engines.agent_tasks.completion import CompletedPart, CompletedTask
from memory.engines.agent_tasks.context import TaskContext
from memory.engines.agent_tasks.engine import CreatedTask
from memory.engines.fields.base import Use
from memory.engines.fields.tasks import OBJECTIVE, TASK, TASK_AGENT
from memory.engines.merging.plan import PlanItem

MAX_LINE_LENGTH = 200


# ---- answers ---------------------------------------------------------------------------------------


ObjectiveShape = d.declare_answer(OBJECTIVE, "A step of a task.")


TaskAgentShape = d.declare_answer(TASK_AGENT, "An agent's part of a task.")


@d.declare_fields(TASK.select_fields(Use.ANSWER))
class TaskShape(d.AnswerShape):
    """A task with its objectives and agents."""

    objectives = ObjectiveShape(many=True, source="steps")
    agents = TaskAgentShape(many=True, source="parts")


class CreatedTaskShape(TaskShape):
    """A new task."""

    suggested_template = s.CharField(
        allow_null=True, help_text="The name of a template that fits it; null: none does."
    )


class JoinedTaskShape(s.Serializer):
    """A task that an agent joined."""

    task = TaskShape()
    agent = TaskAgentShape(source="part")
    work = s.CharField(help_text="A work handle on the agent's branch, for MCP; told once.")
    created = s.BooleanField(help_text="False when the agent had joined already.")


class TaskConflictShape(s.Serializer):
    """A memory that a merge left for a decision."""

    id = s.UUIDField()
    type = s.CharField(help_text="The kind of memory, as a plan has it.")
    reason = s.CharField()
    line = s.CharField(help_text="What the agent's branch says.")
    token = s.CharField(help_text="Binds a decision to the two versions that differ.")
    branch = s.CharField(help_text="The branch to merge again, with decisions.")
    into = s.CharField(help_text="The branch that it is merged into.")


class CompletedAgentShape(s.Serializer):
    """An agent's part after its merge into the task's branch."""

    agent = TaskAgentShape(source="part")
    conflicts = TaskConflictShape(
        many=True, help_text="The first that wait: merge the branch again with decisions on them."
    )


class CompletedTaskShape(s.Serializer):
    """A completed task and what is offered to its parent."""

    task = TaskShape()
    durable = s.ListField(
        child=s.UUIDField(), help_text="The facts that the merge request offers; without any there is none."
    )
    left = s.ListField(
        child=s.CharField(), help_text="Agents that had not completed their part: it is not in the request."
    )
    conflicting = s.ListField(child=s.CharField(), help_text="Agents of whose merge conflicts were left.")


class LearnedFactShape(s.Serializer):
    id = s.UUIDField(source="uid")
    essence = s.CharField()
    category = s.CharField()
    confidence = s.FloatField()
    verification_status = s.CharField()
    created_at = s.DateTimeField()


class LearnedShape(s.Serializer):
    """An agent's part of a task, and the newest facts of its branch."""

    agent = TaskAgentShape(source="part")
    facts = LearnedFactShape(many=True)


class TaskContextShape(s.Serializer):
    """What an agent should know of a task."""

    task = TaskShape()
    agents = LearnedShape(many=True)
    facts = LearnedFactShape(many=True, help_text="The newest of the task's branch.")
    conflicts = TaskConflictShape(
        many=True, help_text="What merges of agents' branches left for a decision, the first of a few agents."
    )
    tokens = s.IntegerField(help_text="What the facts cost in a prompt.")
    truncated = s.BooleanField(help_text="True when max_tokens left facts out.")
    archived = s.BooleanField(
        help_text="True when the task's branch is archived: nothing is merged into it, no conflict is listed."
    )


# ---- renderers -------------------------------------------------------------------------------------

render_objective = build_renderer(ObjectiveShape)
render_agent = build_renderer(TaskAgentShape)
render_fact = build_renderer(LearnedFactShape)
render_task = build_renderer(TaskShape)
render_joined = build_renderer(JoinedTaskShape)
_completed_agent = build_renderer(CompletedAgentShape, "conflicts")
_completed = build_renderer(CompletedTaskShape, "conflicting")
_context = build_renderer(TaskContextShape, "conflicts")


def render_created(done: CreatedTask) -> dict[str, Any]:
    return render_task(done.task) | {"suggested_template": done.suggested_template}


def render_conflict(item: PlanItem, branch: str, into: str) -> dict[str, Any]:
    row = {"id": str(item.uid), "type": item.kind, "reason": item.reason, "token": item.token}
    return row | {"line": describe_item(item), "branch": branch, "into": into}


def describe_item(item: PlanItem) -> str:
    """Return a line on what the source of a merge says."""
    row = item.theirs if item.theirs is not None else item.ours
    text = getattr(row, "essence", "") or getattr(row, "content", "") or str(row or "")
    return " ".join(text.split())[:MAX_LINE_LENGTH]


def render_completed_agent(done: CompletedPart) -> dict[str, Any]:
    branch, into = done.part.branch.name, done.part.task.branch.name
    return _completed_agent(done, conflicts=[render_conflict(item, branch, into) for item in done.conflicts])


def render_completed(done: CompletedTask) -> dict[str, Any]:
    parts = done.task.parts
    return _completed(done, conflicting=[part.agent_id for part in parts if part.open_conflicts])


def render_context(found: TaskContext) -> dict[str, Any]:
    into = found.task.branch.name
    conflicts = [render_conflict(item, part.branch.name, into) for part, item in found.conflicts]
    return _context(found, conflicts=conflicts)
