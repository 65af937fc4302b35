"""Error pages and problem responses, for every path."""

import sys

from django.contrib import messages
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from day1site.failures import (
    BAD_REQUEST,
    BUSY,
    DAMAGED,
    FORBIDDEN,
    FORM_OUTDATED,
    NOT_FOUND,
    Failure,
    storage_failure,
)
from day1site.failures import BROKEN as BROKEN_PAGE
from memory.answers.problems import BROKEN, RETRY_SECONDS, render_problem, unknown_route
from memory.db.errors import StorageRefused, is_busy
from memory.exceptions import StoreDamaged
from memory.views.frame.base import safe_referer
from memory.views.frame.flash import AGAIN

UNKNOWN_HOST = "This server does not go by the name in the header Host; DAY1_ALLOWED_HOSTS can add it."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that Django refuses before routing: mostly an unknown host name."""
    if request.path_info.startswith("/api/"):
        named = isinstance(exception, DisallowedHost)
        detail = UNKNOWN_HOST if named else "The request is not one that this server takes."
        return render_problem(400, "invalid", detail)
    return render_failure(BAD_REQUEST)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        return unknown_route(request)
    return render_failure(NOT_FOUND, request)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render_failure(FORBIDDEN, request)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Redirect an outdated form of this site, as after another login, to its page, where a script restores
    the input.

    Any other form is refused, and so is the login's, which would redirect for ever without cookies.
    """
    page = safe_referer(request, "")
    if not page or page.startswith(reverse("login")):
        return render_failure(FORM_OUTDATED, request)
    text = _("The form was out of date, so nothing was sent: look at it and send it again.")
    messages.warning(request, text, extra_tags=AGAIN)
    htmx = getattr(request, "htmx", False)
    return HttpResponseClientRedirect(page) if htmx else HttpResponseRedirect(page)


def server_error(request: HttpRequest) -> HttpResponse:
    """Render the error without the request, which may be the cause."""
    if request.path_info.startswith("/api/"):
        return render_problem(*BROKEN)
    error = sys.exc_info()[1]  # the session may have been what failed to store
    return nothing_stored(error) or render_failure(BROKEN_PAGE)


def nothing_stored(error: BaseException | None) -> HttpResponse | None:
    """Return a page that explains why nothing can be stored now, where it is the disk, a damaged store or
    other writers.
    """
    if isinstance(error, StoreDamaged):
        return render_failure(DAMAGED)
    if isinstance(error, StorageRefused):
        response = render_failure(storage_failure(error.state == "full"))
        response["Retry-After"] = str(RETRY_SECONDS)
        return response
    return render_failure(BUSY) if is_busy(error) else None


def render_failure(failure: Failure, request: HttpRequest | None = None) -> HttpResponse:
    """Return the page of a failure; without a request where that may be the cause."""
    return HttpResponse(
        render_to_string("failure.html", {"failure": failure}, request), status=failure.status
    )
