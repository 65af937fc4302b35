"""/tasks: create, list, read, join, objectives, complete, cancel, context. An id or the slug names a task."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.actors import Actor
from memory.answers import tasks as shapes
from memory.answers.rendering import page_shape
from memory.api.base import Resource, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, query, route
from memory.engines.agent_tasks.context import MAX_TOKENS
from memory.engines.agent_tasks.engine import TaskEngine
from memory.engines.fields.orders import TASKS
from memory.engines.fields.tasks import TASK_FILTERS
from memory.engines.support import validation as c
from memory.filters import TaskFilterSet
from memory.operations.inputs import Input, parse_integer

task_engine = TaskEngine()
BUDGET = query("max_tokens", {**shapes.TOKENS, "default": MAX_TOKENS}, "What the facts may cost in a prompt.")
FILTERS = list_filter_parameters(TaskFilterSet)
ROUTES = {
    "TaskViewSet": {
        "create": route("Make a task with its branch", {201: shapes.CreatedTaskShape}, shapes.TaskInput),
        "list": route(
            "List tasks, newest first", {200: page(shapes.TaskShape)}, None, [*FILTERS, *paging_by(TASKS)]
        ),
        "retrieve": route("Read a task", {200: shapes.TaskShape}),
        "join": route(
            "Join a task: a branch of one's own",
            {201: shapes.JoinedTaskShape, 200: shapes.JoinedTaskShape},
            shapes.JoinInput,
        ),
        "objective": route("Change an objective", {200: shapes.ObjectiveShape}, shapes.ObjectiveInput),
        "complete_agent": route(
            "Complete an agent's part: merge its branch into the task's", {200: shapes.CompletedAgentShape}
        ),
        "complete": route(
            "Complete a task: offer its durable facts to the parent",
            {200: shapes.CompletedTaskShape},
            shapes.TaskEndInput,
        ),
        "cancel": route(
            "Cancel a task and archive its branches", {200: shapes.TaskShape}, shapes.TaskEndInput
        ),
        "context": route(
            "What an agent should know of a task", {200: shapes.TaskContextShape}, None, [BUDGET]
        ),
    }
}


@serve_at("tasks", "task")
@document_routes(ROUTES, shapes)
class TaskViewSet(Resource):
    lookup_field = "task"
    lookup_value_regex = "[^/]+"
    filterset_class = TaskFilterSet

    # Hooks and merges are transactions of their own; each step may be done again.
    long_actions = frozenset({"complete", "complete_agent"})

    def storable_data(self, data: Any) -> Any:
        """Return an answer without the work handle, which is told once."""
        return data | {"work": ""} if isinstance(data, dict) and "work" in data else data

    def create(self, request: Request) -> Response:
        fields = Input(request).take_fields(needed=["name"])
        done = task_engine.create_task(actor=get_request_actor(request), **fields)
        row = shapes.render_task(done.task) | {"suggested_template": done.suggested_template}
        return build_row_response(row, 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=TASKS)
        filters = payload.take_filters(TASK_FILTERS)
        payload.refuse_unknown()
        found = task_engine.list_tasks(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, shapes.render_task))

    def retrieve(self, request: Request, task: str) -> Response:
        Input(request).refuse_unknown()
        return Response(shapes.render_task(task_engine.get_task(task=task, actor=get_request_actor(request))))

    @action(detail=True, methods=["post"])
    def join(self, request: Request, task: str) -> Response:
        payload = Input(request)
        agent_id = payload.take_value("agent_id", c.plain_text, "")
        payload.refuse_unknown()
        done = task_engine.join_task(task=task, agent_id=agent_id, actor=get_request_actor(request))
        return build_row_response(shapes.render_joined(done), 201 if done.created else 200)

    @action(detail=True, methods=["patch"], url_path=r"objectives/(?P<n>\d{1,4})")
    def objective(self, request: Request, task: str, n: str) -> Response:
        payload = Input(request)
        actor = take_agent(payload, get_request_actor(request))
        found = task_engine.update_objective(task=task, n=int(n), actor=actor, **payload.take_fields())
        return Response(shapes.render_objective(found))

    @action(detail=True, methods=["post"], url_path="agents/(?P<agent_id>.+)/complete")
    def complete_agent(self, request: Request, task: str, agent_id: str) -> Response:
        Input(request).refuse_unknown()
        keep = self.keep_answer(shapes.render_completed_agent)
        done = task_engine.complete_agent(
            task=task, agent_id=agent_id, actor=get_request_actor(request), keep=keep
        )
        return Response(shapes.render_completed_agent(done))

    @action(detail=True, methods=["post"])
    def complete(self, request: Request, task: str) -> Response:
        result, keep = take_result(request), self.keep_answer(shapes.render_completed)
        done = task_engine.complete_task(
            task=task, result=result, actor=get_request_actor(request), keep=keep
        )
        return Response(shapes.render_completed(done))

    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, task: str) -> Response:
        row = task_engine.cancel_task(
            task=task, result=take_result(request), actor=get_request_actor(request)
        )
        return Response(shapes.render_task(row))

    @action(detail=True, methods=["get"])
    def context(self, request: Request, task: str) -> Response:
        payload = Input(request)
        budget = payload.take_value("max_tokens", parse_integer, MAX_TOKENS)
        payload.refuse_unknown()
        found = task_engine.get_task_context(task=task, max_tokens=budget, actor=get_request_actor(request))
        return Response(shapes.render_context(found))


def take_agent(payload: Input, actor: Actor) -> Actor:
    """Return the actor as the agent that a request names. Raises AgentForbidden."""
    return actor.with_origin(agent_id=payload.take_value("agent_id", c.text_check(200), ""))


def take_result(request: Request) -> str:
    """Return what came of a task, in the words of a request."""
    payload = Input(request)
    result: str = payload.take_value("result", c.plain_text, "")
    payload.refuse_unknown()
    return result
