"""Middleware: language, time zone, compression, database failures."""

import logging
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.locale import LocaleMiddleware
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin

from day1site.error_views import nothing_stored, render_failure
from day1site.failures import NO_PAGE, database_away
from memory.db.errors import CommitLost, DatabaseAway
from memory.exceptions import StoreDamaged

logger = logging.getLogger(__name__)
COOKIE = "day1_timezone"


class PageLocale(LocaleMiddleware):
    """Locale middleware for pages; the API answers in English whatever the language."""

    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith("/api/"):
            translation.activate("en")
            request.LANGUAGE_CODE = "en"
        else:
            super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path_info.startswith("/api/"):
            response = super().process_response(request, response)
        translation.deactivate()  # the thread's next request has its own language
        return response


class PageTimezone(MiddlewareMixin):
    """Times of pages in the zone that the reader's browser told in a cookie; those of the API are in UTC."""

    def process_request(self, request: HttpRequest) -> None:
        zone = None if request.path_info.startswith("/api/") else find_zone(request.COOKIES.get(COOKIE, ""))
        timezone.activate(zone or UTC)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        timezone.deactivate()  # the thread's next request has its own zone
        return response


class ReaderZone(ZoneInfo):
    """A zone in which a time beyond the years 1 to 9999 is the first or last time there is."""

    def fromutc(self, at: datetime, /) -> datetime:
        try:
            return super().fromutc(at)
        except OverflowError:
            end = datetime.min if at.year == 1 else datetime.max
            return end.replace(tzinfo=self)


@lru_cache(maxsize=128)
def find_zone(name: str) -> ReaderZone | None:
    """Return the time zone of this name; None for one that is not known here."""
    try:
        return ReaderZone(name)
    except (ValueError, LookupError, OSError):  # a path, an unknown name, a folder of zones
        return None


class SmallFiles(GZipMiddleware):
    """Compression of styles, scripts and drawings.

    Pages are not compressed: their length would reveal secrets to an attacker who can insert text (BREACH).
    """

    TEXT = ("text/", "image/svg", "application/json")  # fonts and pictures are compressed already

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        whole = request.method == "GET" and response.status_code == 200
        text = response.get("Content-Type", "").startswith(self.TEXT)
        if whole and text and request.path_info.startswith(settings.STATIC_URL):
            return super().process_response(request, response)
        return response


class FormAddress(MiddlewareMixin):
    """Page for who opens the address of a form; such an address stays in the bar after a refusal."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code != NO_PAGE.status or request.path_info.startswith("/api/"):
            return response
        page = render_failure(NO_PAGE, request)
        page["Allow"] = response["Allow"]
        return page


class DatabaseTrouble(MiddlewareMixin):
    """Error page for a lost or busy database or a full disk. REST has responses of its own."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if page := nothing_stored(error):
            if not isinstance(error, StoreDamaged):  # the mark has told it once
                logger.warning("%s %s: %s", request.method, request.path, error)
            return page
        if not isinstance(error, DatabaseAway | CommitLost):
            return None
        logger.warning("%s %s: %r", request.method, request.path, error)
        return render_failure(database_away(isinstance(error, CommitLost)))
