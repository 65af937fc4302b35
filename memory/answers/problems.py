"""Error responses as application/problem+json (RFC 9457), with a stable code."""

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions as drf
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers.challenges import build_challenge, find_base
from memory.answers.wire import Renderer
from memory.db.errors import CommitLost, DatabaseAway, StorageRefused, is_busy
from memory.exceptions import Day1Error, LimitReached, QuotaExceeded, StoreDamaged
from memory.request_context import get_request_id

logger = logging.getLogger(__name__)

PROBLEM = "application/problem+json"
MAX_DETAIL_LENGTH = 1000
RETRY_SECONDS = 30  # in which the disk may get free space
QUOTA_RETRY_SECONDS = 3600  # what a full project stores is counted anew after so long
TITLES = {413: "Content Too Large"}  # the name in RFC 9110; Python 3.11 has the older one

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


class ProblemShape(s.Serializer):
    """A problem (RFC 9457), with a stable ``code``."""

    type = s.CharField()
    title = s.CharField()
    status = s.IntegerField()
    detail = s.CharField()
    code = s.CharField()
    field = s.CharField(required=False, help_text="Which input is at fault, where one is.")
    # The answer's ``data`` hides the serializer's own, which the REST framework allows.
    data = s.DictField(required=False, help_text="What the sentence is made of, for programs.")  # type: ignore[assignment]
    request_id = s.CharField(required=False, help_text="As in the header X-Request-Id and in the log.")


def handle_error(error: Exception, context: dict[str, Any]) -> Response:
    """Return an error's response as a problem, for the REST framework."""
    request = context["request"]
    if isinstance(error, drf.APIException):
        return _convert_framework_error(error, request)
    response = build_error_response(error, request.method, request.path)
    if response.status_code == 401:
        response["WWW-Authenticate"] = build_challenge(find_base(request), request.path_info)
    return response


def build_error_response(error: Exception, method: str | None, path: str) -> Response:
    """Return an error as a problem. Unexpected errors are logged, and reported without details."""
    if isinstance(error, Day1Error):
        if isinstance(error, StoreDamaged):
            return build_problem(error.status, error.code, error.text, {"retry_after": RETRY_SECONDS})
        if error.status >= 500:
            logger.warning("%s %s: %s", method, path, error)
        problem = build_problem(error.status, error.code, error.text, error.data)
        if isinstance(error, QuotaExceeded | LimitReached) and error.answer:
            problem.data["answer"] = error.answer
        return problem
    for kind, (status, code, text) in OTHERS.items():
        if isinstance(error, kind):
            return build_problem(status, code, text)
    if trouble := describe_trouble(error):
        logger.warning("%s %s: %r", method, path, error)
        state = (
            {"storage": error.state, "retry_after": RETRY_SECONDS}
            if isinstance(error, StorageRefused)
            else {}
        )
        return build_problem(*trouble, state)
    logger.error("%s %s failed", method, path, exc_info=error)
    return build_problem(*BROKEN)


def describe_trouble(error: Exception) -> tuple[int, str, str] | None:
    """Return status, code and text of a failure of the database or its disk, for every surface that answers
    agents; None for any other error.
    """
    if isinstance(error, CommitLost):
        return LOST
    if isinstance(error, DatabaseAway):
        return AWAY
    if isinstance(error, StorageRefused):
        return 503, AWAY[1], error.text
    return BUSY if is_busy(error) else None


def _convert_framework_error(error: drf.APIException, request: Request) -> Response:
    for kind, (code, text) in DRF_ERRORS.items():
        if isinstance(error, kind):
            return build_problem(error.status_code, code, text.format(method=request.method))
    return build_problem(error.status_code, "invalid", str(error.detail))


def build_problem(status: int, code: str, text: str, data: dict[str, Any] | None = None) -> Response:
    known = dict(data or {})
    content: dict[str, Any] = {
        "type": f"/errors/{code}",
        "title": TITLES.get(status) or HTTPStatus(status).phrase,
        "status": status,
        "detail": text[:MAX_DETAIL_LENGTH],
        "code": code,
    }
    if field := known.pop("field", ""):
        content["field"] = str(field)[:200]
    if known:
        content["data"] = {name: plain_value(value) for name, value in known.items()}
    if request_id := get_request_id():
        content["request_id"] = request_id
    return Response(
        content, status=status, headers=problem_headers(status, code, known), content_type=PROBLEM
    )


def problem_headers(status: int, code: str, data: dict[str, Any]) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="day1", error="invalid_token"'}
    if code == QuotaExceeded.code:
        return {"Retry-After": str(QUOTA_RETRY_SECONDS)}
    if status in (429, 503):
        return {"Retry-After": str(data.get("retry_after", 1))}
    return {}


def plain_value(value: Any) -> Any:
    if isinstance(value, list):
        return [plain_value(part) for part in value]
    if isinstance(value, dict):
        return {name: plain_value(part) for name, part in value.items()}
    return value if isinstance(value, bool | int | float | None) else str(value)[:200]


@csrf_exempt
def unknown_route(request: HttpRequest) -> HttpResponse:
    """Return 404 for an address below /api/ without a route."""
    return render_problem(*OTHERS[Http404])


def render_problem(status: int, code: str, text: str) -> HttpResponse:
    """Render a problem outside of the framework's views."""
    body = Renderer().render(build_problem(status, code, text).data)
    return HttpResponse(body, status=status, content_type=PROBLEM)
