"""/workspaces: made, listed, compared, promoted, dropped."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import copy_shapes, shapes
from memory.api.base import Resource, actor_of
from memory.api.filters import WorkspaceFilterSet
from memory.api.reading import Input, identity
from memory.api.schema import documented
from memory.engines import cleaning as c
from memory.engines.workspaces import WorkspaceEngine
from memory.exceptions import Invalid
from memory.models import Workspace

ENGINE = WorkspaceEngine()


@documented
class WorkspaceViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = WorkspaceFilterSet
    writes = False  # a copy of the store is not made inside a transaction

    def create(self, request: Request) -> Response:
        given = Input(request)
        name, description = given.take("name", c.plain_text), given.take("description", c.plain_text, "")
        given.end()
        if name is None:
            raise Invalid("{field} is needed.", field="name")
        made = ENGINE.create_workspace(name=name, actor=actor_of(request), description=description)
        return Response(copy_shapes.workspace(made), status=201)

    def list(self, request: Request) -> Response:
        given = Input(request)
        state, paging = given.take("state", c.one_of(Workspace.State.values), ""), given.paging()
        given.end()
        page = ENGINE.list_workspaces(actor=actor_of(request), state=state, **paging)
        return Response(shapes.page(page, copy_shapes.workspace))

    def retrieve(self, request: Request, pk: str) -> Response:
        workspace_id = identity(pk)
        Input(request).end()
        row = ENGINE.get_workspace(workspace_id=workspace_id, actor=actor_of(request))
        return Response(copy_shapes.workspace(row))

    @action(detail=True, methods=["get"])
    def diff(self, request: Request, pk: str) -> Response:
        workspace_id = identity(pk)
        Input(request).end()
        found = ENGINE.diff_workspace(workspace_id=workspace_id, actor=actor_of(request))
        return Response(copy_shapes.workspace_diff(found))

    @action(detail=True, methods=["post"])
    def promote(self, request: Request, pk: str) -> Response:
        workspace_id = identity(pk)
        Input(request).end()
        done = ENGINE.promote_workspace(workspace_id=workspace_id, actor=actor_of(request))
        return Response(copy_shapes.workspace_diff(done))

    @action(detail=True, methods=["post"])
    def drop(self, request: Request, pk: str) -> Response:
        workspace_id = identity(pk)
        Input(request).end()
        row = ENGINE.drop_workspace(workspace_id=workspace_id, actor=actor_of(request))
        return Response(copy_shapes.workspace(row))
