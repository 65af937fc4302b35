"""What the pages of the desk share: a reader, the frame, refusals as pages, what was done and its undoing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.decorators import classonlymethod
from django.utils.translation import gettext as _
from django.views.generic.base import TemplateView

from memory.exceptions import Day1Error, Invalid
from memory.models import Commit
from memory.views.base import LAST, PAGE, days, plain
from memory.views.reader import Reader, reader_of
from memory.views.sentences import sentence
from memory.views.toasts import tell, warn

SURFACE = "admin"


class DeskPage(TemplateView):
    """A page of a project at the desk. ``self.reader`` says who reads what; ``scope`` is what it needs.

    A POST names in ``do`` one of ``deeds``, which are methods that answer with the page to go to. A
    Day1Error of a GET becomes a page with its status, that of a POST a message on the page that was open.
    """

    scope = "read"
    section = ""
    title: Any = ""
    deeds: tuple[str, ...] = ()
    reader: Reader

    @classonlymethod
    def at_desk(cls, **how: Any) -> Callable[..., HttpResponse]:
        """The view for a URL: only for staff, and under the admin's content policy."""

        def view(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            return admin.site.admin_view(cls.as_view(**how))(request, *args, **kwargs)

        return view

    def dispatch(self, request: HttpRequest, *args: Any, slug: str = "", **kwargs: Any) -> Any:
        try:
            reader = reader_of(request, slug, kwargs.get("branch_name", ""))
            self.reader = replace(reader, actor=replace(reader.actor, surface=SURFACE))
            self.reader.actor.require(self.scope)
            if request.session.get(LAST) != slug:
                request.session[LAST] = slug
            return super().dispatch(request, *args, **kwargs)
        except Day1Error as error:
            return refused(request, error, getattr(self, "reader", None))

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        deed = request.POST.get("do", "")
        try:
            if deed not in self.deeds:
                raise Invalid("There is no such action.", field="do")
            done: HttpResponse = getattr(self, deed)(request, *args, **kwargs)
            return done
        except Day1Error as error:
            if error.status in (403, 404):
                raise
            warn(request, sentence(error))
            return HttpResponseRedirect(request.get_full_path())

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        frame = frame_of(self.request, self.reader, self.section)
        return super().get_context_data(**{**frame, "title": self.title, **kwargs})

    @property
    def paging(self) -> dict[str, Any]:
        return {"limit": PAGE, "cursor": self.request.GET.get("cursor", "")}

    def done(self, text: str, commit: Commit | None = None, level: int = messages.SUCCESS) -> HttpResponse:
        """Back to the page that was open, with what was done and a way to undo it."""
        undo = self.reader.url("admin:undo", commit.pk) if commit else ""
        tell(self.request, text, undo, level)
        return HttpResponseRedirect(self.request.get_full_path())


def frame_of(request: HttpRequest, reader: Reader | None, section: str = "") -> dict[str, Any]:
    """What the admin's base template wants."""
    setattr(request, "day1_reader", reader)  # noqa: B010  # the side bar keeps the place that is read
    setattr(request, "day1_section", section)  # noqa: B010
    return {**admin.site.each_context(request), "reader": reader, "section": section, "days": days()}


def refused(request: HttpRequest, error: Day1Error, reader: Reader | None) -> HttpResponse:
    """What cannot be shown, with the error's sentence and its status."""
    frame = frame_of(request, reader)
    context = {**frame, "title": _("Not here"), "error": error, "sentence": sentence(error)}
    context["plain"] = plain(request)
    return render(request, "admin/day1/refused.html", context, status=error.status)
