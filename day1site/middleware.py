"""Middleware of pages, which the API does without: forms, language, time zone, database failures."""

import logging
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.middleware.locale import LocaleMiddleware
from django.urls import get_script_prefix
from django.utils import timezone, translation
from django.utils.deprecation import MiddlewareMixin
from whitenoise.middleware import WhiteNoiseMiddleware

from day1site.error_views import nothing_stored, render_failure
from day1site.failures import NO_PAGE, database_away
from memory.db.errors import CommitLost, DatabaseAway
from memory.exceptions import StoreDamaged

logger = logging.getLogger(__name__)
# of programs
API = ("/api/", "/.well-known/", "/oauth/token", "/oauth/revoke", "/oauth/register")
COOKIE = "day1_timezone"


class PagesOnly(MiddlewareMixin):
    """Middleware that requests of the API pass by: they have no session and no form, and are answered in
    English and in UTC, whatever the reader's language and zone.
    """

    def __call__(self, request: HttpRequest) -> Any:
        return self.get_response(request) if request.path_info.startswith(API) else super().__call__(request)


class PageSession(PagesOnly, SessionMiddleware):
    pass


class CookiePath(PagesOnly):
    """Cookies of this deployment alone, where a proxy serves others at the same name."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        for cookie in response.cookies.values():
            cookie["path"] = get_script_prefix()
        return response


class PageUser(PagesOnly, AuthenticationMiddleware):
    pass


class PageMessages(PagesOnly, MessageMiddleware):
    pass


class PagePolicy(CSPMiddleware):
    """Content-Security-Policy; that of the API's answers is the same for all, and made once."""

    @cached_property
    def usual(self) -> str:
        return build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path_info.startswith(API):
            return super().process_response(request, response)
        response.headers[HEADER] = self.usual
        return response


class PageLocale(PagesOnly, LocaleMiddleware):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response = super().process_response(request, response)
        translation.deactivate()  # the thread's next request has its own language
        return response


class PageTimezone(PagesOnly):
    """Times of pages in the zone that the reader's browser told in a cookie."""

    def process_request(self, request: HttpRequest) -> None:
        timezone.activate(find_zone(request.COOKIES.get(COOKIE, "")) or UTC)

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


class StaticFiles(WhiteNoiseMiddleware):
    """Static files; the list is read with the first request for one: a start need not wait for it."""

    def __call__(self, request: HttpRequest) -> Any:
        if not request.path_info.startswith(self.static_prefix):
            return self.get_response(request)
        _ = self.listed
        return super().__call__(request)

    @cached_property
    def listed(self) -> None:
        if not self.autorefresh:
            self.add_files_from_finders()


class SmallFiles(PagesOnly, GZipMiddleware):
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


class FormAddress(PagesOnly):
    """Page for who opens the address of a form; such an address stays in the bar after a refusal."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if response.status_code != NO_PAGE.status:
            return response
        page = render_failure(NO_PAGE, request)
        page["Allow"] = response["Allow"]
        return page


class DatabaseTrouble(PagesOnly):
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
