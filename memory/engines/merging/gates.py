"""Gates: checks that a merge passes. DAY1["merge_gates"] names them, a branch's policy says which count."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop as _

from memory import metrics, redaction
from memory.conf import conf
from memory.engines.facts.assessment import Verdict, load_verdicts
from memory.engines.facts.rules import is_same
from memory.engines.fields.base import NOUNS
from memory.engines.merging.changes import RANK
from memory.engines.merging.plan import BOTH, CONFLICT, EDIT, SIMILAR, SQUASHED, FullPlan, PlanItem
from memory.engines.merging.strategies import MergeOptions
from memory.engines.versions.kinds import compared_fields
from memory.engines.versions.policies import Policy
from memory.extensions import load_extensions
from memory.models import BranchedModel, Fact, FactAssessment
from memory.models.end_users import EndUser
from memory.models.facts import write_content
from memory.models.hashes import judged_hash

PASSED, WARNING, FAILED = "passed", "warning", "failed"
HIDDEN = "hidden"  # from who may not read the target, whatever it is
MAX_NAMED_IDS = 20  # memories that a result names
HIDDEN_REASON = _("Known to those who may read {target}.")
# Why near duplicates of some facts were not looked for.
PENDING = _("No conflict is left. Facts without their vector yet were compared with none: {count}.")
UNCHECKED = {
    "embedder_off": _("No conflict is left. Without an embedder no near duplicates are looked for: {count}."),
    "embedder_unavailable": _(
        "No conflict is left. The embedder does not answer, so facts were compared with none: {count}."
    ),
}
RETIRED = frozenset({Fact.Status.ARCHIVED, Fact.Status.SUPERSEDED})


@dataclass(frozen=True)
class Arrival:
    """A memory that the merge brings: the content that the target will show, and the version before."""

    kind: str
    uid: UUID
    values: Mapping[str, Any]
    before: BranchedModel | None = None

    @property
    def retired(self) -> bool:
        return self.values.get("status") in RETIRED

    def brings(self, name: str) -> bool:
        """Return whether a field has a value that the target does not show yet."""
        value = self.values.get(name)
        return bool(value) and (self.before is None or not is_same(getattr(self.before, name), value))


@dataclass(frozen=True)
class GateResult:
    """Result of one gate: its state, the reason in words, and which memories it is about.

    ``link`` is the query of the plan's page that shows them, ``verifiable`` are the facts that the gate would
    let pass if a person verified them, as many as one action takes.
    """

    name: str
    state: str
    template: str  # unformatted, as the catalogue of translations has it
    data: Mapping[str, Any] = field(default_factory=dict)
    ids: tuple[UUID, ...] = ()
    count: int = 0
    link: str = ""
    verifiable: tuple[UUID, ...] = ()

    @property
    def reason(self) -> str:
        return self.template.format(**self.data)


class Gate(Protocol):
    """Interface of a gate. It reads alone, and calls no provider in a transaction."""

    def __call__(self, name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult: ...


def list_required() -> dict[str, Gate]:
    """Return the checks of every merge, by name, whatever the policy of its target; nobody may force them."""
    return load_extensions("required_gates")


def run_required(plan: FullPlan, options: MergeOptions, policy: Policy) -> list[GateResult]:
    """Return the results of the required checks that have failed."""
    found = [gate(name, plan, options, policy) for name, gate in list_required().items()]
    return [result for result in found if result.state == FAILED]


def run_gates(plan: FullPlan, options: MergeOptions, policy: Policy) -> list[GateResult]:
    """Return the result of each gate of the policy, in its order."""
    return [run_gate(name, plan, options, policy) for name in policy.gates]


def run_gate(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Return the result of a gate; one that the settings do not name fails."""
    if path := conf().merge_gates.get(name):
        result = load_gate(path)(name, plan, options, policy)
    else:
        result = GateResult(name, FAILED, _("The settings name no gate {gate}."), {"gate": name})
    metrics.add("day1_gates", gate=name if path else "unknown", result=result.state)
    return result


@cache
def load_gate(path: str) -> Gate:
    gate: Gate = import_string(path)
    return gate


def build_result(
    name: str, state: str, template: str, ids: Iterable[UUID] = (), link: str = "", **data: Any
) -> GateResult:
    """Build a result about some memories; ``count`` is their number unless the data says it."""
    found = tuple(dict.fromkeys(ids))
    count = data.setdefault("count", len(found))
    return GateResult(name, state, template, data, found[:MAX_NAMED_IDS], count, link)


# ---- the gates -----------------------------------------------------------------------------------------


def check_conflicts(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Fail while a conflict is undecided; warn while texts without a vector could not be compared."""
    if undecided := list_undecided(plan):
        ids, text = [item.uid for item in undecided], _("Conflicts without a decision: {count}.")
        return build_result(name, FAILED, text, ids, "class=conflict", count=len(undecided))
    if plan.unchecked:
        return build_result(name, WARNING, UNCHECKED.get(plan.unchecked_reason, PENDING), plan.unchecked)
    return build_result(name, PASSED, _("No conflict is left without a decision."))


def check_secrets(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Fail when a text that arrives holds a secret."""
    found = [one.uid for one in list_arrivals(plan) if holds_secret(one)]
    if found:
        return build_result(name, FAILED, _("Memories whose text holds a secret: {count}."), found)
    return build_result(name, PASSED, _("No secret was found in the texts that arrive."))


def holds_secret(one: Arrival) -> bool:
    """Return whether a field that is stored without secrets brings one."""
    values = (one.values[name] for name in list_redacted(one.kind) if one.brings(name))
    return any(redaction.redact_all(value) != redaction.limit_depth(value) for value in values)


@cache
def list_redacted(kind: str) -> frozenset[str]:
    """Return the fields of a kind of memory that are stored without secrets."""
    noun = NOUNS.get(kind, ())
    return frozenset(field.attribute or field.name for field in noun if field.type.redacted)


# ---- what arrives ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Standing:
    """What a verdict says of a fact as it arrives; without one it is unverified."""

    status: str = FactAssessment.Status.UNVERIFIED
    method: str = ""


def list_undecided(plan: FullPlan) -> list[PlanItem]:
    """Return the conflicts that neither the strategy nor a decision settles; to skip one is a decision."""
    return [item for item in plan.items if item.outcome == CONFLICT and item.decision is None]


def list_arrivals(plan: FullPlan) -> list[Arrival]:
    """Return what arrives of any kind: no removals, and nothing that was left out or stays as it is."""
    if plan.arrivals is None:  # several gates ask
        found = [one for item in plan.items for one in _describe_item(item)]
        plan.arrivals = found + [_describe_row(row) for row in plan.written if not isinstance(row, Fact)]
    return plan.arrivals


def list_arriving_facts(plan: FullPlan) -> list[Arrival]:
    """Return the facts that arrive and are in use. Facts that a squash archives count, as the parts of the
    one that stands for them.
    """
    return [one for one in list_arrivals(plan) if one.kind == "fact" and not one.retired]


def _describe_item(item: PlanItem) -> Iterator[Arrival]:
    if item.arrives and not _stays_the_same(item):
        before = None if item.ours is None or item.ours.deleted else item.ours
        yield Arrival(item.kind, item.uid, _get_content(item), before)
    if item.decision is None:
        return
    if item.decision.choice == BOTH and item.reason not in SIMILAR:
        yield _describe_row(item.theirs)
    if item.decision.choice == EDIT and item.other is not None:
        yield Arrival(item.kind, item.other.uid, {**item.other.content_values(), **item.other_content})


def _describe_row(row: BranchedModel) -> Arrival:
    return Arrival(row.KIND.name, row.uid, row.content_values())


def _get_content(item: PlanItem) -> dict[str, Any]:
    content = item.theirs.content_values() if item.merged is None else dict(item.merged)
    if item.reason == SQUASHED:
        content["status"] = item.theirs.status
    return content


def _stays_the_same(item: PlanItem) -> bool:
    """Return whether the target shows the same before and after: what was decided for its side."""
    if item.ours is None or item.ours.deleted:
        return False
    content = _get_content(item)
    return all(is_same(getattr(item.ours, name), content[name]) for name in compared_fields(item.model))


def load_standings(facts: Sequence[Arrival], plan: FullPlan) -> dict[UUID, Standing]:
    """Return the verdict on each fact as it arrives: the source's and the target's on the same content."""
    uids = {fact.uid for fact in facts}
    points = plan.points
    sides = [load_verdicts(uids, one) for one in (points.source_lineage, points.target_lineage)]
    return {fact.uid: choose_standing(fact, [side.get(fact.uid) for side in sides]) for fact in facts}


def choose_standing(fact: Arrival, sides: Sequence[Verdict | None]) -> Standing:
    judged = compute_judged_hash(fact.values) if any(sides) else ""
    verdicts = [verdict for verdict in sides if verdict and verdict.judged_hash == judged]
    strongest = max(verdicts, key=lambda one: RANK.index(one.status), default=None)
    return Standing(strongest.status, strongest.method) if strongest else Standing()


def compute_judged_hash(values: Mapping[str, Any]) -> str:
    """Return the hash that a verdict is bound to, of a fact's content: a row of each would cost the most."""
    owner = EndUser(values["user_id"], values["app_id"])
    content = write_content(values["fact_text"], values["path"], values["value"], owner)
    return judged_hash(content, values["essence"], values["category"])
