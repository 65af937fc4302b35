"""/branches: made, listed, logged, archived, restored. A name keeps its slashes, encoded or plain."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import branch_shapes, shapes
from memory.api.base import Resource, actor_of, one, shown
from memory.api.filters import BranchFilterSet
from memory.api.reading import Input, names, point
from memory.api.schema import documented
from memory.engines import cleaning as c
from memory.engines.branches import MAIN, RESERVED, BranchManager
from memory.exceptions import Invalid

ENGINE = BranchManager()


@documented
class BranchViewSet(Resource):
    lookup_field = "name"
    # The last segment is no branch's: it is a route below one.
    lookup_value_regex = rf"(?:[^/]+/)*(?!(?:{'|'.join(sorted(RESERVED))})/?$)[^/]+"
    filterset_class = BranchFilterSet

    def create(self, request: Request) -> Response:
        given = Input(request)
        actor = given.actor(actor_of(request))
        name = given.take("name", c.plain_text)
        if name is None:
            raise Invalid("{field} is needed.", field="name")
        how = {
            "parent": given.take("parent", c.text(200), MAIN),
            "at": given.take("at", point),
            "purpose": given.take("purpose", c.plain_text, ""),
        }
        given.end()
        return one(shapes.branch(ENGINE.create_branch(name=name, actor=actor, **how)), 201)

    def list(self, request: Request) -> Response:
        given = Input(request)
        archived, paging = given.take("archived", c.boolean, False), given.paging()
        given.end()
        page = ENGINE.list_branches(actor=actor_of(request), archived=archived, **paging)
        return Response(shapes.page(page, shapes.branch))

    def retrieve(self, request: Request, name: str) -> Response:
        Input(request).end()
        return shown(request, shapes.branch(ENGINE.get_branch(name=name, actor=actor_of(request))))

    def destroy(self, request: Request, name: str) -> Response:
        given = Input(request)
        actor = given.actor(actor_of(request))
        given.end()
        return one(shapes.branch(ENGINE.archive_branch(name=name, actor=actor)))

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, name: str) -> Response:
        given = Input(request)
        actor = given.actor(actor_of(request))
        given.end()
        return one(shapes.branch(ENGINE.restore_branch(name=name, actor=actor)))

    @action(detail=True, methods=["get"])
    def log(self, request: Request, name: str) -> Response:
        given = Input(request)
        paging = given.paging()
        given.end()
        page = ENGINE.log(name=name, actor=actor_of(request), **paging)
        return Response(shapes.page(page, shapes.commit))

    @action(detail=True, methods=["get"])
    def diff(self, request: Request, name: str) -> Response:
        given = Input(request)
        kind = given.take("type", c.text(20), "fact")
        how = {
            "at": given.take("at", point),
            "against": given.take("against", c.text(200), ""),
            "against_at": given.take("against_at", point),
            "change": given.take("change", names, ()),
            **given.paging(),
        }
        given.end()
        found = ENGINE.diff(name=name, actor=actor_of(request), kind=kind, **how)
        return Response(branch_shapes.diff(found, kind))

    @action(detail=True, methods=["get"])
    def stats(self, request: Request, name: str) -> Response:
        Input(request).end()
        return Response(branch_shapes.stats(ENGINE.stats(name=name, actor=actor_of(request))))
