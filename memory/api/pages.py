"""/schema and /docs: the OpenAPI document, and a page to browse and try it."""

from functools import cache
from typing import Any

from django.utils.translation import override
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response


class SchemaView(SpectacularAPIView):
    """OpenAPI 3.1, as YAML or, when asked for, as JSON. Needs no key."""

    content_negotiation_class = DefaultContentNegotiation

    def _get_schema_response(self, request: Request) -> Response:
        return Response(schema())


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI from this server's own files; nothing on the page is inline."""

    content_negotiation_class = DefaultContentNegotiation
    template_name = "api/docs.html"
    url_name = "schema"
    title = "Day1 API"


@cache
def schema() -> dict[str, Any]:
    """Made once: it is the same for everybody, and takes a second."""
    with override("en"):
        return SchemaGenerator().get_schema(request=None, public=True)
