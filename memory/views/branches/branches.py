"""Branches: their list, and the differences, log and statistics of one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy

from memory.actors import Actor
from memory.engines.branches.branch_states import find_expiry
from memory.engines.branches.commit_titles import load_contents
from memory.engines.branches.diff import CHANGES, KINDS
from memory.engines.branches.manager import BranchManager
from memory.engines.facts.evidence import EvidenceEngine
from memory.engines.merging.request_history import RequestHistoryEngine
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.versions.lookup import MAIN
from memory.models import MergeRequest
from memory.operations.branches import BRANCHES
from memory.views.frame.view_context import read_point
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.list_page import ListPage

branch_manager = BranchManager()
MAX_PENDING = 5  # merge requests above the list
POINT_HELP = gettext_lazy("A commit's number or id, a day or a time (UTC); empty: now")
TABS = {
    "diff": gettext_lazy("Differences"),
    "log": gettext_lazy("Commits"),
    "stats": gettext_lazy("What it holds"),
}


DETAILS = ("purpose", "owner", "ttl_days", "tags")


class Branches(ActionPage, ListPage):
    """The list of branches, and the form for a new one; a refused form keeps its input."""

    template_name = "branches.html"
    section = "branches"
    title = gettext_lazy("Branches")
    operation = BRANCHES["list"]
    needs_now = False  # a branch may begin in the past
    actions = {
        "create": Action(
            BRANCHES["create"],
            gettext_lazy("The branch %(name)s was made."),
            fields=("name", "parent", "at", *DETAILS),
            words={"at": (gettext_lazy("As it was at"), POINT_HELP)},
            opens=("branch", "name"),
            button=gettext_lazy("Make the branch"),
        )
    }
    extra_context = {
        "lead": gettext_lazy(
            "A branch starts with everything in its parent, and is isolated from then on, both ways."
        ),
        "search": gettext_lazy("Filters, such as name:task/ or owner:Mira"),
        "drawing": "branch",
        "none_fits": gettext_lazy("No branch matches."),
        "show_all": gettext_lazy("Show all branches"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        shown = {"requests": list_pending(self.reader.actor), "may_create": self.reader.can["write"]}
        return super().get_context_data(**shown, **kwargs)

    def list_rows(self, filters: Mapping[str, Any]) -> Any:
        """Return a page of branches: main stands first, unless they are filtered or sorted in another way."""
        page = super().list_rows(filters)
        if filters or self.request.GET.get("ordering"):
            return page
        others = [one for one in page.results if one.name != MAIN]
        is_first = not self.paging()["cursor"]  # of the list, or of the file that it gives
        main = [branch_manager.get_branch(name=MAIN, actor=self.reader.actor)] if is_first else []
        return replace(page, results=[*main, *others])

    def find_values(self, name: str) -> dict[str, Any]:
        return {"parent": self.reader.branch.name, "at": self.reader.at_text}


def list_pending(actor: Actor) -> list[MergeRequest]:
    """Return the merge requests that wait to be merged: the newest, the approved ones first."""
    states = (MergeRequest.State.APPROVED, MergeRequest.State.OPEN)
    pages = [MergeRequestEngine().list_requests(actor=actor, state=one, limit=MAX_PENDING) for one in states]
    return [one for page in pages for one in page.results][:MAX_PENDING]


class BranchPage(ActionPage):
    """A page of one branch: its differences from the fork point, its commits, its statistics."""

    template_name = "branch.html"
    section, usual = "branches", ""
    is_live = True
    needs_now = False
    actions = {
        "archive": Action(BRANCHES["destroy"], gettext_lazy("%(name)s is archived."), undone_by="restore"),
        "restore": Action(BRANCHES["restore"], gettext_lazy("%(name)s is in use again.")),
        "enrich": Action(
            BRANCHES["enrich_in_place"],
            gettext_lazy("Saved."),
            fields=DETAILS,
            button=gettext_lazy("Save"),
        ),
    }

    @property
    def places(self) -> dict[str, Any]:
        return {"name": self.reader.branch.name}

    def find_values(self, name: str) -> dict[str, Any]:
        return {detail: getattr(self.reader.branch, detail) for detail in DETAILS}

    def find_undo(self, action: Action, result: Any) -> str:
        return super().find_undo(action, result) if self.reader.can["curate"] else ""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        branch = branch_manager.get_branch(name=self.reader.branch.name, actor=self.reader.actor)
        requested = self.request.GET.get("tab", "")
        tab = requested if requested in TABS else ("log" if branch.name == MAIN else "diff")
        context = super().get_context_data(title=branch.name, branch=branch, tab=tab, tabs=TABS, **kwargs)
        return {
            **context,
            "tab_template": f"branch/{tab}.html",
            "authors": branch_manager.list_authors(name=branch.name, actor=self.reader.actor),
            "expires": find_expiry(branch),
            "may_enrich": self.reader.allowed_now["write"],
            "may_archive": self._may_archive(),
            "may_restore": self.reader.can["curate"],
            **self._describe_merging(),
            **getattr(self, f"_{tab}_context")(),
        }

    # ---- tabs ----------------------------------------------------------------------------------

    def _diff_context(self) -> dict[str, Any]:
        get = self.request.GET
        kind = requested if (requested := get.get("type", "")) in KINDS else "fact"
        change = [one for one in get.getlist("change") if one in CHANGES]
        against, point = get.get("against", ""), get.get("against_at", "")
        diff = branch_manager.compare_branch(
            name=self.reader.branch.name,
            actor=self.reader.actor,
            at=self.reader.at,
            against=against,
            against_at=read_point(point),
            base=get.get("base", ""),
            kind=kind,
            change=change,
            **self.paging(),
        )
        found = {"diff": diff, "kind": kind, "change": change, "changes": CHANGES, "against": against}
        if kind == "link":
            links = [one.after or one.before for one in diff.page.results]
            found["ends"] = EvidenceEngine().load_link_ends(links=links, **self.reader.read_args)
        return found

    def _log_context(self) -> dict[str, Any]:
        page = branch_manager.list_commits(
            name=self.reader.branch.name, actor=self.reader.actor, **self.paging()
        )
        load_contents(page.results)
        self.reader.name_sessions(commit.session_id for commit in page.results)
        return {"page": page, "own_id": self.reader.actor.id}

    def _stats_context(self) -> dict[str, Any]:
        return {"stats": branch_manager.load_stats(name=self.reader.branch.name, actor=self.reader.actor)}

    def _describe_merging(self) -> dict[str, Any]:
        """Return the branch's pending merge request, and whether one can be opened."""
        if self.reader.branch.name == MAIN:
            return {}
        state = RequestHistoryEngine().describe_source(name=self.reader.branch.name, actor=self.reader.actor)
        may_open = state.is_ahead and state.pending is None and self.reader.allowed_now["write"]
        return {"pending_request": state.pending, "may_open_request": may_open}

    def _may_archive(self) -> bool:
        return self.reader.branch.name != MAIN and self.reader.allowed_now["write"]
