"""Merge requests: their list, the checks of one in short, and the form that opens one."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.engines.branches.manager import BranchManager
from memory.engines.merging.engine import MergeEngine
from memory.engines.merging.plan import APPLIED, CONFLICT, REMOVED, PlanItem
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.versions.lookup import MAIN
from memory.exceptions import BranchArchived, BranchNotFound, Conflict, Day1Error
from memory.models import Branch, MergeRequest
from memory.operations.merge_requests import MERGE_REQUESTS
from memory.views.base import ProjectPage
from memory.views.flash import flash_success
from memory.views.frames import add_page
from memory.views.labels import CHANGE_KINDS, WORDS
from memory.views.list_page import ALL, ListPage
from memory.views.merge_labels import CLASSES, REASONS, STATES, STRATEGIES
from memory.views.merge_sides import describe_row
from memory.views.widgets import add_form_error

merge_engine, merge_request_engine = MergeEngine(), MergeRequestEngine()
CODE = {"autocomplete": "off", "spellcheck": "false"}
ONE_COMMIT = 1
MAX_OFFERED = 100  # memories that can be ticked
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
        "none_fits": gettext_lazy("No merge request fits."),
        "none_yet": gettext_lazy(
            "No merge request yet. An agent works on a branch, so that nothing half learned reaches main; a"
            " merge request brings it over, after people have looked. Open one from the page of a branch, or:"
        ),
        "show_all": gettext_lazy("Show all merge requests"),
    }


class RequestForm(forms.Form):
    """A form whose fields are all texts: the engine validates them."""

    title = forms.CharField(
        label=gettext_lazy("Title"), max_length=200, widget=forms.TextInput(attrs={"dir": "auto"})
    )
    description = forms.CharField(
        label=gettext_lazy("Description"),
        help_text=gettext_lazy("What was learned, and what a reader should look at."),
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
    )
    target = forms.CharField(
        label=gettext_lazy("Into"), max_length=200, widget=forms.TextInput(attrs={"list": "targets", **CODE})
    )
    strategy = forms.ChoiceField(
        label=gettext_lazy("Strategy"), choices=list(STRATEGIES.items()), widget=forms.RadioSelect
    )
    ids = forms.MultipleChoiceField(
        label=gettext_lazy("Memories to take"),
        help_text=gettext_lazy("Links, verdicts and messages come with what they belong to."),
        widget=forms.CheckboxSelectMultiple,
    )

    use_required_attribute = False

    def offer_memories(self, items: Sequence[PlanItem], has_more: bool) -> None:
        """Offer the memories that can be ticked; without any there is no cherry-pick."""
        fields: dict[str, Any] = self.fields
        if not items:
            del fields["ids"]
            fields["strategy"].choices = [one for one in STRATEGIES.items() if one[0] != CHERRY_PICK]
            return
        fields["ids"].choices = [(str(item.uid), describe_item(item)) for item in items]
        if has_more:
            fields["ids"].help_text = _(
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
class NewMergeRequest(ProjectPage):
    """The form that opens a merge request from ?source=, else from the branch that is read."""

    template_name = "merge_request_new.html"
    section = "merge-requests"
    title = gettext_lazy("New merge request")
    scope = "write"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        actor, source = self.reader.actor, self._find_source()
        if "form" not in kwargs:
            target = source.parent.name if source.parent else ""  # main has none that it came from
            initial = {"title": self._suggest_title(source), "target": target, "strategy": "auto"}
            kwargs["form"] = RequestForm(initial=initial)
        kwargs["form"].offer_memories(*self._list_changes(source, kwargs["form"]["target"].value()))
        targets = [one.name for one in BranchManager().find_branches(actor=actor) if one.pk != source.pk]
        return super().get_context_data(source=source, targets=targets, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        form = RequestForm(request.POST)
        typed = {name: request.POST.get(name, "").strip() for name in form.fields}
        picked: list[Any] = request.POST.getlist("ids") if typed["strategy"] == CHERRY_PICK else []
        try:
            made = merge_request_engine.create_request(
                source=self._find_source().name,
                actor=self.reader.actor,
                title=typed["title"],
                description=typed["description"],
                target=typed["target"] or MAIN,
                strategy=typed["strategy"] or "auto",
                ids=picked,
            )
        except Day1Error as error:
            form.errors.clear()  # the engine has checked all of it
            add_form_error(form, error)
            return self.render_to_response(self.get_context_data(form=form), status=error.status)
        flash_success(request, _("Merge request #%(number)s is open.") % {"number": made.number})
        return redirect(self.reader.url("merge-request", made.number, branch="", at=""))

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
