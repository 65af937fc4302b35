"""Addresses without a page of their own: to another place, and back from what was done."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import Resolver404, reverse
from django.utils.translation import gettext as _

from memory.admin.base import DeskPage
from memory.engines.branches import MAIN
from memory.engines.reverts import RevertEngine
from memory.exceptions import Day1Error
from memory.views.base import came_from
from memory.views.reader import moved
from memory.views.sentences import sentence
from memory.views.toasts import tell, warn


class Go(DeskPage):
    """To the page that was open, on ?branch= at ?at=: the forms of the place picker, without a script."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        home = reverse("admin:facts", args=[self.reader.project.slug])
        page = request.GET.get("page", "")
        place = {"branch": request.GET.get("branch", "") or MAIN, "at": request.GET.get("at", "")}
        try:
            return redirect(moved(page if page.startswith("/admin/p/") else home, **place))
        except Resolver404:
            return redirect(moved(home, **place))


class Undo(DeskPage):
    """A POST undoes a commit and goes back to the page that was open."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, commit_id: UUID, **kwargs: Any) -> HttpResponse:
        try:
            commit = RevertEngine().revert_commit(commit_id=commit_id, actor=self.reader.actor)
            again = self.reader.url("admin:undo", commit.pk)
            tell(request, _("Undone."), undo=again)
        except Day1Error as error:
            if error.status in (403, 404):
                raise
            warn(request, sentence(error))
        return HttpResponseRedirect(came_from(request, self.reader.url("admin:facts")))
