"""Branch policies: list, read, set, delete. ``find_policy`` says which one is in force."""

from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

from django.utils import timezone
from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.transactions import retry_methods, write_transaction
from memory.engines.access.keys import is_pattern_covered
from memory.engines.audit.trail import record_entry
from memory.engines.fields.base import Use
from memory.engines.fields.keys import BRANCH_PATTERN
from memory.engines.fields.policies import POLICY
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page, Paging, paginate
from memory.engines.versions.lookup import find_branch
from memory.engines.versions.policies import MAX_POLICIES, RULES, Policy, default_policy, find_policy
from memory.exceptions import BranchForbidden, Invalid, NotFound, TooLarge
from memory.models import Project
from memory.models.policies import VERIFYING_METHODS, BranchPolicy, filter_methods

CHECKS = POLICY.field_checks(Use.UPDATE)
LISTS = ("gates", "accept_methods")
NO_METHOD = _("{field} must name at least one of {methods}: the heuristic verifies nothing.")
PATTERN_LENGTH = POLICY["pattern"].type.max_length


class PolicyFields(TypedDict, total=False):
    """The rules of a policy, in Python."""

    gates: list[str]
    approvals: int
    author_may_approve: bool
    accept_methods: list[str]
    direct_writes: str


@retry_methods
class PolicyEngine:
    def list_policies(self, *, actor: Actor, **paging: Unpack[Paging]) -> Page[BranchPolicy]:
        """List the project's entries by pattern, without those of branches that the actor may not use."""
        actor.require_scope("read")
        entries = every = BranchPolicy.objects.filter(project=actor.project_id)
        if actor.branch_patterns:
            names = entries.values_list("pattern", flat=True)
            entries = entries.filter(pattern__in=[name for name in names if may_read(actor, name)])
        return paginate(entries, "pattern", **paging, of=every)

    def get_entry(self, *, pattern: str, actor: Actor) -> BranchPolicy:
        """Return the entry of a pattern. Raises NotFound."""
        actor.require_scope("read")
        entry = BranchPolicy.objects.filter(project=actor.project_id, pattern=pattern).first()
        if entry is None or not may_read(actor, pattern):
            raise NotFound("There is no policy for {pattern}.", pattern=ascii(pattern)[1:-1])
        return entry

    def get_policy(self, *, name: str, actor: Actor) -> Policy:
        """Return the policy in force on a branch, with the entry that gave it. Raises BranchNotFound."""
        actor.require_scope("read", name)
        find_branch(actor, name)
        return find_policy(actor.project_id, name)

    def set_policy(
        self, *, pattern: str, actor: Actor, **rules: Unpack[PolicyFields]
    ) -> tuple[BranchPolicy, bool]:
        """Set rules of a branch or of a pattern of names; return the entry, and whether it is new.

        What is not given stays as it is; a new entry begins with the defaults. Needs the scope admin. Raises
        Invalid, UnknownField, TooLarge for too many entries, BranchForbidden, AgentForbidden.
        """
        actor.require_scope("admin")
        pattern = check_pattern(pattern)
        require_pattern(actor, pattern)
        values = check_rules(rules)
        with write_transaction():
            entry, created = load_entry(actor, pattern)
            before = describe_rules(entry)
            apply_rules(entry, values)
            if not created and describe_rules(entry) == before:
                return entry, False
            store_entry(entry, actor)
            record_entry(actor, "policy.set", pattern, _describe_change(entry, before, created))
        return entry, created

    def delete_policy(self, *, pattern: str, actor: Actor) -> None:
        """Delete an entry: the next wider pattern or the defaults apply. Raises NotFound."""
        require_pattern(actor, pattern)
        with write_transaction():
            entry = self.get_entry(pattern=pattern, actor=actor)
            record_entry(actor, "policy.delete", pattern, {"before": describe_rules(entry)})
            entry.delete()


def may_read(actor: Actor, pattern: str) -> bool:
    """Return whether an actor may know an entry: a pattern tells of no branch, a name may."""
    return bool({"*", "?"} & set(pattern)) or actor.may_use(pattern)


def require_pattern(actor: Actor, pattern: str) -> None:
    """Require admin rights for every branch of a pattern and for every agent.

    Raises ScopeMissing, BranchForbidden, AgentForbidden.
    """
    actor.require_scope("admin")
    if not is_pattern_covered(pattern, actor.branch_patterns):
        raise BranchForbidden(
            "The pattern {name} covers branches beyond this key: use a key without branch patterns.",
            name=pattern,
        )
    actor.require_every_agent()


def check_pattern(pattern: str) -> str:
    """Return a valid branch name or pattern. Raises Invalid."""
    if not isinstance(pattern, str) or len(pattern) > PATTERN_LENGTH or not BRANCH_PATTERN.fullmatch(pattern):
        raise Invalid(
            "{pattern} is no branch pattern: it is a branch name in which * stands for any characters"
            " and ? for one.",
            pattern=str(pattern)[:PATTERN_LENGTH],
            field="pattern",
        )
    return pattern


def check_rules(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return valid rules, each gate and method once, the methods that verify alone.

    Raises Invalid, UnknownField.
    """
    for name in LISTS:
        if name in rules and not isinstance(rules[name], list | tuple):
            raise Invalid("{field} must be a list of names.", field=name)
    values = c.validate(rules, CHECKS)
    for name in LISTS:
        if name in values:
            values[name] = list(dict.fromkeys(values[name]))
    if "accept_methods" in values:
        values["accept_methods"] = filter_methods(values["accept_methods"])
        if not values["accept_methods"]:
            raise Invalid(NO_METHOD, field="accept_methods", methods=", ".join(VERIFYING_METHODS))
    return values


def load_entry(actor: Actor, pattern: str) -> tuple[BranchPolicy, bool]:
    """Return the entry of a pattern, or a new one with the defaults, and whether it is new."""
    # Serialise changes of a project's policies: two may set rules of one entry.
    Project.objects.select_for_update().get(pk=actor.project_id)
    entries = BranchPolicy.objects.filter(project=actor.project_id)
    if entry := entries.filter(pattern=pattern).first():
        return entry, False
    if entries.count() >= MAX_POLICIES:
        raise TooLarge(what="The list of policies", limit=f"{MAX_POLICIES} entries")
    default = default_policy(pattern)
    values = {name: getattr(default, name) for name in RULES}
    lists = {name: list(values[name]) for name in LISTS}
    return BranchPolicy(project_id=actor.project_id, pattern=pattern, **{**values, **lists}), True


def apply_rules(entry: BranchPolicy, values: dict[str, Any]) -> None:
    """Set the given rules. Where approvals are new, the author's own counts only if that is given."""
    if values.get("approvals") and not entry.approvals:
        values = {"author_may_approve": False, **values}
    for name, value in values.items():
        setattr(entry, name, value)


def store_entry(entry: BranchPolicy, actor: Actor) -> None:
    entry.updated_at, entry.updated_by = timezone.now(), actor.label
    entry.save()


def describe_rules(entry: BranchPolicy) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in RULES}


def _describe_change(entry: BranchPolicy, before: dict[str, Any], created: bool) -> dict[str, Any]:
    return describe_rules(entry) | ({} if created else {"before": before})
