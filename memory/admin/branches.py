"""Branches: their list, and of each its log, whose commits can be undone."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memory.admin.base import DeskPage
from memory.engines.branches import BranchManager
from memory.exceptions import Day1Error
from memory.views.sentences import sentence
from memory.views.toasts import tell, warn


class Branches(DeskPage):
    template_name = "admin/day1/branches.html"
    section = "branches"
    title = _("Branches")
    deeds = ("create",)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        archived = bool(self.request.GET.get("archived"))
        page = BranchManager().list_branches(actor=self.reader.actor, archived=archived, **self.paging)
        return super().get_context_data(page=page, archived=archived, typed=self.request.POST)

    def create(self, request: HttpRequest) -> HttpResponse:
        """A new branch of the branch that is read, at the time that is read."""
        try:
            branch = BranchManager().create_branch(
                name=request.POST.get("name", "").strip(), purpose=request.POST.get("purpose", "").strip(),
                parent=self.reader.branch.name, at=self.reader.at, actor=self.reader.actor,
            )  # fmt: skip
        except Day1Error as error:  # what was typed stays in the form
            warn(request, sentence(error))
            return self.render_to_response(self.get_context_data(), status=error.status)
        tell(request, gettext("The branch %(name)s was made.") % {"name": branch.name})
        return redirect(self.reader.url("admin:branch", branch.name, branch="", at=""))


class BranchPage(DeskPage):
    """The branch stands in the path, so the place that is read is this branch."""

    template_name = "admin/day1/branch.html"
    section = "branches"
    deeds = ("archive", "restore")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        branch = self.reader.branch
        log = BranchManager().log(name=branch.name, actor=self.reader.actor, **self.paging)
        return super().get_context_data(
            branch=branch, page=log, title=branch.name, own_id=self.reader.actor.id
        )

    def archive(self, request: HttpRequest, branch_name: str) -> HttpResponse:
        BranchManager().archive_branch(name=branch_name, actor=self.reader.actor)
        return self.done(gettext("%(name)s is archived.") % {"name": branch_name})

    def restore(self, request: HttpRequest, branch_name: str) -> HttpResponse:
        BranchManager().restore_branch(name=branch_name, actor=self.reader.actor)
        return self.done(gettext("%(name)s is in use again.") % {"name": branch_name})
