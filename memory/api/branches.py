"""/branches: create, list, log, archive, restore, diff. A name keeps its slashes, encoded or plain."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import branch_shapes, shapes
from memory.api.base import Resource, build_cached_response, build_row_response, get_request_actor
from memory.api.branch_merges import MergeRoute
from memory.api.filters import BranchFilterSet
from memory.api.policy_shapes import render_in_force
from memory.api.reading import Input, parse_names, parse_point
from memory.api.routes import serve_at
from memory.api.schema import documented
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import RESERVED, BranchManager
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Invalid

branch_manager = BranchManager()


@serve_at("branches", "branch")
@documented
class BranchViewSet(MergeRoute, Resource):
    lookup_field = "name"
    # A reserved last segment is not part of the name: it is a route of the branch.
    lookup_value_regex = rf"(?:[^/]+/)*(?!(?:{'|'.join(sorted(RESERVED))})/?$)[^/]+"
    filterset_class = BranchFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        name = payload.take_value("name", c.plain_text)
        if name is None:
            raise Invalid("{field} is needed.", field="name")
        options = {
            "parent": payload.take_value("parent", c.text_check(200), MAIN),
            "at": payload.take_value("at", parse_point),
            "purpose": payload.take_value("purpose", c.plain_text, ""),
        }
        payload.refuse_unknown()
        return build_row_response(
            shapes.branch_shape(branch_manager.create_branch(name=name, actor=actor, **options)), 201
        )

    def list(self, request: Request) -> Response:
        payload = Input(request)
        archived, paging = payload.take_value("archived", c.check_boolean, False), payload.take_paging()
        payload.refuse_unknown()
        page = branch_manager.list_branches(actor=get_request_actor(request), archived=archived, **paging)
        return Response(shapes.page_shape(page, shapes.branch_shape))

    def retrieve(self, request: Request, name: str) -> Response:
        Input(request).refuse_unknown()
        return build_cached_response(
            request,
            shapes.branch_shape(branch_manager.get_branch(name=name, actor=get_request_actor(request))),
        )

    def destroy(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        return build_row_response(shapes.branch_shape(branch_manager.archive_branch(name=name, actor=actor)))

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        return build_row_response(shapes.branch_shape(branch_manager.restore_branch(name=name, actor=actor)))

    @action(detail=True, methods=["get"])
    def log(self, request: Request, name: str) -> Response:
        payload = Input(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        page = branch_manager.list_commits(name=name, actor=get_request_actor(request), **paging)
        return Response(shapes.page_shape(page, shapes.commit))

    @action(detail=True, methods=["get"])
    def diff(self, request: Request, name: str) -> Response:
        payload = Input(request)
        kind = payload.take_value("type", c.text_check(20), "fact")
        options = {
            "at": payload.take_value("at", parse_point),
            "against": payload.take_value("against", c.text_check(200), ""),
            "against_at": payload.take_value("against_at", parse_point),
            "base": payload.take_value("base", c.text_check(20), ""),
            "change": payload.take_value("change", parse_names, ()),
            **payload.take_paging(),
        }
        payload.refuse_unknown()
        found = branch_manager.compare_branch(
            name=name, actor=get_request_actor(request), kind=kind, **options
        )
        return Response(branch_shapes.diff_shape(found, kind))

    @action(detail=True, methods=["get"])
    def policy(self, request: Request, name: str) -> Response:
        Input(request).refuse_unknown()
        found = PolicyEngine().get_policy(branch_name=name, actor=get_request_actor(request))
        return Response(render_in_force(found))

    @action(detail=True, methods=["get"])
    def stats(self, request: Request, name: str) -> Response:
        Input(request).refuse_unknown()
        return Response(
            branch_shapes.stats(branch_manager.load_stats(name=name, actor=get_request_actor(request)))
        )
