"""Base of a project's pages: a view context, and pages for errors."""

import logging
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.contrib import admin
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import get_script_prefix, reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.generic.base import TemplateView
from django_htmx.http import HttpResponseClientRedirect

from memory.engines.access.known_callers import hash_browser, note_caller
from memory.engines.access.second_factors import FactorMissing
from memory.engines.activity.events import EventEngine
from memory.engines.store.health import read_past_damage
from memory.engines.support.pagination import MAX_PAGE_SIZE
from memory.engines.support.validation import secrets_found
from memory.exceptions import Day1Error, StoreDamaged
from memory.models.usage import read_usage_once
from memory.views.frame.frames import WEB, Frame
from memory.views.frame.navigation import LAST
from memory.views.frame.time_strip import build_strip
from memory.views.frame.tour import find_step
from memory.views.frame.view_context import ProjectRenamed, ViewContext, build_view_context, with_query
from memory.views.frame.widgets import parse_number
from memory.views.text.error_text import error_sentence
from memory.views.text.times import format_end, in_zone

logger = logging.getLogger(__name__)

PAGE = 50
HEADINGS = {404: gettext_lazy("Not found"), 403: gettext_lazy("You don’t have access")}
DAMAGED_HEADING = gettext_lazy("The store is damaged")
THAT_FAILED = gettext_lazy("That did not work")
LISTS = ("page", "newest")  # the names of the rows of a page, in its context
PLACE = ("branch", "at", "cursor")  # the words of an address that say where it is read


class ProjectPage(LoginRequiredMixin, TemplateView):
    """A page of a project, in either frame. ``self.reader`` says who reads what.

    ``scope`` is what opening it needs, ``frame`` where it stands.

    A page with its branch in the path names the parameter ``branch_name``; all others have ?branch=. A GET
    renders ``template_name`` with ``reader`` and the values of get_context_data; an htmx request renders
    ``fragment_name`` where the page has one. A Day1Error becomes a page with its status.
    """

    scope = "read"
    frame: Frame = WEB
    title: Any = ""
    section = ""  # the name of the navigation's entry that is lit
    fragment_name = ""
    reads_past = False  # a page of memory, which can be read as it was: it has the strip of the past
    is_live = False  # whether it reads itself again when its branch changes
    spans_branches = False  # whether it does so when any branch changes
    reader: ViewContext

    def dispatch(self, request: HttpRequest, *args: Any, slug: str = "", **kwargs: Any) -> Any:
        if not request.user.is_authenticated:
            return self.handle_no_permission()
        if self.frame.is_admin and not admin.site.has_permission(request):
            raise PermissionDenied
        try:
            with read_usage_once():
                response = self.render_page(request, *args, slug=slug, **kwargs)
        except ProjectRenamed as error:
            response = self.relocate(request, error.slug)
        except FactorMissing:
            response = to_login(request, "second-factor")
        except Day1Error as error:
            response = self.render_rest(error, request, *args, slug=slug, **kwargs) or self.answer_to(error)
        finally:
            secrets_found.take()  # a page tells no count
        patch_cache_control(response, private=True, no_cache=True)
        return response

    def relocate(self, request: HttpRequest, slug: str) -> HttpResponse:
        """Lead from an address before a rename to the page at the present one."""
        match = request.resolver_match
        assert match is not None
        address = reverse(match.view_name, kwargs={**match.kwargs, "slug": slug})
        query = request.META.get("QUERY_STRING", "")
        return redirect(f"{address}?{query}" if query else address)

    def render_page(self, request: HttpRequest, *args: Any, slug: str, **kwargs: Any) -> Any:
        """Render the page where a refusal can still take its place."""
        response = self.dispatch_to_project(request, *args, slug=slug, **kwargs)
        return response.render() if hasattr(response, "render") else response

    def render_rest(self, error: Day1Error, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Render what can be read of a page of a damaged store, with a notice; None where that is none.

        A part of a page and a file have no place for the notice.
        """
        is_part = request.method != "GET" or getattr(request, "htmx", False) or "format" in request.GET
        if is_part or not isinstance(error, StoreDamaged):
            return None
        try:
            with read_past_damage():
                response = self.render_page(request, *args, **kwargs)
        except Exception:  # whatever comes of rows that are missing: the damage is the reason
            return None
        return None if is_empty_list(response) else response

    def dispatch_to_project(self, request: HttpRequest, *args: Any, slug: str, **kwargs: Any) -> Any:
        self.reader = build_view_context(request, slug, kwargs.get("branch_name", ""), self.frame)
        if request.session.get(LAST) != slug:
            request.session[LAST] = slug
        note_caller(hash_browser(request.session.session_key or "", slug), self.reader.project.pk)
        self.reader.actor.require_scope(self.scope)
        secrets_found.start(self.reader.actor.project_id)
        return super().dispatch(request, *args, **kwargs)

    def answer_to(self, error: Day1Error) -> HttpResponse:
        """Render the page of a refusal; a failure that has no line in the log gets one.

        That of a damaged store is raised where the page has no frame.
        """
        if isinstance(error, StoreDamaged):
            if not hasattr(self, "reader"):
                raise error
        elif error.status >= 500:
            logger.warning("%s %s: %s", self.request.method, self.request.path, error)
        return render_refusal(self.request, error, getattr(self, "reader", None), self.frame)

    def handle_no_permission(self) -> HttpResponse:  # type: ignore[override]  # htmx follows no 302
        """Redirect to the login, and from there back to this page."""
        return to_login(self.request)

    def get_template_names(self) -> list[str]:
        fragment = self.fragment_name and getattr(self.request, "htmx", False)
        return [self.fragment_name] if fragment else super().get_template_names()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shell = {**base_context(self.reader, self.section), "title": self.title}
        if self.reads_past and not getattr(self.request, "htmx", False):
            shell["strip"] = build_strip(self.reader)
        shell["tour"] = find_step(self.request, self.reader)
        if self.is_live and self.is_read_whole:
            shell["live"] = build_stream_url(self.reader, self.spans_branches)
        return super().get_context_data(**{**shell, **kwargs})

    @property
    def is_read_whole(self) -> bool:
        """Return whether the page at its address is read; the answer to a form has what was typed into it."""
        part = self.request.GET.get("cursor") or getattr(self.request, "htmx", False)
        return self.request.method == "GET" and not part

    def paging(self, limit: int = PAGE) -> dict[str, Any]:
        """Return ``limit`` and ``cursor`` for an engine's list, as in list_facts(…, **self.paging())."""
        requested = parse_number(self.request.GET.get("limit", ""), digits=3)
        return {
            "limit": min(max(limit if requested is None else requested, 1), MAX_PAGE_SIZE),
            "cursor": self.request.GET.get("cursor", ""),
        }


class MovedPage(ProjectPage):
    """An address that leads on to another page of the project, with its query."""

    to: tuple[str, ...] = ()  # the page's name, and what stands in its path

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        name, *parts = self.to
        address = self.reader.frame.reverse(name, self.reader.project.slug, *parts)
        return redirect(with_query(address, dict(request.GET.lists())))


def is_empty_list(response: Any) -> bool:
    context = getattr(response, "context_data", None) or {}
    lists = [context[name] for name in LISTS if hasattr(context.get(name), "results")]
    return any(not listed.results for listed in lists)


def base_context(reader: ViewContext, section: str = "") -> dict[str, Any]:
    """Return the context of base.html for a page of a project."""
    return {
        "reader": reader,
        "section": section,
        "frame": reader.frame.template,
        "days": list_days(),
        "at_label": in_zone(_("A time")),
    }


def list_days() -> list[tuple[str, date, str]]:
    """Return past days for the time picker: names, days of the reader's zone, points at their ends."""
    today = timezone.localdate()
    names = ((1, _("yesterday")), (7, _("a week ago")), (30, _("a month ago")))
    days = [(name, today - timedelta(days=ago)) for ago, name in names]
    return [(name, day, format_end(day)) for name, day in days]


def render_refusal(
    request: HttpRequest, error: Day1Error, reader: ViewContext | None = None, frame: Frame = WEB
) -> HttpResponse:
    """Render a refusal: the error's sentence with its status."""
    shell = base_context(reader) if reader else {"frame": frame.template}
    name = "parts/refused.html" if getattr(request, "htmx", False) else "refused.html"
    title = _("Not found") if error.status == 404 else f"{error.status} · Day1"
    context = {"error": error, "sentence": error_sentence(error), "plain": plain_address(request)}
    heading = HEADINGS.get(error.status, THAT_FAILED)
    context["heading"] = DAMAGED_HEADING if isinstance(error, StoreDamaged) else heading
    return render(request, name, {**shell, **context, "title": title}, status=error.status)


def plain_address(request: HttpRequest) -> str:
    """Return the address of the same page on main, now, first page; "" if it is already that."""
    if request.method != "GET" or not any(request.GET.get(name) for name in PLACE):
        return ""
    words = {name: values for name, values in request.GET.lists() if name not in PLACE}
    return with_query(request.path, words)


def to_login(request: HttpRequest, page: str = "login") -> HttpResponse:
    """Redirect to the login, or to another page that leads back to this one, or to that with the form or
    script.
    """
    if details := getattr(request, "htmx", None):
        back = redirect_to_login(find_own_path(request, details.current_url or ""), page)
        return HttpResponseClientRedirect(back.url)
    address = request.get_full_path() if request.method == "GET" else safe_referer(request)
    return redirect_to_login(address, page)


def safe_referer(request: HttpRequest, default: str | None = None) -> str:
    """Return the page of this site that the request came from; without one, ``default`` or the first."""
    return find_own_path(request, request.headers.get("Referer", ""), default)


def find_own_path(request: HttpRequest, page: str, default: str | None = None) -> str:
    """Return path and query of an address, where it is one of this site."""
    default = get_script_prefix() if default is None else default
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure()):
        return default
    path = urlsplit(page)._replace(scheme="", netloc="").geturl()
    # A path that begins with two slashes would now name another site.
    return path if url_has_allowed_host_and_scheme(path, None) else default


STREAM = "live/{slug}/changes"  # served beside Django, see day1site/events/page_changes.py


def build_stream_url(reader: ViewContext, spans_branches: bool = False) -> str:
    """Return the address of the stream that tells of changes after what the page shows; "" in the past."""
    if not reader.is_now:
        return ""
    after = EventEngine().read_position(project_id=reader.project.pk)
    branch = {} if spans_branches else {"branch": reader.branch.name}
    query = urlencode({**branch, "after": after})
    return f"{get_script_prefix()}{STREAM.format(slug=reader.project.slug)}?{query}"
