"""The forms of the bar: another branch or time, without a script."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404, reverse

from memory.engines.branches import MAIN
from memory.views.base import ProjectPage
from memory.views.reader import moved


class Go(ProjectPage):
    """To the page that was open, on ?branch= at ?at=; to home where that page is not one of the project."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        home = reverse("home", args=[self.reader.project.slug])
        return to_place(request, home, below=home)


def to_place(request: HttpRequest, home: str, below: str) -> HttpResponse:
    """To ?page=, where it is one ``below`` that address, else ``home``; on ?branch= at ?at=."""
    page = request.GET.get("page", "")
    place = {"branch": request.GET.get("branch", "") or MAIN, "at": request.GET.get("at", "")}
    try:
        return redirect(moved(page if page.startswith(below) else home, **place))
    except Resolver404:
        return redirect(moved(home, **place))
