"""/branches: their rows, log, differences and tree, and those that are done with.

A name keeps its slashes, encoded or plain.
"""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import branches as branch_shapes
from memory.answers import commits as commit_shapes
from memory.answers import topology as topology_shapes
from memory.answers.policies import render_in_force
from memory.answers.rendering import page_shape
from memory.api.base import build_cached_response, build_row_response, get_request_actor
from memory.api.branch_merges import MergeRoute
from memory.api.branch_schema import documented
from memory.api.routes import serve_at
from memory.engines.access.policies import PolicyEngine
from memory.engines.branches.manager import DETAIL_CHECKS, RESERVED, BranchManager
from memory.engines.branches.topology import MAX_NODES, BranchTopologyEngine
from memory.engines.fields.branches import BRANCH_FILTERS
from memory.engines.fields.orders import BRANCHES
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN
from memory.filters import BranchFilterSet
from memory.operations.inputs import Input, parse_names, parse_point

branch_manager, topology_engine = BranchManager(), BranchTopologyEngine()
DETAILS = frozenset(DETAIL_CHECKS)


@serve_at("branches", "branch")
@documented
class BranchViewSet(MergeRoute):
    lookup_field = "name"
    # A reserved last segment is not part of the name: it is a route of the branch.
    lookup_value_regex = rf"(?:[^/]+/)*(?!(?:{'|'.join(sorted(RESERVED))})/?$)[^/]+"
    filterset_class = BranchFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        name = payload.take_needed("name", c.plain_text)
        options = {
            "parent": payload.take_value("parent", c.text_check(200), MAIN),
            "at": payload.take_value("at", parse_point),
        }
        details = payload.take_fields(DETAILS)
        branch = branch_manager.create_branch(name=name, actor=actor, **options, **details)
        return build_row_response(branch_shapes.branch_shape(branch), 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        filters = payload.take_filters(BRANCH_FILTERS)
        paging = payload.take_paging(order=BRANCHES)
        payload.refuse_unknown()
        page = branch_manager.list_branches(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(page, branch_shapes.branch_shape))

    def retrieve(self, request: Request, name: str) -> Response:
        Input(request).refuse_unknown()
        return build_cached_response(
            request,
            branch_shapes.branch_shape(
                branch_manager.get_branch(name=name, actor=get_request_actor(request))
            ),
        )

    def destroy(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        return build_row_response(
            branch_shapes.branch_shape(branch_manager.archive_branch(name=name, actor=actor))
        )

    @action(detail=True, methods=["post"])
    def restore(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        return build_row_response(
            branch_shapes.branch_shape(branch_manager.restore_branch(name=name, actor=actor))
        )

    @action(detail=True, methods=["post"])
    def enrich(self, request: Request, name: str) -> Response:
        return self._enrich(request, name)

    @enrich.mapping.patch
    def enrich_in_place(self, request: Request, name: str) -> Response:
        return self._enrich(request, name)

    def _enrich(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        details = payload.take_fields(DETAILS)
        return build_row_response(
            branch_shapes.branch_shape(topology_engine.enrich_branch(name=name, actor=actor, **details))
        )

    @action(detail=False, methods=["get"])
    def topology(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(default=MAX_NODES)
        filters = {
            field: payload.take_value(field, c.text_check(200), "") for field in ("name", "owner", "tag")
        }
        states = payload.take_value("state", parse_names, ())
        payload.refuse_unknown()
        tree = topology_engine.get_topology(
            actor=get_request_actor(request), states=states, **filters, **paging
        )
        return Response(topology_shapes.tree_shape(tree))

    @action(detail=False, methods=["get"])
    def expired(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        page = topology_engine.list_expired(actor=get_request_actor(request), **paging)
        return Response(page_shape(page, topology_shapes.expired_shape))

    @action(detail=False, methods=["post"], url_path="auto-archive")
    def auto_archive(self, request: Request) -> Response:
        payload = Input(request)
        dry_run = payload.take_value("dry_run", c.check_boolean, True)
        payload.refuse_unknown()
        report = topology_engine.auto_archive(actor=get_request_actor(request), dry_run=dry_run)
        return Response(topology_shapes.report_shape(report))

    @action(detail=True, methods=["get"])
    def log(self, request: Request, name: str) -> Response:
        payload = Input(request)
        paging = payload.take_paging()
        payload.refuse_unknown()
        page = branch_manager.list_commits(name=name, actor=get_request_actor(request), **paging)
        return Response(page_shape(page, commit_shapes.titled_commit))

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
