"""Addresses without a page of their own: to another place, and back from what was done."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from memory.admin.base import DeskPage
from memory.views.base import came_from
from memory.views.fact_actions import undone
from memory.views.place import to_place


class Go(DeskPage):
    """To the page that was open, on ?branch= at ?at=: the forms of the place picker, without a script."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        home = reverse("admin:facts", args=[self.reader.project.slug])
        return to_place(request, home, below=home.removesuffix("facts"))


class Undo(DeskPage):
    """A POST undoes a commit and goes back to the page that was open."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, commit_id: UUID, **kwargs: Any) -> HttpResponse:
        undone(request, self.reader, commit_id, "admin:undo")
        return HttpResponseRedirect(came_from(request, self.reader.url("admin:facts")))
