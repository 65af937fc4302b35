"""Pages of the API: an index, the OpenAPI document, and Swagger UI."""

import hashlib
from collections.abc import Mapping
from functools import cache, lru_cache
from threading import Lock
from typing import Any

from django.http import HttpResponse
from django.urls import get_script_prefix, reverse
from django.utils.translation import override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from memory.api.base import known_to
from memory.operations.inputs import Input

ONE_AT_A_TIME = Lock()  # drf-spectacular cannot generate two documents at once


@extend_schema(exclude=True)
class IndexView(APIView):
    """The index of the API. It ignores keys, so a wrong one does not hide it."""

    authentication_classes = []
    permission_classes = [AllowAny]
    version = ""
    resources: Mapping[str, str] = {}  # route names by resource

    def get(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        pages = {name: reverse(name) for name in ("docs", "schema")}
        resources = {name: reverse(route) for name, route in self.resources.items()}
        health = resources.pop("health")
        body = {"name": "Day1", "version": self.version, **pages, "health": health, "resources": resources}
        return Response(body)


class SchemaView(SpectacularAPIView):
    """OpenAPI 3.1 as YAML or, on request, JSON. Needs no key."""

    content_negotiation_class = DefaultContentNegotiation

    def _get_schema_response(self, request: Request) -> HttpResponse:
        renderer = request.accepted_renderer
        with ONE_AT_A_TIME:
            renderer_class: Any = type(renderer)  # mypy takes a class for no key of a cache
            body, etag = render_schema(renderer_class, get_script_prefix())
        if known_to(request, etag):
            return HttpResponse(status=304, headers={"ETag": etag})
        kind = renderer.media_type + ("; charset=utf-8" if renderer.charset else "")
        return HttpResponse(body, content_type=kind, headers={"ETag": etag, "Cache-Control": "no-cache"})


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI from this server's own files; nothing on the page is inline."""

    content_negotiation_class = DefaultContentNegotiation
    template_name = "api/docs.html"
    url_name = "schema"
    title = "Day1 API"


@lru_cache(maxsize=8)
def render_schema(renderer: Any, prefix: str = "/") -> tuple[bytes, str]:
    """Return the OpenAPI document in one form with its ETag, made once: anybody may ask for it.

    Below a path of a proxy it says so, for its own paths begin after it.
    """
    servers = {} if prefix == "/" else {"servers": [{"url": prefix.removesuffix("/")}]}
    body = bytes(renderer().render({**get_schema(), **servers}, renderer_context={}))
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'


@cache
def get_schema() -> dict[str, Any]:
    """Generate the OpenAPI document, once: it is the same for every caller and takes a second."""
    with override("en"):
        return SchemaGenerator().get_schema(request=None, public=True)
