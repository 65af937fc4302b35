"""The page of a login link: one press logs in, so that a program that only looks at the address does not."""

from typing import Any

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_cache_control
from django.views import View

from day1site.join import BACKEND
from memory.engines.access.login_links import LoginLinkEngine
from memory.exceptions import Day1Error
from memory.views.base import render_refusal

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP")  # what proxies say of whom they speak for


class LoginLinkPage(View):
    http_method_names = ["get", "head", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            response = super().dispatch(request, *args, **kwargs)
        except Day1Error as error:
            response = render_refusal(request, error)
        patch_cache_control(response, private=True, no_store=True)
        return response

    def get(self, request: HttpRequest, secret: str) -> HttpResponse:
        user = LoginLinkEngine().find_user(secret=secret, address=read_direct_address(request))
        return render(request, "account/login_link.html", {"name": user.get_username()})

    def post(self, request: HttpRequest, secret: str) -> HttpResponse:
        user = LoginLinkEngine().use_link(secret=secret, address=read_direct_address(request))
        login(request, user, BACKEND)
        return redirect("front")


def read_direct_address(request: HttpRequest) -> str:
    """Return the address that speaks itself; "" where a proxy, trusted or not, speaks for another."""
    if any(request.headers.get(name) for name in FORWARDED):
        return ""
    return str(request.META.get("REMOTE_ADDR", ""))
