"""/snapshots: made, listed, read, restored, dropped."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import copy_shapes, shapes
from memory.api.base import Resource, actor_of
from memory.api.filters import SnapshotFilterSet
from memory.api.reading import Input, identity, point, whole
from memory.api.schema import documented
from memory.engines import cleaning as c
from memory.engines.snapshots import SnapshotManager
from memory.exceptions import Invalid
from memory.models import Snapshot

ENGINE = SnapshotManager()
KIND = c.one_of(Snapshot.Kind.values)


@documented
class SnapshotViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = SnapshotFilterSet
    writes = False  # a copy of the store is not made inside a transaction

    def create(self, request: Request) -> Response:
        given = Input(request)
        kind = given.take("kind", KIND, Snapshot.Kind.BRANCH)
        told = {name: given.take(name, c.plain_text) for name in ("name", "description")}
        told["description"] = told["description"] or ""
        if kind == Snapshot.Kind.BRANCH:
            told |= {"branch_name": given.branch(), "at": given.take("at", point)}
        given.end()
        if told["name"] is None:
            raise Invalid("{field} is needed.", field="name")
        make = ENGINE.create_snapshot if kind == Snapshot.Kind.BRANCH else ENGINE.create_store_snapshot
        return Response(copy_shapes.snapshot(make(actor=actor_of(request), **told)), status=201)

    def list(self, request: Request) -> Response:
        given = Input(request)
        kind, branch, paging = given.take("kind", KIND, ""), given.branch(default=""), given.paging()
        given.end()
        page = ENGINE.list_snapshots(actor=actor_of(request), kind=kind, branch_name=branch, **paging)
        return Response(shapes.page(page, copy_shapes.snapshot))

    def retrieve(self, request: Request, pk: str) -> Response:
        snapshot_id = identity(pk)
        Input(request).end()
        row = ENGINE.get_snapshot(snapshot_id=snapshot_id, actor=actor_of(request))
        return Response(copy_shapes.snapshot(row))

    def destroy(self, request: Request, pk: str) -> Response:
        snapshot_id = identity(pk)
        Input(request).end()
        ENGINE.drop_snapshot(snapshot_id=snapshot_id, actor=actor_of(request))
        return Response(status=204)

    @action(detail=False, methods=["get"])
    def window(self, request: Request) -> Response:
        Input(request).end()
        return Response({"days": ENGINE.get_window(actor=actor_of(request))})

    @window.mapping.post
    def keep_window(self, request: Request) -> Response:
        given = Input(request)
        days = given.take("days", whole)
        given.end()
        if days is None:
            raise Invalid("{field} is needed.", field="days")
        return Response({"days": ENGINE.keep_window(days=days, actor=actor_of(request))})

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        snapshot_id, given = identity(pk), Input(request)
        dry_run = given.take("dry_run", c.boolean, False)
        given.end()
        plan = ENGINE.restore_snapshot(snapshot_id=snapshot_id, actor=actor_of(request), dry_run=dry_run)
        return Response(copy_shapes.restore(plan))
