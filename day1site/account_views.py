"""Account pages: front page, project list, login, password, theme."""

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST

from day1site.join import BACKEND, SecretAddress
from day1site.login import LoginForm, PasswordForm, ThrottledForms
from day1site.second_factor import finish_login
from memory.engines.access.external_logins import list_providers
from memory.engines.access.login_links import LoginLinkEngine
from memory.engines.access.logins import LoginTrailEngine
from memory.engines.access.members import list_memberships
from memory.engines.access.second_factors import FACTOR
from memory.engines.store.health import is_damaged, is_reading_past_damage
from memory.exceptions import Conflict, Day1Error
from memory.views.frame.base import LAST, safe_referer
from memory.views.frame.flash import flash_success
from memory.views.store.store_state import DAMAGED, PARTLY
from memory.views.text.error_text import error_sentence

THEME = "day1_theme"
# The icon and the name of each theme.
THEMES = {"light": ("sun", gettext_lazy("Light")), "dark": ("moon", gettext_lazy("Dark"))}
SYSTEM = ("", "system", gettext_lazy("As the system"))
NO_PASSWORDS = gettext_noop("Nobody logs in with a password here: use the login provider.")
YEAR = 365 * 24 * 3600
CONNECT_SALT = "day1.oidc.connect"  # of what shows that a person pressed Connect, not another site


@login_required
def front(request: HttpRequest) -> HttpResponse:
    """Redirect to the project that was open last, or to the only one; else show the list of projects."""
    slugs = [member.project.slug for member in list_memberships(request.user)]
    last = request.session.get(LAST)
    if last in slugs or len(slugs) == 1:
        return redirect("home", last if last in slugs else slugs[0])
    return projects(request)


@login_required
def projects(request: HttpRequest) -> HttpResponse:
    """Show the user's projects; without one, whom to contact."""
    return render(request, "account/projects.html", {"memberships": list_memberships(request.user)})


class Login(ThrottledForms, auth.LoginView):
    """Login with a password, or by the provider of the settings."""

    form_class = LoginForm
    template_name = "account/login.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.PASSWORD_LOGIN:
            return render_login(request, Conflict(NO_PASSWORDS))
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        return finish_login(self.request, form.get_user(), self.get_success_url())


def render_login(request: HttpRequest, error: Day1Error) -> HttpResponse:
    """Render the login page with the reason why somebody is not logged in."""
    context = {"problem": error_sentence(error), "form": LoginForm(request)}
    return render(request, "account/login.html", context, status=error.status)


class Logout(auth.LogoutView):
    next_page = "login"


class Password(ThrottledForms, auth.PasswordChangeView):
    """Password change; it ends the user's other sessions and keeps this one."""

    form_class = PasswordForm

    template_name = "account/password.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: Any) -> HttpResponse:
        flash_success(self.request, _("The password was changed. Other browsers have to log in again."))
        answer = super().form_valid(form)
        LoginTrailEngine().record_event(user=self.request.user, action="password.change")
        return answer


@login_required
def account(request: HttpRequest) -> HttpResponse:
    context = {
        "memberships": list_memberships(request.user),
        "connected": list_providers(request.user),
        "connect": signing.dumps(request.user.pk, salt=CONNECT_SALT),
    }
    return render(request, "account/account.html", context)


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    """Set the theme, light, dark or that of the system, in a cookie of this browser."""
    response = HttpResponseRedirect(safe_referer(request))
    chosen = request.POST.get("theme", "")
    if chosen in THEMES:
        response.set_cookie(THEME, chosen, max_age=YEAR, samesite="Lax", httponly=True)
    else:
        response.delete_cookie(THEME, samesite="Lax")
    return response


def login_context(request: HttpRequest) -> dict[str, Any]:
    """Return for every template the themes, the chosen one ("" is the system's), how people log in, and
    whether the store is damaged.
    """
    chosen = request.COOKIES.get(THEME, "")
    themes = [SYSTEM, *((name, *theme) for name, theme in THEMES.items())]
    damaged = PARTLY if is_reading_past_damage() else DAMAGED if is_damaged() else ""
    oidc, passwords = settings.OIDC, settings.PASSWORD_LOGIN
    site = {"provider": oidc and oidc.name, "password_login": passwords}
    return {**site, "theme": chosen if chosen in THEMES else "", "themes": themes, "damaged": damaged}


FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")  # what proxies say of whom they speak for


class LoginLinkPage(SecretAddress):
    """One press logs in, so that a program that only looks at the address does not."""

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest, secret: str) -> HttpResponse:
        user = LoginLinkEngine().find_user(secret=secret, address=read_direct_address(request))
        return render(request, "account/login_link.html", {"name": user.get_username()})

    def post(self, request: HttpRequest, secret: str) -> HttpResponse:
        user = LoginLinkEngine().use_link(secret=secret, address=read_direct_address(request))
        login(request, user, BACKEND)
        request.session[FACTOR] = True  # who reads the store's files may do everything
        return redirect("front")


def read_direct_address(request: HttpRequest) -> str:
    """Return the address that speaks itself; "" where a proxy, trusted or not, speaks for another."""
    if any(request.headers.get(name) for name in FORWARDED):
        return ""
    return str(request.META.get("REMOTE_ADDR", ""))
