"""/metrics: the figures of this server for Prometheus, with a key of the server."""

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.views import APIView

from memory import metrics
from memory.actors import METRICS
from memory.api.base import get_request_actor
from memory.engines.store.health import read_figures


class MetricsView(APIView):
    is_of_server = True
    schema = None  # no part of the REST API: an address that Prometheus expects

    def get(self, request: Request) -> HttpResponse:
        get_request_actor(request).require_scope(METRICS)
        text, content_type = metrics.render(read_figures())
        return HttpResponse(text, content_type=content_type)
