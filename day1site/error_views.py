"""What is shown when something is wrong, for whatever path."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from memory.api.problems import BROKEN, rendered, unknown_route
from memory.views.base import came_from
from memory.views.toasts import AGAIN

UNKNOWN_HOST = "This server does not go by the name in the header Host; DAY1_ALLOWED_HOSTS can add it."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses before any route: most often a name that this server does not go by."""
    if request.path.startswith("/api/"):
        named = isinstance(exception, DisallowedHost)
        detail = UNKNOWN_HOST if named else "The request is not one that this server takes."
        return rendered(400, "invalid", detail)
    return failure("400.html", 400)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path.startswith("/api/"):
        return unknown_route(request)
    return render(request, "404.html", status=404)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", status=403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form of ours that is out of date, as after another login: back to its page, where a script puts back
    what was typed. Any other is refused; and the login's, which would lead back for ever without cookies.
    """
    page = came_from(request, "")
    if not page or page.startswith(reverse("login")):
        return render(request, "403_csrf.html", status=403)
    text = _("The form was out of date, so nothing was sent: look at it and send it again.")
    messages.warning(request, text, extra_tags=AGAIN)
    htmx = getattr(request, "htmx", False)
    return HttpResponseClientRedirect(page) if htmx else HttpResponseRedirect(page)


def server_error(request: HttpRequest) -> HttpResponse:
    """Rendered without the request, since anything may be broken by now."""
    if request.path.startswith("/api/"):
        return rendered(*BROKEN)
    return failure("500.html", 500)


def failure(template: str, status: int, context: dict[str, Any] | None = None) -> HttpResponse:
    """A page that is rendered without the request: it may be what is wrong."""
    return HttpResponse(render_to_string(template, context), status=status)
