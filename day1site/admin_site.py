"""The admin site: unfold's frame, the desk's pages, one login for the whole server."""

from typing import Any

from csp.decorators import csp_update
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import URLPattern
from unfold.sites import UnfoldAdminSite

from conversations.admin import urls as conversations
from memory.actors import ROLE_SCOPES
from memory.admin import urls
from memory.admin.sections import last_member
from memory.engines.members import memberships_of

# What unfold's scripts need: they evaluate expressions in attributes, and set styles. Nothing from elsewhere.
POLICY: dict[str, Any] = {
    "script-src": ["'self'", "'unsafe-eval'"],
    "style-src": ["'self'", "'unsafe-inline'"],
}


class Desk(UnfoldAdminSite):
    site_header = site_title = "Day1"
    login_form = AdminAuthenticationForm  # never shown: the login is that of the pages

    def extra_urls(self) -> list[URLPattern]:
        return [*urls.urlpatterns, *conversations.urlpatterns]

    def has_permission(self, request: HttpRequest) -> bool:
        """Staff, and whoever curates or maintains a project; each page asks for more."""
        user = request.user
        if not user.is_active or not user.is_authenticated:
            return False
        return user.is_staff or any(ROLE_SCOPES[m.role] != "read" for m in memberships_of(user))

    def admin_view(self, view: Any, cacheable: bool = False) -> Any:
        inner = csp_update(POLICY)(super().admin_view(view, cacheable))

        def seen(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if request.user.is_authenticated and not self.has_permission(request):
                raise PermissionDenied
            return inner(request, *args, **kwargs)  # type: ignore[return-value]

        return seen

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """To the login of the pages, and from there back."""
        if request.user.is_authenticated:
            if not self.has_permission(request):
                raise PermissionDenied
            return redirect("admin:index")
        return redirect_to_login(request.GET.get("next", "") or "/admin/")

    def logout(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return redirect("account")

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """There is one page for it, and it is not the desk's."""
        return redirect("password")

    def password_change_done(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return redirect("account")

    def app_index(self, request: HttpRequest, app_label: str, extra_context: Any = None) -> Any:
        """The sidebar says what there is: no page of an app's models beside it."""
        return redirect("admin:index")

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        """To the facts of the project that was open last; a page that says why where there is none."""
        if member := last_member(request):
            return HttpResponseRedirect(f"p/{member.project.slug}/facts")
        context = {**self.each_context(request), "title": "Day1", "app_list": self.get_app_list(request)}
        return render(request, "admin/day1/nothing.html", context)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        """The theme is the one that the person chose for all pages."""
        context: dict[str, Any] = super().each_context(request)
        del context["theme"]
        return context
