"""The forms of the top bar for branch and time, without a script."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import Resolver404

from memory.engines.versions.lookup import MAIN
from memory.views.frame.base import ProjectPage
from memory.views.frame.view_context import relocate


class SwitchLocation(ProjectPage):
    """To the page that was open, on ?branch= at ?at=; else to the first page of the project."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        project = self.reader.project.slug
        first = self.frame.reverse(self.frame.first, project)
        page = request.GET.get("page", "")
        query = {"branch": request.GET.get("branch", "") or MAIN, "at": request.GET.get("at", "")}
        try:
            is_below = page.startswith(self.frame.reverse("home", project))
            return redirect(relocate(page if is_below else first, **query))
        except Resolver404:
            return redirect(relocate(first, **query))
