"""/projects: the project of the key, and its settings."""

import sys

from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import declared_serializers as d
from memory.answers.rendering import build_renderer, page_shape
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, page, route
from memory.engines.access.project_settings import ProjectSettingsEngine
from memory.engines.fields.base import Use
from memory.engines.fields.projects import PROJECT
from memory.engines.support.pagination import Page
from memory.operations.inputs import Input

settings_engine = ProjectSettingsEngine()


@d.declare_fields(PROJECT.select_fields(Use.ANSWER))
class ProjectShape(d.AnswerShape):
    """A project with its settings."""


@d.declare_fields(PROJECT.select_fields(Use.UPDATE))
class ProjectInput(d.RequestShape):
    """Settings of a project; what is not given stays as it is."""


render = build_renderer(ProjectShape)
ROUTES = {
    "ProjectViewSet": {
        "list": route("The project of this key, alone", {200: page(ProjectShape)}),
        "retrieve": route("Read the settings of the project", {200: ProjectShape}),
        "partial_update": route("Change settings of the project", {200: ProjectShape}, ProjectInput),
    }
}


@serve_at("projects", "project")
@document_routes(ROUTES, sys.modules[__name__])
class ProjectViewSet(ResourceViewSet):
    lookup_field = "slug"
    lookup_value_regex = "[^/]+"

    def list(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        own = settings_engine.get_project(actor=get_request_actor(request))
        return Response(page_shape(Page([own], None, None), render))

    def retrieve(self, request: Request, slug: str) -> Response:
        Input(request).refuse_unknown()
        project = settings_engine.get_project(actor=get_request_actor(request), slug=slug)
        return build_row_response(render(project))

    def partial_update(self, request: Request, slug: str) -> Response:
        settings = Input(request).take_fields(PROJECT.field_names(Use.UPDATE))
        project = settings_engine.update_project(actor=get_request_actor(request), slug=slug, **settings)
        return build_row_response(render(project))
