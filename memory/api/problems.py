"""Every error as application/problem+json (RFC 9457), with a stable code."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions as drf
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api.wire import Renderer
from memory.db.errors import CommitLost, DatabaseAway
from memory.exceptions import Day1Error

logger = logging.getLogger(__name__)

PROBLEM = "application/problem+json"
LONGEST_DETAIL = 1000
TITLES = {413: "Content Too Large"}  # as RFC 9110 has it; Python 3.11 has the older name

OTHERS: dict[type[Exception], tuple[int, str, str]] = {
    Http404: (404, "not_found", "There is no such address: GET /api/v1/ tells which there are."),
    PermissionDenied: (403, "forbidden", "This is not allowed."),
}
AWAY = (503, "unavailable", "The database cannot be reached; try again.")
LOST = (
    503,
    "outcome_unknown",
    "The connection to the database was lost while this was stored, which may have happened or not: send it"
    " again with the same Idempotency-Key.",
)
BUSY = (503, "unavailable", "The database did not answer in time; try again.")
DRF_ERRORS: dict[type[drf.APIException], tuple[str, str]] = {
    drf.MethodNotAllowed: ("method_not_allowed", "This address does not know the method {method}."),
    drf.UnsupportedMediaType: (
        "unsupported_media_type",
        "The body must be JSON: send it with Content-Type: application/json.",
    ),
}
BROKEN = (500, "error", "Something went wrong; the server's log has more.")


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """Every error as a problem, for the framework."""
    if isinstance(error, drf.APIException):
        return _of_framework(error, context["request"])
    return problem_of(error, context["request"].method, context["request"].path)


def problem_of(error: Exception, method: str | None, path: str) -> Response:
    """An error as a problem. What nobody expected is logged, and told without details."""
    if isinstance(error, Day1Error):
        return problem(error.status, error.code, error.text, error.data)
    for kind, (status, code, text) in OTHERS.items():
        if isinstance(error, kind):
            return problem(status, code, text)
    if isinstance(error, DatabaseAway | CommitLost):
        logger.warning("%s %s: %r", method, path, error)
        return problem(*(LOST if isinstance(error, CommitLost) else AWAY))
    if isinstance(error, OperationalError) and "lock" in str(error).lower():
        logger.warning("%s %s: %s", method, path, error)
        return problem(*BUSY)
    logger.error("%s %s failed", method, path, exc_info=error)
    return problem(*BROKEN)


def _of_framework(error: drf.APIException, request: Request) -> Response:
    for kind, (code, text) in DRF_ERRORS.items():
        if isinstance(error, kind):
            return problem(error.status_code, code, text.format(method=request.method))
    return problem(error.status_code, "invalid", str(error.detail))


def problem(status: int, code: str, text: str, data: dict[str, Any] | None = None) -> Response:
    known = dict(data or {})
    content: dict[str, Any] = {
        "type": f"/errors/{code}",
        "title": TITLES.get(status) or HTTPStatus(status).phrase,
        "status": status,
        "detail": text[:LONGEST_DETAIL],
        "code": code,
    }
    if field := known.pop("field", ""):
        content["field"] = str(field)[:200]
    if known:
        content["data"] = {name: _plain(value) for name, value in known.items()}
    return Response(content, status=status, headers=_headers(status, known), content_type=PROBLEM)


def _headers(status: int, data: dict[str, Any]) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="day1", error="invalid_token"'}
    if status in (429, 503):
        return {"Retry-After": str(data.get("retry_after", 1))}
    return {}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value if isinstance(value, bool | int | float | None) else str(value)[:200]


@csrf_exempt
def unknown_route(request: HttpRequest) -> HttpResponse:
    """Any address below /api/ that no route knows."""
    return rendered(*OTHERS[Http404])


def rendered(status: int, code: str, text: str) -> HttpResponse:
    """A problem for what no view of the framework answers."""
    body = Renderer().render(problem(status, code, text).data)
    return HttpResponse(body, status=status, content_type=PROBLEM)
