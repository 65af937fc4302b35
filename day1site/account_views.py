"""A person's own pages: where to begin, login, password, how the pages look."""

from typing import Any

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory.engines.members import memberships_of
from memory.views.base import LAST, came_from
from memory.views.toasts import tell

THEME = "day1_theme"
THEMES = ("light", "dark")
YEAR = 365 * 24 * 3600


@login_required
def front(request: HttpRequest) -> HttpResponse:
    """To the project that was open last, or to the only one; else the choice of them."""
    slugs = [member.project.slug for member in memberships_of(request.user)]
    last = request.session.get(LAST)
    if last in slugs or len(slugs) == 1:
        return redirect("home", last if last in slugs else slugs[0])
    return projects(request)


@login_required
def projects(request: HttpRequest) -> HttpResponse:
    """The projects that the person belongs to; whom to ask where there is none."""
    return render(request, "account/projects.html", {"memberships": memberships_of(request.user)})


class Login(auth.LoginView):
    template_name = "account/login.html"
    redirect_authenticated_user = True


class Logout(auth.LogoutView):
    next_page = "login"


class Password(auth.PasswordChangeView):
    """Other sessions of the person end with the old password; this one stays."""

    template_name = "account/password.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: Any) -> HttpResponse:
        tell(self.request, _("The password was changed. Other browsers have to log in again."))
        return super().form_valid(form)


@login_required
def account(request: HttpRequest) -> HttpResponse:
    return render(request, "account/account.html", {"memberships": memberships_of(request.user)})


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Light, dark, or as the system has it; remembered in this browser."""
    response = HttpResponseRedirect(came_from(request))
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie(THEME, chosen, max_age=YEAR, samesite="Lax", httponly=True)
    else:
        response.delete_cookie(THEME, samesite="Lax")
    return response


def look(request: HttpRequest) -> dict[str, Any]:
    """For every template: the theme that was chosen; "" for the system's."""
    chosen = request.COOKIES.get(THEME, "")
    return {"theme": chosen if chosen in THEMES else ""}
