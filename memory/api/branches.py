"""What has no form of an operation at /branches: a merge, which is another call where it only plans."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import merges as shapes
from memory.api.base import get_request_actor
from memory.api.operation_views import build_view
from memory.api.routes import serve_at
from memory.api.schema import route
from memory.engines.merging.checked_merge import MergeResult
from memory.engines.merging.engine import MergeEngine
from memory.engines.support import validation as c
from memory.operations.branches import BRANCHES
from memory.operations.inputs import Input
from memory.operations.merge_inputs import take_force, take_merge, take_page

merges = MergeEngine()
DeclaredView: Any = build_view(BRANCHES)


@serve_at("branches", "branch")
class BranchViewSet(DeclaredView):
    long_actions = DeclaredView.long_actions | {"merge"}

    @route("Merge a branch, or show the plan", {200: shapes.MergeShape}, shapes.MergeInput)
    @action(detail=True, methods=["post"])
    def merge(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        options, force, page = take_merge(payload), take_force(payload), take_page(payload)
        dry_run = payload.take_value("dry_run", c.check_boolean, False)
        payload.refuse_unknown()
        if dry_run:
            found = merges.preview_merge(source=name, actor=actor, **options, **page)
            return Response(shapes.preview_shape(found))

        def render(result: MergeResult) -> dict[str, Any]:
            return shapes.result_shape(result, name, options["target"], options["strategy"])

        keep = self.keep_answer(render)
        return Response(render(merges.merge_branch(source=name, actor=actor, keep=keep, **options, **force)))
