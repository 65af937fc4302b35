"""The page of a branch's policy: what is in force, the form that changes it, and all entries."""

from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from memory.engines.access.policies import PolicyEngine
from memory.engines.fields.policies import GATES, METHODS, POLICY
from memory.engines.versions.lookup import MAIN
from memory.engines.versions.policies import RULES, Policy
from memory.exceptions import NotFound
from memory.models import BranchPolicy
from memory.models.policies import DirectWrites
from memory.operations.policies import POLICIES
from memory.views.frame.base import MovedPage
from memory.views.frame.frames import add_page
from memory.views.frame.navigation import BEHAVIOUR, add_setting
from memory.views.frame.view_context import ViewContext
from memory.views.generic.actions import Action, ActionPage

DIRECT_WRITES: dict[Any, Any] = dict(DirectWrites.choices)
GATE_LABELS: dict[Any, Any] = dict(GATES)
METHOD_LABELS: dict[Any, Any] = dict(METHODS)


@add_page("policy/<path:branch_name>", "policy")
class PolicyPage(ActionPage):
    """The policy of the branch in the address; ?pattern= opens the form for another entry."""

    template_name = "policy.html"
    section, usual, needs_now = "policies", "set", False
    actions = {
        "set": Action(
            POLICIES["partial_update"],
            lambda done: _("The policy for %(pattern)s is saved.") % {"pattern": done[0].pattern},
            fields=("direct_writes", "gates", "accept_methods", "approvals", "author_may_approve"),
            further=(POLICY["pattern"],),
            button=lazy("Save"),
        ),
        "delete": Action(
            POLICIES["destroy"],
            lazy("The policy is deleted."),
            further=(POLICY["pattern"],),
            joins="set",
            button=lazy("Delete this policy"),
            tone="danger",
        ),
    }

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        branch, in_force = self.reader.branch, self.in_force
        return super().get_context_data(
            title=_("Policy of %(name)s") % {"name": branch.name},
            branch=branch,
            in_force=in_force,
            source=describe_source(in_force, branch.name),
            words=describe_policy(in_force),
            form=self.get_form("set"),
            page=PolicyEngine().list_policies(actor=self.reader.actor, **self.paging()),
            **kwargs,
        )

    def find_values(self, name: str) -> dict[str, Any]:
        """Return the rules of the entry that the form is for, else those in force."""
        branch, policy = self.reader.branch.name, self.entry or self.in_force
        return {rule: getattr(policy, rule) for rule in RULES} | {"pattern": policy.pattern or branch}

    def list_buttons(self, name: str) -> list[tuple[str, Action]]:
        return [one for one in super().list_buttons(name) if self.entry or one[0] != "delete"]

    @cached_property
    def in_force(self) -> Policy:
        return PolicyEngine().get_policy(name=self.reader.branch.name, actor=self.reader.actor)

    @cached_property
    def entry(self) -> BranchPolicy | None:
        """Return the entry that the form shows; None for the defaults and for one that is gone."""
        pattern = self.request.GET.get("pattern", "") or self.in_force.pattern
        try:
            return PolicyEngine().get_entry(pattern=pattern, actor=self.reader.actor) if pattern else None
        except NotFound:
            return None


@add_page("policies", "policies")
class Policies(MovedPage):
    """The way to the policies: that of main, with all others beside it."""

    to = ("policy", MAIN)


def describe_main(reader: ViewContext) -> str:
    """Return what may be written to main, for the overview of the settings."""
    policy = PolicyEngine().get_policy(name=MAIN, actor=reader.actor)
    words = {"writes": DIRECT_WRITES[policy.direct_writes], "approvals": describe_approvals(policy)}
    return _("On main: %(writes)s · %(approvals)s") % words


def describe_policy(policy: Policy) -> list[tuple[str, str]]:
    """Return the rules and their values in the reader's words."""
    gates = [str(GATE_LABELS.get(name, name)) for name in policy.gates]
    methods = [str(METHOD_LABELS[name]) for name in policy.accept_methods]
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


add_setting("policies", lazy("Policies"), "shield", group=BEHAVIOUR, order=42, describe=describe_main)
