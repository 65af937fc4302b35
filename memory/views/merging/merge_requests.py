"""Merge requests: their list, the checks of one in short, and the form that opens one."""

from collections.abc import Sequence
from typing import Any, cast

from django import forms
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.branches.manager import BranchManager
from memory.engines.fields.merges import STRATEGY_WORDS
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import APPLIED, CONFLICT, REMOVED, PlanItem
from memory.engines.versions.lookup import MAIN
from memory.exceptions import BranchArchived, BranchNotFound, Conflict
from memory.models import Branch, MergeRequest
from memory.operations.merge_requests import MERGE_REQUESTS
from memory.views.frame.frames import add_page
from memory.views.generic.actions import Action, ActionPage
from memory.views.generic.field_widgets import DeclaredForm
from memory.views.generic.list_page import ALL, ListPage
from memory.views.merging.merge_labels import CLASSES, REASONS, STATES
from memory.views.merging.merge_sides import describe_row
from memory.views.text.labels import CHANGE_KINDS, WORDS

merge_engine = MergeEngine()
ONE_COMMIT = 1
MAX_OFFERED = 50  # memories that can be ticked
MAX_LINE = 200
CHERRY_PICK = MergeRequest.Strategy.CHERRY_PICK


@add_page("merge-requests", "merge-requests")
class MergeRequests(ListPage):
    template_name = "merge_requests.html"
    section = "merge-requests"
    title = gettext_lazy("Merge requests")
    operation, words = MERGE_REQUESTS["list"], WORDS | STATES
    states = {ALL: gettext_lazy("All"), **STATES}
    labels = {
        "source": gettext_lazy("From"),
        "target": gettext_lazy("Into"),
    }
    extra_context = {
        "lead": gettext_lazy("What agents learned on branches and want to bring into another branch."),
        "search": gettext_lazy("Filters, such as state:merged or source:task/login"),
        "drawing": "merge",
        "none_fits": gettext_lazy("No merge request matches."),
        "none_yet": gettext_lazy(
            "No merge request yet. An agent works on a branch, so that nothing half learned reaches main; a"
            " merge request brings it over, after people have looked. Open one from the page of a branch, or:"
        ),
        "show_all": gettext_lazy("Show all merge requests"),
    }


class RequestForm(DeclaredForm):
    """The form of a new request, with the memories that can be picked."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["ids"].widget = forms.CheckboxSelectMultiple()

    def offer_memories(self, items: Sequence[PlanItem], has_more: bool) -> None:
        """Offer the memories that can be ticked; without any there is no cherry-pick."""
        if not items:
            del self.fields["ids"]
            strategies = [choice for choice in STRATEGY_WORDS if choice[0] != CHERRY_PICK]
            self.fields["strategy"].widget = forms.RadioSelect(choices=strategies)
            return
        self.fields["ids"].widget.choices = [(str(item.uid), describe_item(item)) for item in items]
        if has_more:
            self.fields["ids"].help_text = _(
                "These are the first ones; the command line takes any by its id. Links, verdicts and messages"
                " come with what they belong to."
            )


def describe_item(item: PlanItem) -> str:
    """Return a memory of a plan in a line: whether it conflicts or was removed, its kind, its text."""
    removed = item.theirs.deleted
    row = item.ours if removed and item.ours is not None else item.theirs
    state = CLASSES[CONFLICT] if item.outcome == CONFLICT else REASONS[REMOVED] if removed else ""
    kind = "" if item.kind == "fact" else CHANGE_KINDS[item.kind] % 1
    text = Truncator(describe_row(row, {})).chars(MAX_LINE)
    return ": ".join(str(part) for part in (state, kind, text) if part)


@add_page("merge-requests/new", "new-merge-request")
class NewMergeRequest(ActionPage):
    """The form that opens a merge request from ?source=, else from the branch that is read."""

    template_name = "merge_request_new.html"
    section = "merge-requests"
    title = gettext_lazy("New merge request")
    scope, needs_now = "write", False
    actions = {
        "create": Action(
            MERGE_REQUESTS["create"],
            gettext_lazy("Merge request #%(number)s is open."),
            fields=("title", "description", "target", "strategy", "ids"),
            opens=("merge-request", "number"),
            form=RequestForm,
        )
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        source, form = self._find_source(), cast(RequestForm, self.get_form("create"))
        form.offer_memories(*self._list_changes(source, form["target"].value()))
        branches = BranchManager().find_branches(actor=self.reader.actor)
        targets = [branch.name for branch in branches if branch.pk != source.pk]
        return super().get_context_data(source=source, targets=targets, form=form, **kwargs)

    def find_values(self, name: str) -> dict[str, Any]:
        source = self._find_source()
        target = source.parent.name if source.parent else ""  # main has none that it came from
        return {"title": self._suggest_title(source), "target": target, "strategy": "auto"}

    def carry_out(self, name: str, values: dict[str, Any]) -> Any:
        if values.get("strategy") != CHERRY_PICK:
            values.pop("ids", None)
        return super().carry_out(name, {**values, "source": self._find_source().name})

    def _find_source(self) -> Branch:
        name = self.request.GET.get("source", "") or self.reader.branch.name
        return BranchManager().get_branch(name=name, actor=self.reader.actor)

    def _list_changes(self, source: Branch, target: str) -> tuple[list[PlanItem], bool]:
        """Return the memories that the branch could bring, and whether there are more."""
        try:
            page = merge_engine.list_changes(
                source=source.name,
                target=target or MAIN,
                classes=[CONFLICT, APPLIED],
                limit=MAX_OFFERED,
                actor=self.reader.actor,
            )
        except (BranchArchived, BranchNotFound, Conflict):  # opening the request says so
            return [], False
        return [item for item in page.results if not item.model.OWNERS], page.next is not None

    def _suggest_title(self, source: Branch) -> str:
        """Return what the branch was made for, else the message of its only commit."""
        if source.purpose:
            return source.purpose[:200]
        commits = BranchManager().list_commits(name=source.name, actor=self.reader.actor, limit=2)
        message = commits[0].message if len(commits) == ONE_COMMIT else ""
        return message[:200] or _("Merge %(source)s") % {"source": source.name}
