"""What may be done with agents' tasks."""

from operator import attrgetter

from django.utils.translation import gettext_lazy as _

from memory.answers import tasks as shapes
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.fields.base import Use
from memory.engines.fields.orders import TASKS as ORDER
from memory.engines.fields.tasks import CHANGING_AGENT, OBJECTIVE, TASK, TASK_FILTERS
from memory.models import AgentTask
from memory.operations.base import Answer, Resource, Row
from memory.operations.columns import Column

engine = TaskEngine()
ROW = Answer(shapes.TaskShape, shapes.render_task)
JOINED = Answer(shapes.JoinedTaskShape, shapes.render_joined, attrgetter("created"), untold={"work": ""})
COMPLETED_PART = Answer(shapes.CompletedAgentShape, shapes.render_completed_agent)
RESULT = TASK.select_fields(Use.UPDATE)

TASKS = Resource("tasks", "task", row=Row("task", "task"), model=AgentTask)
TASKS.add(
    "create",
    engine.create_task,
    "Make a task with its branch",
    Answer(shapes.CreatedTaskShape, shapes.render_created),
    body="TaskInput",
    about="A new task.",
    fields=TASK.select_fields(Use.CREATE),
)
TASKS.add("list", engine.list_tasks, "List tasks, newest first", ROW, filters=TASK_FILTERS, order=ORDER)
TASKS.show(
    "list",
    Column("slug", head="task"),
    Column("name", _("Task"), "name", tone="text", late=1),
    Column("state", head="state"),
    Column("objectives", _("Objectives"), "done"),
    Column("agents", _("Agents"), "agents"),
    Column("created_at", _("Made"), "made", "time"),
    Column("created_by", _("Made by"), tone="maybe"),
)
TASKS.add("retrieve", engine.get_task, "Read a task", ROW)
TASKS.add(
    "join",
    engine.join_task,
    "Join a task: a branch of one's own",
    JOINED,
    body="JoinInput",
    about="Who joins a task.",
)
TASKS.add(
    "objective",
    engine.update_objective,
    "Change an objective",
    Answer(shapes.ObjectiveShape, shapes.render_objective),
    verb="patch",
    path="objectives/<int:n>",
    body="ObjectiveInput",
    about="The next state of an objective, or what is noted of it.",
    fields=OBJECTIVE.select_fields(Use.UPDATE),
    origin=(CHANGING_AGENT,),
)
TASKS.add(
    "complete_agent",
    engine.complete_agent,
    "Complete an agent's part: merge its branch into the task's",
    COMPLETED_PART,
    path="agents/<path:agent_id>/complete",
)
TASKS.add(
    "complete",
    engine.complete_task,
    "Complete a task: offer its durable facts to the parent",
    Answer(shapes.CompletedTaskShape, shapes.render_completed),
    body="TaskEndInput",
    about="What came of a task.",
    fields=RESULT,
)
TASKS.add(
    "cancel",
    engine.cancel_task,
    "Cancel a task and archive its branches",
    ROW,
    body="TaskEndInput",
    about="What came of a task.",
    fields=RESULT,
)
TASKS.add_read(
    "context",
    engine.get_task_context,
    "What an agent should know of a task",
    Answer(shapes.TaskContextShape, shapes.render_context),
)
