"""The pages that belong to no app: home, health, and what is shown when something is wrong."""

from django.core.exceptions import DisallowedHost
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.views import defaults

from memory.api.problems import unknown_route

PROBLEM = "application/problem+json"
UNKNOWN_HOST = "This server does not go by the name in the header Host; DAY1_ALLOWED_HOSTS can add it."


def home(request: HttpRequest) -> HttpResponse:
    return render(request, "home.html", {"healthy": database_answers()})


def database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return True
    except DatabaseError:
        return False


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses before any route: most often a name that this server does not go by."""
    if request.path.startswith("/api/"):
        named = isinstance(exception, DisallowedHost)
        detail = UNKNOWN_HOST if named else "The request is not one that this server takes."
        return problem(400, "invalid", "Bad Request", detail)
    return defaults.bad_request(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith("/api/"):
        return unknown_route(request)
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without the request, since anything may be broken by now."""
    if request.path.startswith("/api/"):
        return problem(
            500, "error", "Internal Server Error", "Something went wrong; the server's log has more."
        )
    return HttpResponse(render_to_string("500.html"), status=500)


def problem(status: int, code: str, title: str, detail: str) -> JsonResponse:
    content = {"type": f"/errors/{code}", "title": title, "status": status, "code": code, "detail": detail}
    return JsonResponse(content, status=status, content_type=PROBLEM)
