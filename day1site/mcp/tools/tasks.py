"""Tools for tasks: create, join, update and complete."""

from typing import Any

from day1site.mcp import schemas
from day1site.mcp.call_context import Call
from day1site.mcp.tools import base as b
from day1site.mcp.tools.declared_schemas import input_properties
from day1site.mcp.tools.operation_parameters import offer_parameters, take_offered
from memory.answers import tasks as shapes
from memory.answers.rendering import build_renderer
from memory.engines.agent_tasks.completion import CompletedPart, CompletedTask
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.fields.base import Use
from memory.engines.fields.tasks import CHANGING_AGENT, OBJECTIVE, TASK, TASK_AGENT
from memory.engines.sessions.briefing import list_open
from memory.engines.support import validation as c
from memory.engines.support.idempotency import keep_nothing
from memory.exceptions import Invalid
from memory.models import AgentTask, TaskObjective
from memory.operations.inputs import parse_integer
from memory.operations.tasks import TASKS

task_engine = TaskEngine()
REST = "memory_search with `work` finds what was learned; a step's number is its place in the list."
MAX_LISTED = 20  # tasks in progress that an answer lists
OWN_PART, WHOLE_TASK = "part", "task"  # what task_update completes
OBJECTIVE_PART = schemas.only(shapes.ObjectiveShape, *OBJECTIVE.field_names(Use.TOOL_ANSWER))
AGENT_PART = schemas.only(shapes.TaskAgentShape, *TASK_AGENT.field_names(Use.TOOL_ANSWER))
TASK_PART = schemas.only(shapes.TaskShape, *TASK.field_names(Use.TOOL_ANSWER))
render_objective = build_renderer(OBJECTIVE_PART)
render_agent = build_renderer(AGENT_PART)
_render_task = build_renderer(TASK_PART)


def describe_row(shape: Any) -> b.Schema:
    """Return the schema of a row of which every field is there."""
    return schemas.schema(shape) | {"additionalProperties": False}


TASK_SCHEMA = describe_row(TASK_PART)
TASK_SCHEMA["properties"] |= {
    "objectives": b.many("In their order.", describe_row(OBJECTIVE_PART)),
    "agents": b.many("Who joined, in that order.", describe_row(AGENT_PART)),
}
TASK_SCHEMA["required"] += ["objectives", "agents"]
NAMED = b.text("The task: its id or its short name, such as fix-login.", maxLength=200)
JOIN = TASKS.operations["join"]


SUGGESTED = (
    "A template that fits the task, by name; null: none does. Its newest version is a branch named in"
    " branch_list; branch_create with it as parent begins with all that it holds."
)


@b.tool(
    title="Make a task",
    about=(
        "Make a task that you or several agents work on: it gets a branch of its own, task/<short name>, "
        "which begins with all that its parent holds, and a list of objectives. Nothing reaches the parent "
        "until the task is completed. task_join then gives you a branch to work on. Look first whether "
        "the task exists: task_join without `task` lists those in progress."
    ),
    takes=input_properties(TASK.select_fields(Use.TOOL_CREATE)),
    needs=("name",),
    gives={
        "task": TASK_SCHEMA,
        "suggested_template": {"type": ["string", "null"], "description": SUGGESTED},
    },
    scope="write",
    writes=True,
    repeatable=False,
)
def task_create(call: Call) -> b.Answer:
    fields: dict[str, Any] = {"name": call.need("name", c.plain_text)}
    _ = call.branch
    fields |= call.inputs.take_unchecked(TASK.field_names(Use.CREATE))
    call.end()
    done = task_engine.create_task(actor=call.caller.actor, **fields)
    after = f'task_join {{"task": "{done.task.slug}"}}'
    answer = {"task": render_task(done.task), "suggested_template": done.suggested_template}
    return answer | {"branch": done.task.branch.name, "next": after}


@b.tool(
    title="Join a task",
    about=(
        "Join a task: you get a branch of your own that begins with what the task knows, and a handle; pass "
        "it as `work` to the other tools, and they read and write there. The answer says what is to do, who "
        "else is at it, and what they learned. Joining again gives the same branch and a new handle. Without "
        "`task` it lists the tasks in progress; task_create makes one."
    ),
    takes={"task": NAMED, **offer_parameters(JOIN)},
    gives={
        "joined": {"anyOf": [TASK_SCHEMA, {"type": "null"}], "description": "null when no task was named."},
        "handle": b.text("Pass it as `work`; empty when no task was named."),
        "idle_hours": {"type": "integer", "description": "The handle ends after so many hours of rest."},
        "learned": b.many(
            "What its agents and its branch learned, newest first.", schemas.schema(schemas.LineShape)
        ),
        "conflicts": b.many("What merges left for a decision.", schemas.schema(shapes.TaskConflictShape)),
        "archived": {
            "type": "boolean",
            "description": "true: the task's branch is archived, and nothing can be merged into it.",
        },
        "tasks": b.many(
            "Tasks in progress, newest first; only when no task was named.",
            b.row({"slug": {"type": "string"}, "name": {"type": "string"}, "open": {"type": "integer"}}),
        ),
    },
    rest=REST,
    scope="write",
    writes=True,
)
def task_join(call: Call) -> b.Answer:
    name = call.take("task", c.text_check(200), "")
    values, branch = take_offered(JOIN, call), call.branch
    call.end()
    if not name:
        return list_open_tasks(call, branch)
    actor = call.caller.actor
    done = task_engine.join_task(task=name, actor=actor, **values)
    found = shapes.render_context(task_engine.get_task_context(task=done.task.pk, actor=actor))
    facts = [fact for one in found["agents"] for fact in one["facts"]] + found["facts"]
    answer = {"joined": render_task(done.task), "handle": done.work, "idle_hours": 24, "tasks": []}
    answer |= {"learned": [describe_line(fact) for fact in facts], "conflicts": found["conflicts"]}
    answer |= {"archived": found["archived"]}
    return answer | {"branch": done.part.branch.name, "next": advise(done.task, done.work)}


@b.tool(
    title="Update or complete a task",
    about=(
        "Say how a task stands. With `objective` and `state` a step moves: todo to active when you begin, "
        "active to done or blocked, and back. complete=part merges your branch into the task's when your "
        "work is done; conflicts stay on your branch and are named, to be decided. complete=task ends the "
        "whole task, and offers its durable facts (confidence of at least 0.8, such as decisions and bug "
        "fixes) to the parent branch in a merge request that a person approves."
    ),
    takes={
        "task": NAMED,
        "objective": b.whole("The number of a step, from 1.", 1, 50),
        "state": b.choice("The step's next state.", TaskObjective.State.values),
        "note": b.text("What is worth knowing of the step, up to 1,000 characters."),
        "complete": b.choice("part: your own part; task: all of it.", (OWN_PART, WHOLE_TASK)),
        "result": b.text("With complete=task: what came of it, up to 2,000 characters."),
        **input_properties((CHANGING_AGENT,)),
    },
    needs=("task",),
    gives={
        "task": TASK_SCHEMA,
        "conflicts": b.many(
            "With complete=part: what was not merged. Merge the branch again with decisions on them.",
            schemas.schema(shapes.TaskConflictShape),
        ),
        "durable": b.many("With complete=task: ids of the facts that are offered to the parent."),
        "left": b.many("With complete=task: agents that had not completed their part."),
    },
    rest=REST,
    scope="write",
    writes=True,
    long=True,
)
def task_update(call: Call) -> b.Answer:
    name = call.need("task", c.text_check(200))
    actor = call.caller.actor.with_origin(agent_id=call.take("agent_id", c.text_check(200), ""))
    n = call.take("objective", parse_integer)
    step = call.inputs.take_unchecked(("state", "note"))
    complete = call.take("complete", c.one_of((OWN_PART, WHOLE_TASK)), "")
    result, _ = call.take("result", c.plain_text, ""), call.branch
    call.end()
    if n is None and (step or not complete):
        raise Invalid("{field} is needed.", field="objective")

    def describe(done: CompletedPart | CompletedTask | TaskObjective) -> b.Answer:
        task = task_engine.get_task(task=name, actor=actor)
        where = {"branch": task.branch.name, "next": advise(task, "")}
        return {"task": render_task(task), **describe_completion(done), **where}

    keep = call.keep_answer(describe)
    if n is not None:
        last = keep_nothing if complete else keep
        moved = task_engine.update_objective(task=name, n=n, actor=actor, keep=last, **step)
    if complete == OWN_PART:
        return describe(task_engine.complete_agent(task=name, actor=actor, keep=keep))
    if complete == WHOLE_TASK:
        return describe(task_engine.complete_task(task=name, actor=actor, result=result, keep=keep))
    return describe(moved)


# ---- pieces ----------------------------------------------------------------------------------------


def describe_completion(done: CompletedPart | CompletedTask | TaskObjective) -> dict[str, Any]:
    """Return what came of an agent's part or of a task, if one was completed."""
    answer: dict[str, Any] = {"conflicts": [], "durable": [], "left": []}
    if isinstance(done, CompletedPart):
        answer["conflicts"] = shapes.render_completed_agent(done)["conflicts"]
    elif isinstance(done, CompletedTask):
        found = shapes.render_completed(done)
        answer |= {"durable": found["durable"], "left": found["left"]}
    return answer


def list_open_tasks(call: Call, branch: str) -> b.Answer:
    """Return the answer that joins nothing and lists the tasks in progress."""
    page = task_engine.list_tasks(
        actor=call.caller.actor, state=AgentTask.State.ACTIVE.value, limit=MAX_LISTED
    )
    rows = [{"slug": t.slug, "name": t.name, "open": len(list_open(t.steps))} for t in page.results]
    after = f'task_join {{"task": "{rows[0]["slug"]}"}}' if rows else "task_create: no task is in progress"
    answer: dict[str, Any] = {"joined": None, "handle": "", "idle_hours": 24, "learned": [], "conflicts": []}
    answer |= {"archived": False}
    return answer | {"tasks": rows, "branch": branch, "next": after}


def render_task(task: AgentTask) -> dict[str, Any]:
    parts = {"objectives": [render_objective(one) for one in task.steps]}
    return _render_task(task) | parts | {"agents": [render_agent(one) for one in task.parts]}


def describe_line(fact: dict[str, Any]) -> dict[str, Any]:
    """Return a fact of a task's context as a line of an index."""
    status = f"active, {fact['verification_status']}"
    line = {"id": fact["id"], "line": schemas.one_line(fact["essence"])}
    return line | {"date": fact["created_at"][:10], "status": status}


def advise(task: AgentTask, work: str) -> str:
    """Return the call that is likely to help next."""
    if task.state != AgentTask.State.ACTIVE:
        return "memory_search"
    waiting = list_open(task.steps)
    if work and not waiting:
        return f'memory_search {{"query": "…", "work": "{work}"}}'
    state = "active" if work else "done"
    if waiting:
        step = f'"objective": {waiting[0].n}, "state": "{state}"'
        return f'task_update {{"task": "{task.slug}", {step}}}'
    return f'task_update {{"task": "{task.slug}", "complete": "part"}}'
