"""The admin site: unfold's forms for the whole server, the pages of projects, one login."""

from typing import Any

from csp.decorators import csp_update
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLResolver, include, path, reverse
from unfold.sites import UnfoldAdminSite

from memory.actors import ROLE_SCOPES
from memory.engines.access.members import list_memberships

# Needed by unfold's scripts, which evaluate expressions in attributes and set styles. Own origin only.
POLICY: dict[str, Any] = {
    "script-src": ["'self'", "'unsafe-eval'"],
    "style-src": ["'self'", "'unsafe-inline'"],
}


class Day1AdminSite(UnfoldAdminSite):
    site_header = site_title = "Day1"
    login_form = AdminAuthenticationForm  # never shown: the login page is the site's

    def extra_urls(self) -> list[URLResolver]:
        """Return the routes of a project's pages: those of the web, below /admin."""
        # Every process imports this module; the pages are half of what a start costs.
        from analytics import urls as analytics
        from conversations import urls as conversations
        from curation import urls as curation
        from memory import urls as memory
        from memory.views.frame.frames import ADMIN, build_patterns

        pages = [*memory.PAGES, *conversations.PAGES, *curation.PAGES, *analytics.PAGES]
        return [path("p/<slug:slug>/", include(build_patterns(pages, ADMIN)))]

    def has_permission(self, request: HttpRequest) -> bool:
        """Allow staff, and curators and maintainers of a project; single pages require more."""
        user = request.user
        if not user.is_active or not user.is_authenticated:
            return False
        return user.is_staff or any(ROLE_SCOPES[m.role] != "read" for m in list_memberships(user))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = csp_update(POLICY)(super().admin_view(view, cacheable))

        def seen(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied
            return inner(request, *args, **kwargs)

        return seen

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirect to the site's login, and from there back."""
        if request.user.is_authenticated:
            if not self.has_permission(request):
                raise PermissionDenied
            return redirect("admin:index")
        return redirect_to_login(request.GET.get("next", "") or reverse("admin:index"))

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return redirect("account")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the site's password page, the only one."""
        return redirect("password")

    def password_change_done(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return redirect("account")

    def app_index(self, request: HttpRequest, app_label: str, extra_context: Any = None) -> Any:
        """Redirect to the start page: the sidebar replaces Django's page of an app's models."""
        return redirect("admin:index")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """Redirect to the facts of the last open project; without a project, explain why."""
        from memory.views.frame.navigation import last_member

        if member := last_member(request):
            return HttpResponseRedirect(f"p/{member.project.slug}/facts")
        context = {**self.each_context(request), "title": "Day1", "app_list": self.get_app_list(request)}
        return render(request, "admin/nothing.html", context)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """Return the context with the theme that the user chose for all pages."""
        context: dict[str, Any] = super().each_context(request)
        del context["theme"]
        return context
