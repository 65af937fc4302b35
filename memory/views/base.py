"""What the pages of a project share: a reader, and refusals that are pages."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.generic.base import TemplateView
from django_htmx.http import HttpResponseClientRedirect

from memory.engines.pages import MOST
from memory.exceptions import Day1Error
from memory.views.forms import number
from memory.views.navigation import sections_for
from memory.views.reader import Reader, reader_of, with_query
from memory.views.sentences import sentence

PAGE = 50
PLACE = ("branch", "at", "cursor")  # the words of an address that say where it is read
LAST = "day1_project"  # in the session: the project that was open last


class ProjectPage(LoginRequiredMixin, TemplateView):
    """A page of a project. ``self.reader`` says who reads what; ``scope`` is what opening it needs.

    A page that has its branch in the path calls it ``branch_name`` there; all others have ?branch=.
    A GET renders ``template_name`` with ``reader`` and what get_context_data adds; an htmx request renders
    ``fragment_name`` where the page has one. A Day1Error on the way becomes a page with its status.
    """

    scope = "read"
    section = ""  # the name of the navigation's entry that is lit
    fragment_name = ""
    reader: Reader

    def dispatch(self, request: HttpRequest, *args: Any, slug: str = "", **kwargs: Any) -> Any:
        if not request.user.is_authenticated:
            return self.handle_no_permission()
        try:
            self.reader = reader_of(request, slug, kwargs.get("branch_name", ""))
            if request.session.get(LAST) != slug:
                request.session[LAST] = slug
            self.reader.actor.require(self.scope)
            response = super().dispatch(request, *args, **kwargs)
        except Day1Error as error:
            response = self.answer_to(error)
        patch_cache_control(response, private=True, no_cache=True)
        return response

    def answer_to(self, error: Day1Error) -> HttpResponse:
        """The page for what cannot be shown or done."""
        return refused(self.request, error, getattr(self, "reader", None))

    def handle_no_permission(self) -> HttpResponse:  # type: ignore[override]
        """To the login, and from there back to the page that was open."""
        return to_login(self.request)

    def get_template_names(self) -> list[str]:
        fragment = self.fragment_name and getattr(self.request, "htmx", False)
        return [self.fragment_name] if fragment else super().get_template_names()

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shell = shell_of(self.reader, self.section)
        return super().get_context_data(**shell, **kwargs)

    def paging(self, limit: int = PAGE) -> dict[str, Any]:
        """``limit`` and ``cursor`` for an engine's list: FactEngine().list_facts(…, **self.paging())."""
        asked = number(self.request.GET.get("limit", ""), digits=3)
        return {
            "limit": min(max(limit if asked is None else asked, 1), MOST),
            "cursor": self.request.GET.get("cursor", ""),
        }


def shell_of(reader: Reader, section: str = "") -> dict[str, Any]:
    """What base.html wants of a page of a project."""
    return {
        "reader": reader,
        "section": section,
        "sections": sections_for(reader.actor),
        "days": days(),
    }


def days() -> list[tuple[str, str]]:
    """Past days that the time picker offers, with their names."""
    today = timezone.now().date()
    names = ((1, _("yesterday")), (7, _("a week ago")), (30, _("a month ago")))
    return [(name, (today - timedelta(days=ago)).isoformat()) for ago, name in names]


def refused(request: HttpRequest, error: Day1Error, reader: Reader | None = None) -> HttpResponse:
    """What cannot be shown or done, with the error's sentence and its status."""
    shell = shell_of(reader) if reader else {}
    name = "parts/refused.html" if getattr(request, "htmx", False) else "refused.html"
    context = {**shell, "error": error, "sentence": sentence(error), "plain": plain(request)}
    return render(request, name, context, status=error.status)


def plain(request: HttpRequest) -> str:
    """The same page on main, now and from its beginning; "" where that is what was asked for."""
    if request.method != "GET" or not any(request.GET.get(name) for name in PLACE):
        return ""
    words = {name: values for name, values in request.GET.lists() if name not in PLACE}
    return with_query(request.path, words)


def to_login(request: HttpRequest) -> HttpResponse:
    """The login page, which leads back: to this page, or to the one whose form or script asked."""
    if getattr(request, "htmx", False):
        page = urlsplit(request.htmx.current_url or "/")  # type: ignore[attr-defined]
        back = redirect_to_login(page._replace(scheme="", netloc="").geturl())
        return HttpResponseClientRedirect(back.url)  # type: ignore[attr-defined]
    return redirect_to_login(request.get_full_path() if request.method == "GET" else came_from(request))


def came_from(request: HttpRequest, default: str = "/") -> str:
    """The page of this site from which the request came."""
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, {request.get_host()}, request.is_secure()):
        return default
    path = urlsplit(page)._replace(scheme="", netloc="").geturl()
    # A path that begins with two slashes would name another site by now.
    return path if url_has_allowed_host_and_scheme(path, None) else default
