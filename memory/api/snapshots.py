"""/snapshots: create, list, read, restore, delete; and the retention of past states."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import copies as copy_shapes
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import documented
from memory.engines.fields.orders import SNAPSHOTS
from memory.engines.store.snapshots import SnapshotManager
from memory.engines.support import validation as c
from memory.filters import SnapshotFilterSet
from memory.models import Snapshot
from memory.operations.inputs import Input, parse_id, parse_integer, parse_point

snapshot_manager = SnapshotManager()
KIND = c.one_of(Snapshot.Kind.values)


@serve_at("snapshots", "snapshot")
@documented
class SnapshotViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = SnapshotFilterSet
    writes = False  # a copy of the store cannot be made inside a transaction

    def create(self, request: Request) -> Response:
        payload = Input(request)
        kind = payload.take_value("kind", KIND, Snapshot.Kind.BRANCH)
        values = {
            "name": payload.take_needed("name", c.plain_text),
            "description": payload.take_value("description", c.plain_text, ""),
        }
        if kind == Snapshot.Kind.BRANCH:
            values |= {"branch_name": payload.take_branch(), "at": payload.take_value("at", parse_point)}
        payload.refuse_unknown()
        make = (
            snapshot_manager.create_snapshot
            if kind == Snapshot.Kind.BRANCH
            else snapshot_manager.create_store_snapshot
        )
        return Response(
            copy_shapes.snapshot_shape(make(actor=get_request_actor(request), **values)), status=201
        )

    def list(self, request: Request) -> Response:
        payload = Input(request)
        kind, branch, paging = (
            payload.take_value("kind", c.blank_or(KIND), ""),
            payload.take_branch(default=""),
            payload.take_paging(order=SNAPSHOTS),
        )
        payload.refuse_unknown()
        page = snapshot_manager.list_snapshots(
            actor=get_request_actor(request), kind=kind, branch_name=branch, **paging
        )
        return Response(page_shape(page, copy_shapes.snapshot_shape))

    def retrieve(self, request: Request, pk: str) -> Response:
        snapshot_id = parse_id(pk)
        Input(request).refuse_unknown()
        row = snapshot_manager.get_snapshot(snapshot_id=snapshot_id, actor=get_request_actor(request))
        return Response(copy_shapes.snapshot_shape(row))

    def destroy(self, request: Request, pk: str) -> Response:
        snapshot_id = parse_id(pk)
        Input(request).refuse_unknown()
        snapshot_manager.drop_snapshot(snapshot_id=snapshot_id, actor=get_request_actor(request))
        return Response(status=204)

    @action(detail=False, methods=["get"])
    def window(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        return Response({"days": snapshot_manager.get_window(actor=get_request_actor(request))})

    @window.mapping.post
    def set_retention(self, request: Request) -> Response:
        payload = Input(request)
        days = payload.take_needed("days", parse_integer)
        payload.refuse_unknown()
        return Response({"days": snapshot_manager.set_retention(days=days, actor=get_request_actor(request))})

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        snapshot_id, payload = parse_id(pk), Input(request)
        dry_run = payload.take_value("dry_run", c.check_boolean, False)
        payload.refuse_unknown()
        plan = snapshot_manager.restore_snapshot(
            snapshot_id=snapshot_id, actor=get_request_actor(request), dry_run=dry_run
        )
        return Response(copy_shapes.restore_shape(plan))
