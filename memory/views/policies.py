"""The page of a branch's policy: what is in force, the form that changes it, and all entries."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from memory.engines.access.policies import LISTS, PolicyEngine
from memory.engines.fields.policies import GATES
from memory.engines.versions.policies import RULES, Policy
from memory.exceptions import Day1Error, NotFound
from memory.models import BranchPolicy, FactAssessment
from memory.models.policies import MAX_APPROVALS, DirectWrites
from memory.views.base import ProjectPage
from memory.views.flash import flash_success
from memory.views.frames import add_page
from memory.views.widgets import add_form_error

Method = FactAssessment.Method
DIRECT_WRITES: dict[Any, Any] = dict(DirectWrites.choices)
GATE_LABELS: dict[Any, Any] = dict(GATES)
METHODS: dict[Any, Any] = {
    Method.HUMAN: lazy("a person’s"),
    Method.JUDGE: lazy("a language model’s"),
}
APPROVER = {
    "false": lazy("No: somebody else approves"),
    "true": lazy("Yes: who opens a merge request may approve it too"),
}


def choose(label: Any, choices: dict[Any, Any]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=list(choices.items()), widget=forms.RadioSelect)


def tick(label: Any, choices: dict[Any, Any]) -> forms.MultipleChoiceField:
    return forms.MultipleChoiceField(
        label=label, choices=list(choices.items()), widget=forms.CheckboxSelectMultiple, required=False
    )


class PolicyForm(forms.Form):
    """All rules of an entry, and what it is for."""

    pattern = forms.CharField(
        label=lazy("For"),
        max_length=200,
        help_text=lazy("A branch, or a pattern such as task/* for every branch that matches it."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    direct_writes = choose(lazy("Direct writes, which no merge brings"), DIRECT_WRITES)
    gates = tick(lazy("A merge needs"), GATE_LABELS)
    accept_methods = tick(lazy("Verdicts that count as verified"), METHODS)
    approvals = forms.TypedChoiceField(
        label=lazy("Approvals that a merge needs"),
        choices=[(count, count) for count in range(MAX_APPROVALS + 1)],
        coerce=int,
    )
    author_may_approve = forms.TypedChoiceField(
        label=lazy("Does the author’s own approval count?"),
        choices=list(APPROVER.items()),
        coerce=lambda value: value == "true",
        widget=forms.RadioSelect,
    )


@add_page("policy/<path:branch_name>", "policy")
class PolicyPage(ProjectPage):
    """The policy of the branch in the address; ?pattern= opens the form for another entry."""

    template_name = "policy.html"
    section = "branches"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        engine, actor, branch = PolicyEngine(), self.reader.actor, self.reader.branch
        in_force = engine.get_policy(name=branch.name, actor=actor)
        entry = self.find_entry(self.request.GET.get("pattern", "") or in_force.pattern)
        kwargs.setdefault("form", PolicyForm(initial=describe_form(entry or in_force, branch.name)))
        return super().get_context_data(
            title=_("Policy of %(name)s") % {"name": branch.name},
            branch=branch,
            in_force=in_force,
            source=describe_source(in_force, branch.name),
            words=describe_policy(in_force),
            entry=entry,
            page=engine.list_policies(actor=actor, **self.paging()),
            **kwargs,
        )

    def find_entry(self, pattern: str) -> BranchPolicy | None:
        """Return the entry that the form shows; None for the defaults and for one that is gone."""
        try:
            return PolicyEngine().get_entry(pattern=pattern, actor=self.reader.actor) if pattern else None
        except NotFound:
            return None

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Save the entry, or delete it (?do=delete)."""
        if request.GET.get("do") == "delete":
            return self.delete_entry(request.POST.get("pattern", ""))
        self.reader.actor.require_scope("admin")
        form = PolicyForm(request.POST)
        if form.is_valid():
            try:
                entry, _created = PolicyEngine().set_policy(actor=self.reader.actor, **form.cleaned_data)
                flash_success(request, _("The policy for %(pattern)s is saved.") % {"pattern": entry.pattern})
                return self.go_back()
            except Day1Error as error:
                add_form_error(form, error)
        return self.render_to_response(self.get_context_data(form=form), status=400)

    def delete_entry(self, pattern: str) -> HttpResponse:
        PolicyEngine().delete_policy(pattern=pattern, actor=self.reader.actor)
        flash_success(self.request, _("The policy for %(pattern)s is deleted.") % {"pattern": pattern})
        return self.go_back()

    def go_back(self) -> HttpResponse:
        return redirect(self.reader.url("policy", self.reader.branch.name, branch="", at=""))


def describe_form(policy: Any, branch_name: str) -> dict[str, Any]:
    """Return the first values of the form: those of an entry, or of the defaults."""
    values = {name: getattr(policy, name) for name in RULES}
    author = "true" if values["author_may_approve"] else "false"
    lists = {name: list(values[name]) for name in LISTS}
    return values | lists | {"author_may_approve": author, "pattern": policy.pattern or branch_name}


def describe_policy(policy: Policy) -> list[tuple[str, str]]:
    """Return the rules and their values in the reader's words."""
    gates = [str(GATE_LABELS.get(name, name)) for name in policy.gates]
    methods = [str(METHODS[name]) for name in policy.accept_methods]
    return [
        (_("Direct writes"), str(DIRECT_WRITES[policy.direct_writes])),
        (_("A merge needs"), " · ".join([*gates, describe_approvals(policy)])),
        (_("Verdicts that count as verified"), " · ".join(methods)),
    ]


def describe_source(policy: Policy, branch_name: str) -> str:
    """Return which entry gave the policy of a branch."""
    if policy.is_default:
        return _("Nothing is set for this branch: these are the defaults.")
    if policy.pattern == branch_name:
        return _("Set for this branch.")
    return _("Set for every branch that matches %(pattern)s.") % {"pattern": policy.pattern}


def describe_approvals(policy: Policy) -> str:
    """Return how many approve, and whether the author is one of them."""
    if not policy.approvals:
        return _("No approval")
    words = ngettext("%(n)s approval", "%(n)s approvals", policy.approvals) % {"n": policy.approvals}
    author = _("the author’s own counts") if policy.author_may_approve else _("not the author’s own")
    return f"{words}, {author}"
