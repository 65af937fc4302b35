"""The tree of branches, and those that are done with."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy, ngettext

from memory.engines.branches.topology import BranchTopologyEngine
from memory.operations.branches import BRANCHES
from memory.views.frame.base import ProjectPage
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.filter_tokens import refuse_unknown

CODE = {"type": "search", "autocomplete": "off", "spellcheck": "false"}
topology_engine = BranchTopologyEngine()
MAX_LINES = 100  # branches on a page: more would be slow to draw and heavy to carry
UNFOLDED = 60  # branches that are all shown at once; of more, the first two levels
FILTERS = ("name", "state", "owner", "tag")


class TreeFilterForm(forms.Form):
    """The filters of the tree; the engine checks them."""

    name = forms.CharField(label=gettext_lazy("Name"), widget=forms.TextInput(CODE), required=False)
    owner = forms.CharField(label=gettext_lazy("Owner"), max_length=200, required=False)
    tag = forms.CharField(label=gettext_lazy("Tag"), max_length=100, required=False)


class Topology(ProjectPage):
    """The tree of branches with its filters; what is folded opens without a script."""

    template_name = "topology.html"
    section = "branches"
    title = gettext_lazy("Tree of branches")

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        refuse_unknown(self.request, FILTERS, ["open"])
        get = self.request.GET
        filters = {name: get.get(name, "").strip() for name in FILTERS if name != "state"}
        states = [state for state in get.getlist("state") if state]
        tree = topology_engine.get_topology(
            actor=self.reader.actor, states=states, cursor=get.get("cursor", ""), limit=MAX_LINES, **filters
        )
        filtered = bool(states or any(filters.values()))
        few = filtered or len(tree.results) <= UNFOLDED
        return super().get_context_data(
            tree=tree,
            form=TreeFilterForm(initial=filters),
            states=states,
            filtered=filtered,
            unfolded=few or get.get("open") == "all",
            foldable=not few,
            **kwargs,
        )


def tell_archived(report: Any) -> str:
    text = ngettext("%(n)s branch is archived.", "%(n)s branches are archived.", report.count)
    return text % {"n": report.count}


class Expired(ActionPage):
    """The branches whose days are over, or that were merged whole, and the button that archives them."""

    usual, needs_now = "archive", False
    actions = {"archive": Action(BRANCHES["auto_archive"], tell_archived, fixed={"dry_run": False})}

    template_name = "expired.html"
    section = "branches"
    title = gettext_lazy("Expired and merged")
    extra_context = {
        "lead": gettext_lazy("Branches whose days to live are over, or that were merged whole."),
        "drawing": "archived",
        "none_yet": gettext_lazy(
            "No branch is expired or merged. A branch expires when it has days to live and they are over."
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        refuse_unknown(self.request, [])
        page, count = topology_engine.plan_archive(actor=self.reader.actor, **self.paging())
        return super().get_context_data(
            page=page, count=count, may_archive=self.reader.can["write"], **kwargs
        )
