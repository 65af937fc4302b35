"""Branches: their list, and the differences, log and statistics of one."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.branches.branch_states import find_expiry
from memory.engines.branches.diff import CHANGES, KINDS
from memory.engines.branches.manager import BranchManager
from memory.engines.branches.topology import BranchTopologyEngine
from memory.engines.facts.evidence import EvidenceEngine
from memory.engines.merging.request_history import RequestHistoryEngine
from memory.engines.versions.lookup import MAIN
from memory.exceptions import Day1Error, Invalid
from memory.models import Branch
from memory.operations.branches import BRANCHES
from memory.views.base import ProjectPage
from memory.views.error_text import error_sentence
from memory.views.flash import flash_success
from memory.views.list_page import ListPage
from memory.views.view_context import read_point, with_query
from memory.views.widgets import add_form_error

branch_manager = BranchManager()
CODE = {"autocomplete": "off", "spellcheck": "false"}  # of fields for names that no dictionary has
TABS = {
    "diff": gettext_lazy("Differences"),
    "log": gettext_lazy("Commits"),
    "stats": gettext_lazy("What it holds"),
}


class BranchForm(forms.Form):
    """A form whose fields are all texts: the engine validates them."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=200,
        help_text=gettext_lazy("a–z, 0–9, '.', '_', '-' in segments between '/'"),
        widget=forms.TextInput(attrs={"placeholder": "task/…", **CODE}),
    )
    parent = forms.CharField(label=gettext_lazy("Parent"), max_length=200, widget=forms.TextInput(attrs=CODE))
    at = forms.CharField(
        label=gettext_lazy("As it was at"),
        help_text=gettext_lazy("A commit's number or id, a day or a time (UTC)"),
        widget=forms.TextInput(attrs={"placeholder": gettext_lazy("now"), "autocomplete": "off"}),
        required=False,
    )
    purpose = forms.CharField(
        label=gettext_lazy("Purpose"),
        max_length=500,
        widget=forms.TextInput(attrs={"dir": "auto"}),
        required=False,
    )

    owner = forms.CharField(
        label=gettext_lazy("Owner"),
        help_text=gettext_lazy("Who answers for it"),
        max_length=200,
        required=False,
    )
    ttl_days = forms.CharField(
        label=gettext_lazy("Days to live"),
        help_text=gettext_lazy("It expires so many days after its last change; empty: never"),
        widget=forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}),
        required=False,
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"), help_text=gettext_lazy("With commas between them"), required=False
    )

    @property
    def detail_fields(self) -> list[forms.BoundField]:
        """The fields of what people keep about a branch, besides its purpose."""
        return [self["owner"], self["ttl_days"], self["tags"]]

    @property
    def location_fields(self) -> list[forms.BoundField]:
        """The fields that say where it begins."""
        return [self["name"], self["parent"], self["at"]]


def read_details(typed: dict[str, str]) -> dict[str, Any]:
    """Return the details of a branch from the texts of a form; the engine checks them."""
    days = typed["ttl_days"]
    tags = [tag.strip() for tag in typed["tags"].replace("，", ",").split(",")]
    return {
        "purpose": typed["purpose"],
        "owner": typed["owner"],
        "ttl_days": int(days) if days.isdecimal() and len(days) < 9 else days or None,
        "tags": [tag for tag in tags if tag],
    }


def fill_details(branch: Branch) -> dict[str, Any]:
    """Return the details of a branch as texts of a form."""
    days = "" if branch.ttl_days is None else str(branch.ttl_days)
    tags = ", ".join(branch.tags)
    return {"purpose": branch.purpose, "owner": branch.owner, "ttl_days": days, "tags": tags}


class Branches(ListPage):
    """The list of branches, and the form for a new one; a refused form keeps its input."""

    template_name = "branches.html"
    section = "branches"
    title = gettext_lazy("Branches")
    operation = BRANCHES["list"]
    extra_context = {
        "lead": gettext_lazy(
            "A branch starts with all that its parent holds, and is isolated from then on, both ways."
        ),
        "search": gettext_lazy("Filters, such as name:task/ or owner:Mira"),
        "drawing": "branch",
        "none_fits": gettext_lazy("No branch fits."),
        "show_all": gettext_lazy("Show all branches"),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        initial = {"parent": self.reader.branch.name, "at": self.reader.at_text}
        kwargs.setdefault("form", BranchForm(initial=initial))
        return super().get_context_data(may_create=self.reader.can["write"], **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = BranchForm(request.POST)
        typed = {name: request.POST.get(name, "").strip() for name in form.fields}
        try:
            branch = branch_manager.create_branch(
                name=typed["name"],
                parent=typed["parent"] or MAIN,
                at=read_point(typed["at"]),
                actor=self.reader.actor,
                **read_details(typed),
            )
        except Day1Error as error:
            form.errors.clear()  # the engine has checked all of it
            if error.code == "exists":
                form.add_error("name", error_sentence(error))
            else:
                add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        flash_success(request, _("The branch %(name)s was made.") % {"name": branch.name})
        return redirect(self.reader.url("branch", branch.name, branch="", at=""))


class BranchPage(ProjectPage):
    """A page of one branch: its differences from the fork point, its commits, its statistics."""

    template_name = "branch.html"
    section = "branches"
    is_live = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        branch = branch_manager.get_branch(name=self.reader.branch.name, actor=self.reader.actor)
        requested = self.request.GET.get("tab", "")
        tab = requested if requested in TABS else ("log" if branch.name == MAIN else "diff")
        kwargs.setdefault("form", BranchForm(initial=fill_details(branch)))
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

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Archive or restore the branch (?do=archive, ?do=restore), or keep its details (?do=enrich)."""
        name, actor = self.reader.branch.name, self.reader.actor
        address = request.path
        if request.GET.get("do") == "enrich":
            return self._enrich(request)
        if request.GET.get("do") == "archive":
            branch_manager.archive_branch(name=name, actor=actor)
            undo = with_query(address, {"do": "restore"}) if actor.has_scope("curate") else ""
            flash_success(request, _("%(name)s is archived.") % {"name": name}, undo=undo)
        elif request.GET.get("do") == "restore":
            branch_manager.restore_branch(name=name, actor=actor)
            flash_success(request, _("%(name)s is in use again.") % {"name": name})
        else:
            raise Invalid(_("A branch can be archived or restored here."))
        return redirect(address)

    def _enrich(self, request: HttpRequest) -> HttpResponse:
        form = BranchForm(request.POST)
        typed = {name: request.POST.get(name, "").strip() for name in fill_details(self.reader.branch)}
        try:
            BranchTopologyEngine().enrich_branch(
                name=self.reader.branch.name, actor=self.reader.actor, **read_details(typed)
            )
        except Day1Error as error:
            form.errors.clear()  # the engine has checked all of it
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        flash_success(request, _("Saved."))
        return redirect(request.path)

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
