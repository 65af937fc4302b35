"""Branches: what there are, what is different on one, from when and by whom."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from memory.engines.branch_diff import CHANGES
from memory.engines.branches import MAIN, BranchManager
from memory.engines.evidence import EvidenceEngine
from memory.exceptions import Day1Error, Invalid
from memory.views.base import ProjectPage
from memory.views.reader import read_point, with_query
from memory.views.toasts import tell

ENGINE = BranchManager()
TABS = ("diff", "log", "stats")


class Branches(ProjectPage):
    """The list, and the form for a new one; what was typed is kept when it is refused."""

    template_name = "branches.html"
    section = "branches"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        archived = self.request.GET.get("archived") == "1"
        page = ENGINE.list_branches(actor=self.reader.actor, archived=archived, **self.paging())
        typed = {"parent": self.reader.branch.name, "at": self.reader.at_text, **kwargs.pop("typed", {})}
        return super().get_context_data(
            page=page, archived=archived, may_create=self.reader.can["write"], typed=typed, **kwargs
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        typed = {name: request.POST.get(name, "").strip() for name in ("name", "parent", "at", "purpose")}
        try:
            branch = ENGINE.create_branch(
                name=typed["name"], parent=typed["parent"] or MAIN, at=read_point(typed["at"]),
                purpose=typed["purpose"], actor=self.reader.actor,
            )  # fmt: skip
        except Day1Error as error:
            context = self.get_context_data(typed=typed, error=error)
            return self.render_to_response(context, status=error.status)
        tell(request, _("The branch %(name)s was made.") % {"name": branch.name})
        return redirect("branch", self.reader.project.slug, branch.name)


class BranchPage(ProjectPage):
    """One branch: its differences from where it began, its commits, what it holds."""

    template_name = "branch.html"
    section = "branches"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        branch = self.reader.branch
        asked = self.request.GET.get("tab", "")
        tab = asked if asked in TABS else ("log" if branch.name == MAIN else "diff")
        context = super().get_context_data(branch=branch, tab=tab, tabs=TABS, **kwargs)
        return {
            **context,
            "may_archive": self._may_archive(),
            "may_restore": self.reader.can["curate"],
            **getattr(self, f"_{tab}")(),
        }

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """?do=archive or ?do=restore: each is the way back from the other."""
        name, actor = self.reader.branch.name, self.reader.actor
        here = request.path
        if request.GET.get("do") == "archive":
            ENGINE.archive_branch(name=name, actor=actor)
            undo = with_query(here, {"do": "restore"}) if actor.can("curate") else ""
            tell(request, _("%(name)s is archived.") % {"name": name}, undo=undo)
        elif request.GET.get("do") == "restore":
            ENGINE.restore_branch(name=name, actor=actor)
            tell(request, _("%(name)s is in use again.") % {"name": name})
        else:
            raise Invalid(_("A branch can be archived or restored here."))
        return redirect(here)

    # ---- tabs ----------------------------------------------------------------------------------

    def _diff(self) -> dict[str, Any]:
        get = self.request.GET
        kind = "link" if get.get("type") == "link" else "fact"
        change = [one for one in get.getlist("change") if one in CHANGES]
        against, point = get.get("against", ""), get.get("against_at", "")
        diff = ENGINE.diff(
            name=self.reader.branch.name, actor=self.reader.actor, at=self.reader.at, against=against,
            against_at=read_point(point), kind=kind, change=change, **self.paging(),
        )  # fmt: skip
        found = {"diff": diff, "kind": kind, "change": change, "changes": CHANGES, "against": against}
        if kind == "link":
            links = [one.after or one.before for one in diff.page.results]
            found["ends"] = EvidenceEngine().ends(links=links, **self.reader.where)
        return found

    def _log(self) -> dict[str, Any]:
        page = ENGINE.log(name=self.reader.branch.name, actor=self.reader.actor, **self.paging())
        return {"page": page}

    def _stats(self) -> dict[str, Any]:
        return {"stats": ENGINE.stats(name=self.reader.branch.name, actor=self.reader.actor)}

    def _may_archive(self) -> bool:
        return self.reader.branch.name != MAIN and self.reader.may["write"]
