"""The buttons of Home that play a sample session, and take it away again."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from conversations.capture.sample import SampleEngine
from memory.exceptions import Conflict
from memory.views.frame.base import ProjectPage
from memory.views.frame.flash import flash_success, flash_warning
from memory.views.text.error_text import error_sentence


class Sample(ProjectPage):
    """Play a sample session on the branch of the page, or, with ``do=remove``, take it away."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        self.reader.require_now()
        try:
            text = self.remove() if request.POST.get("do") == "remove" else self.play()
            flash_success(request, text)
        except Conflict as error:
            flash_warning(request, error_sentence(error))
        return redirect(self.reader.url("home"))

    def play(self) -> str:
        SampleEngine().play(actor=self.reader.actor, branch_name=self.reader.branch.name)
        return _("A sample was played: what it taught and what its sessions were told is below.")

    def remove(self) -> str:
        count = SampleEngine().remove(actor=self.reader.actor, branch_name=self.reader.branch.name)
        text = ngettext(
            "%(n)s fact of the sample is taken away.", "%(n)s facts of the sample are taken away.", count
        )
        return text % {"n": count}
