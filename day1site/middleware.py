"""What happens around every request that no library does."""

import logging
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import translation
from django.utils.deprecation import MiddlewareMixin

from day1site.views import failure
from memory.db.errors import CommitLost, DatabaseAway

logger = logging.getLogger(__name__)


class PageLocale(LocaleMiddleware):
    """The reader's language for pages; programs get the same answer whoever runs them."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith("/api/"):
            translation.activate("en")
            request.LANGUAGE_CODE = "en"
        else:
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path_info.startswith("/api/"):
            response = super().process_response(request, response)
        translation.deactivate()  # what the thread does next has a reader of its own, or none
        return response


class SmallFiles(GZipMiddleware):
    """Styles, scripts and drawings go out compressed to who takes that.

    Pages do not: their length would tell whoever sends words into one about the secrets beside them.
    """

    TEXT = ("text/", "image/svg", "application/json")  # fonts and pictures are compressed already

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        whole = request.method == "GET" and response.status_code == 200
        text = response.get("Content-Type", "").startswith(self.TEXT)
        if whole and text and request.path_info.startswith(settings.STATIC_URL):
            return super().process_response(request, response)
        return response


class DatabaseTrouble(MiddlewareMixin):
    """A page that says so when the database went away. REST has answers of its own."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, DatabaseAway | CommitLost):
            return None
        logger.warning("%s %s: %r", request.method, request.path, error)
        stored = "unknown" if isinstance(error, CommitLost) else "no"
        return failure("503.html", 503, {"stored": stored})
