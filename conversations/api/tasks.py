"""/tasks/TASK/consolidate: make one of what a task's agents learned twice."""

import sys

from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.answers.consolidation import ConsolidationDetailShape, render_report
from conversations.api.consolidation import consolidation_engine
from memory.answers import declared_serializers as d
from memory.api.base import build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, route
from memory.api.tasks import TaskViewSet
from memory.engines.support import validation as c
from memory.operations.inputs import Input


class TaskConsolidationInput(d.RequestShape):
    """How a task is consolidated."""

    dry_run = s.BooleanField(required=False, help_text="Answer the same, and write nothing.")


ROUTES = {
    "ConsolidatedTaskViewSet": {
        "consolidate": route(
            "Make one of what the agents of a task learned twice",
            {200: ConsolidationDetailShape, 201: ConsolidationDetailShape},
            TaskConsolidationInput,
        )
    }
}


@serve_at("tasks", "task")
@document_routes(ROUTES, sys.modules[__name__])
class ConsolidatedTaskViewSet(TaskViewSet):
    @action(detail=True, methods=["post"])
    def consolidate(self, request: Request, task: str) -> Response:
        payload = Input(request)
        dry_run = payload.take_value("dry_run", c.check_boolean, False)
        payload.refuse_unknown()
        actor = get_request_actor(request)
        report = consolidation_engine.consolidate_task(task=task, actor=actor, dry_run=dry_run)
        return build_row_response(render_report(report), 200 if dry_run else 201)
