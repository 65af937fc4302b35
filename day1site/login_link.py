"""The page of a login link: one press logs in, so that a program that only looks at the address does not."""

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from day1site.join import BACKEND, SecretAddress
from memory.engines.access.login_links import LoginLinkEngine
from memory.engines.access.second_factors import FACTOR

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")  # what proxies say of whom they speak for


class LoginLinkPage(SecretAddress):
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
