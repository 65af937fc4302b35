"""/templates: create, list, find, read, compare, instantiate, update, deprecate, and what came of them."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import templates as shapes
from curation.engines.fields.templates import TEMPLATE_FILTERS
from curation.engines.orders import TEMPLATES
from curation.engines.templates.engine import BRANCH, TemplateEngine
from curation.filters import TemplateFilterSet
from memory.answers import branches as branch_shapes
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import (
    COUNT,
    PAGING,
    TEXT,
    document_routes,
    list_filter_parameters,
    page,
    paging_by,
    query,
    route,
)
from memory.engines.support import validation as c
from memory.engines.versions.lookup import MAIN
from memory.operations.inputs import Input, parse_integer, parse_names, parse_point

template_engine = TemplateEngine()
FILTERS = list_filter_parameters(TemplateFilterSet)
FIND = [
    query("task_type", TEXT, "The kind of work, in any case of its letters."),
    query("description", TEXT, "What the work is."),
    query("limit", {"type": "integer", "minimum": 1, "maximum": 200, "default": 1}, "How many to return."),
]
DIFF = [
    query("before", COUNT, "A version.", required=True),
    query("after", COUNT, "Another; the newest when it is not given."),
    query("type", {"type": "string", "default": "fact"}, "The type of memory, as in the diff of branches."),
    *PAGING,
]
ROUTES = {
    "TemplateViewSet": {
        "create": route("Make a template of a branch", {201: shapes.TemplateShape}, shapes.TemplateInput),
        "list": route(
            "List templates by name",
            {200: page(shapes.TemplateShape)},
            None,
            [*FILTERS, *paging_by(TEMPLATES)],
        ),
        "find": route("Find the template for a task", {200: shapes.TemplateMatchesShape}, None, FIND),
        "retrieve": route("Read a template", {200: shapes.TemplateDetailShape}),
        "diff": route("Compare two versions", {200: branch_shapes.DiffShape}, None, DIFF),
        "instantiate": route(
            "Begin a branch from a template", {201: shapes.TemplateInstanceShape}, shapes.TemplateUseInput
        ),
        "add_version": route("Add a version", {200: shapes.TemplateShape}, shapes.TemplateUpdateInput),
        "deprecate": route(
            "Deprecate a template", {200: shapes.TemplateShape}, shapes.TemplateDeprecateInput
        ),
        "outcome": route(
            "Say what came of the work", {200: shapes.TemplateUseShape}, shapes.TemplateOutcomeInput
        ),
    }
}


@serve_at("templates", "template")
@document_routes(ROUTES, shapes, branch_shapes)
class TemplateViewSet(ResourceViewSet):
    lookup_field = "name"
    lookup_value_regex = "[^/]+"
    filterset_class = TemplateFilterSet
    long_actions = frozenset({"instantiate"})  # a copy of the store cannot be made inside a transaction

    def create(self, request: Request) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        name = payload.take_needed("name", c.plain_text)
        source = payload.take_value("source_branch", c.text_check(200), "") or MAIN
        at = payload.take_value("at", parse_point)
        fields: Any = payload.take_fields()
        made = template_engine.create_template(name=name, source_branch=source, at=at, actor=actor, **fields)
        return build_row_response(shapes.render_template(made), 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        paging = payload.take_paging(order=TEMPLATES)
        filters = payload.take_filters(TEMPLATE_FILTERS)
        payload.refuse_unknown()
        found = template_engine.list_templates(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(found, shapes.render_template))

    @action(detail=False, methods=["get"])
    def find(self, request: Request) -> Response:
        payload = Input(request)
        requested = {
            "task_type": payload.take_value("task_type", c.plain_text, ""),
            "description": payload.take_value("description", c.plain_text, ""),
            "limit": payload.take_value("limit", parse_integer, 1),
        }
        payload.refuse_unknown()
        found = template_engine.find_template(actor=get_request_actor(request), **requested)
        return Response({"results": [shapes.render_match(one) for one in found]})

    def retrieve(self, request: Request, name: str) -> Response:
        Input(request).refuse_unknown()
        found = template_engine.get_template(name=name, actor=get_request_actor(request))
        return Response(shapes.render_detail(found))

    @action(detail=True, methods=["get"])
    def diff(self, request: Request, name: str) -> Response:
        payload, actor = Input(request), get_request_actor(request)
        before = payload.take_needed("before", parse_integer)
        after = payload.take_value("after", parse_integer)
        kind = payload.take_value("type", c.text_check(20), "fact")
        options = {"change": payload.take_value("change", parse_names, ()), **payload.take_paging()}
        payload.refuse_unknown()
        if after is None:
            after = template_engine.get_template(name=name, actor=actor).template.version
        found = template_engine.diff_template(
            name=name, before=before, after=after, kind=kind, actor=actor, **options
        )
        return Response(branch_shapes.diff_shape(found, kind))

    @action(detail=True, methods=["post"])
    def instantiate(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        target = payload.take_needed("target_branch", c.plain_text)
        version = payload.take_value("version", parse_integer)
        isolation = payload.take_value("isolation", c.plain_text, BRANCH)
        payload.refuse_unknown()
        made = template_engine.instantiate_template(
            name=name, target_branch=target, version=version, isolation=isolation, actor=actor
        )
        return Response(shapes.render_instance(made), status=201)

    @action(detail=True, methods=["post"], url_path="update")  # the router's own update is a PUT
    def add_version(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        source = payload.take_needed("new_source", c.plain_text)
        at = payload.take_value("at", parse_point)
        fields: Any = payload.take_fields()
        made = template_engine.update_template(name=name, new_source=source, at=at, actor=actor, **fields)
        return build_row_response(shapes.render_template(made))

    @action(detail=True, methods=["post"])
    def deprecate(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        reason = payload.take_value("reason", c.plain_text, "")
        payload.refuse_unknown()
        made = template_engine.deprecate_template(name=name, reason=reason, actor=actor)
        return build_row_response(shapes.render_template(made))

    @action(detail=True, methods=["post"])
    def outcome(self, request: Request, name: str) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        branch = payload.take_branch()
        outcome = payload.take_needed("outcome", c.plain_text)
        payload.refuse_unknown()
        use = template_engine.record_outcome(name=name, branch_name=branch, outcome=outcome, actor=actor)
        return Response(shapes.render_use(use))
