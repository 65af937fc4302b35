"""/workspaces: create, list, compare, promote, drop."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import copies as copy_shapes
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import documented
from memory.engines.fields.orders import WORKSPACES
from memory.engines.store.workspaces import WorkspaceEngine
from memory.engines.support import validation as c
from memory.filters import WorkspaceFilterSet
from memory.models import Workspace
from memory.operations.inputs import Input, parse_id

workspace_engine = WorkspaceEngine()


@serve_at("workspaces", "workspace")
@documented
class WorkspaceViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = WorkspaceFilterSet
    writes = False  # a copy of the store cannot be made inside a transaction

    def create(self, request: Request) -> Response:
        payload = Input(request)
        name = payload.take_needed("name", c.plain_text)
        description = payload.take_value("description", c.plain_text, "")
        payload.refuse_unknown()
        made = workspace_engine.create_workspace(
            name=name, actor=get_request_actor(request), description=description
        )
        return Response(copy_shapes.workspace(made), status=201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        state, paging = (
            payload.take_value("state", c.blank_or(c.one_of(Workspace.State.values)), ""),
            payload.take_paging(order=WORKSPACES),
        )
        payload.refuse_unknown()
        page = workspace_engine.list_workspaces(actor=get_request_actor(request), state=state, **paging)
        return Response(page_shape(page, copy_shapes.workspace))

    def retrieve(self, request: Request, pk: str) -> Response:
        workspace_id = parse_id(pk)
        Input(request).refuse_unknown()
        row = workspace_engine.get_workspace(workspace_id=workspace_id, actor=get_request_actor(request))
        return Response(copy_shapes.workspace(row))

    @action(detail=True, methods=["get"])
    def diff(self, request: Request, pk: str) -> Response:
        workspace_id = parse_id(pk)
        Input(request).refuse_unknown()
        found = workspace_engine.diff_workspace(workspace_id=workspace_id, actor=get_request_actor(request))
        return Response(copy_shapes.workspace_diff(found))

    @action(detail=True, methods=["post"])
    def promote(self, request: Request, pk: str) -> Response:
        workspace_id = parse_id(pk)
        Input(request).refuse_unknown()
        done = workspace_engine.promote_workspace(workspace_id=workspace_id, actor=get_request_actor(request))
        return Response(copy_shapes.workspace_diff(done))

    @action(detail=True, methods=["post"])
    def drop(self, request: Request, pk: str) -> Response:
        workspace_id = parse_id(pk)
        Input(request).refuse_unknown()
        row = workspace_engine.drop_workspace(workspace_id=workspace_id, actor=get_request_actor(request))
        return Response(copy_shapes.workspace(row))
