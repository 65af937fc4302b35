"""/health: liveness, readiness and, with a key, the backlog."""

from django.db import DatabaseError
from rest_framework.decorators import action
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import documented
from memory.engines.store.health import check_database, check_health
from memory.exceptions import StoreDamaged
from memory.operations.inputs import Input


@serve_at("health", "health")
@documented
class HealthViewSet(ResourceViewSet):
    permission_classes = [AllowAny]
    end_user_actions = frozenset({"list"})

    def list(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        report = check_health(get_request_actor(request))
        needs_help = report["status"] == "failing" or report.get("database", "ok") != "ok"
        return Response(report, status=503 if needs_help else 200)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer with the status also where the database cannot tell whose key it is."""
        if not isinstance(exc, DatabaseError):
            return super().handle_exception(exc)
        return Response({"status": "failing" if isinstance(exc, StoreDamaged) else "degraded"}, status=503)

    @action(detail=False, methods=["get"], authentication_classes=[])
    def live(self, request: Request) -> Response:
        return Response({"status": "ok"})

    @action(detail=False, methods=["get"], authentication_classes=[])
    def ready(self, request: Request) -> Response:
        ready = check_database() != "error"  # of a damaged store most can be read
        return Response({"status": "ok" if ready else "degraded"}, status=200 if ready else 503)
