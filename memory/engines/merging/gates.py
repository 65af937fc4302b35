"""Gates: checks that a merge passes. DAY1["merge_gates"] names them, a branch's policy says which count."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol
from uuid import UUID

from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop as _

from memory import redaction
from memory.conf import conf
from memory.engines.fields.base import NOUNS
from memory.engines.merging.arrivals import (
    Arrival,
    list_arrivals,
    list_undecided,
)
from memory.engines.merging.options import MergeOptions
from memory.engines.merging.plan import FullPlan
from memory.engines.versions.policies import Policy

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


# Checks of every merge, whatever the policy of its target; nobody may force them. A name -> its check.
REQUIRED: dict[str, Gate] = {}


def require_gate(name: str, gate: Gate) -> None:
    """Let each merge pass a check of an app on the right."""
    REQUIRED[name] = gate


def run_required(plan: FullPlan, options: MergeOptions, policy: Policy) -> list[GateResult]:
    """Return the results of the required checks that have failed."""
    found = [gate(name, plan, options, policy) for name, gate in REQUIRED.items()]
    return [result for result in found if result.state == FAILED]


def run_gates(plan: FullPlan, options: MergeOptions, policy: Policy) -> list[GateResult]:
    """Return the result of each gate of the policy, in its order."""
    return [run_gate(name, plan, options, policy) for name in policy.gates]


def run_gate(name: str, plan: FullPlan, options: MergeOptions, policy: Policy) -> GateResult:
    """Return the result of a gate; one that the settings do not name fails."""
    if path := conf().merge_gates.get(name):
        return load_gate(path)(name, plan, options, policy)
    return GateResult(name, FAILED, _("The settings name no gate {gate}."), {"gate": name})


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
