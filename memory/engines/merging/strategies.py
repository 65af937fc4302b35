"""Options, strategies and decisions of a merge: what becomes of each conflict, and what comes along."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memory.actors import Actor
from memory.db.querysets import Lineage
from memory.engines.facts.rules import clean_update, compute_essence
from memory.engines.fields.merges import MAX_IDS
from memory.engines.merging.changes import load_nearest
from memory.engines.merging.fields import complete_content
from memory.engines.merging.plan import (
    BOTH,
    CHOICES,
    CONFLICT,
    CONTESTED,
    EDIT,
    NOT_PICKED,
    SIMILAR,
    SOURCE,
    TARGET,
    Decision,
    FullPlan,
    MergePoints,
    PlanItem,
)
from memory.engines.support import validation as c
from memory.engines.versions.commits import MERGE
from memory.engines.versions.kinds import models_by_kind
from memory.engines.versions.lookup import find_branch
from memory.exceptions import BranchArchived, Conflict, Invalid
from memory.models import Branch, Commit, Fact, FactLink, MergeRequest
from memory.models.facts import build_copy_uid

AUTO, OURS, THEIRS = "auto", "ours", "theirs"
CHERRY_PICK, SQUASH, FAST_FORWARD = "cherry_pick", "squash", "fast_forward"
STRATEGIES = (AUTO, OURS, THEIRS, CHERRY_PICK, SQUASH, FAST_FORWARD)
MAX_NAMED = 20  # conflicts named in a refusal


# ---- what comes along ----------------------------------------------------------------------------------


def pick_items(plan: FullPlan, ids: Collection[UUID]) -> None:
    """Keep the named memories and what belongs to them, reject all others. Raises Invalid for unknown ids."""
    known = {item.uid for item in plan.items}
    check_known(plan.points.source_lineage, [uid for uid in ids if uid not in known])
    for item in plan.items:
        if not is_picked(plan, item):
            item.reject(NOT_PICKED)


def name_left_halves(plan: FullPlan) -> None:
    """Note at each fact that replaces another one, or is replaced, that the other one was not picked: the
    target then states both, or neither.
    """
    facts = {item.uid: item for item in plan.of_model(Fact)} if plan.picked is not None else {}
    for new in facts.values():
        old = facts.get(new.theirs.parent_id)
        if old is None or old.theirs.status != Fact.Status.SUPERSEDED:
            continue
        for taken, left in ((new, old), (old, new)):
            if taken.is_written and left.reason == NOT_PICKED:
                taken.left_half = left.uid, left.theirs.essence


def is_picked(plan: FullPlan, item: PlanItem) -> bool:
    """Return whether a memory comes along: named or a part of what is named, anything without a pick."""
    return plan.picked is None or item.uid in plan.picked or _belongs_to(item, plan.picked)


def check_known(source: Lineage, uids: Sequence[UUID]) -> None:
    """Raise Invalid for an id that the source has no memory of; one that is merged already is no mistake."""
    left = set(uids)
    for model in models_by_kind().values() if left else ():
        left -= load_nearest(model, source, sorted(left)).keys()
    if left:
        raise Invalid("The source has no change of {id}.", id=min(left), field="ids")


def _belongs_to(item: PlanItem, picked: Collection[UUID]) -> bool:
    """Return whether a memory is a part of picked ones: a message of its conversation, a link at its fact."""
    owners = item.theirs.owner_keys()
    return bool(owners) and owners[0][1] in picked


def count_own_commits(points: MergePoints) -> int:
    """Return how many commits the target has since the common ancestor that did not come from the source."""
    since = dict(points.ancestor).get(points.target.pk, 0)
    own = Commit.objects.filter(branch=points.target, seq__gt=since, seq__lte=points.target_seq)
    return own.exclude(kind=MERGE, source_branch=points.source).count()


# ---- conflicts -----------------------------------------------------------------------------------------


def decide_all(plan: FullPlan, choice: str) -> None:
    """Settle for one side every conflict that nobody decided."""
    edited = {item.other.uid for item in plan.items if is_edit_of_other(item, item.decision)}
    for item in plan.with_outcome(CONFLICT):
        if item.decision is None:
            replaces = choice == SOURCE and item.other is not None and item.other.uid in edited
            # What a decision has edited stays, and what would replace it arrives as another fact.
            one = Decision(item.uid, BOTH if replaces else choice, kind=item.kind)
            settle_item(plan, item, one)


def is_edit_of_other(item: PlanItem, decision: Decision | None) -> bool:
    """Return whether a decision edits the target's fact that an arriving one nearly equals."""
    return item.reason in SIMILAR and decision is not None and decision.choice == EDIT


def apply_decisions(plan: FullPlan, decisions: Sequence[Decision]) -> None:
    """Settle conflicts as decided. Raises Invalid, and Conflict for one that is another by now, or gone."""
    items = plan.index_items()
    changed = [str(one.uid) for _, one, _ in find_rivals(items, decisions)]
    for decision in decisions:
        item = items.get((decision.kind, decision.uid))
        if item is None or item.outcome != CONFLICT or decision.token not in ("", item.token):
            changed.append(str(decision.uid))
        else:
            settle_item(plan, item, decision)
    if changed:
        raise Conflict(
            "{count} of the conflicts that were decided have changed since: look at the plan again.",
            count=len(changed),
            changed=changed[:MAX_NAMED],
        )


def find_rivals(
    items: Mapping[tuple[str, UUID], PlanItem], decisions: Iterable[Decision]
) -> list[tuple[Decision, Decision, UUID]]:
    """Return pairs of decisions that cannot both hold, the later one second, and the fact that both change.

    Of two facts that nearly equal one of the target only one may edit it, and then none may replace it.
    """
    found, first = [], dict[UUID, Decision]()
    for one in decisions:
        item = items.get((one.kind, one.uid))
        if item is None or item.reason not in SIMILAR or one.choice not in (EDIT, SOURCE):
            continue
        other = first.setdefault(item.other.uid, one)
        if other is not one and EDIT in (other.choice, one.choice):
            found.append((other, one, item.other.uid))
    return found


def settle_item(plan: FullPlan, item: PlanItem, decision: Decision) -> None:
    """Work out what a decision writes. Raises Invalid for one that does not fit the conflict."""
    if decision.choice not in CHOICES:
        raise Invalid("{field} is one of {choices}.", field="choice", choices=", ".join(CHOICES))
    if decision.choice in (BOTH, EDIT) and item.model is not Fact:
        raise Invalid("Only facts can be kept both or edited: choose source, target or skip.", field="choice")
    item.decide(decision)
    settle = (_SIMILAR if item.reason in SIMILAR else _VERSIONS).get(decision.choice)
    if settle:
        settle(plan, item)


def _keep_target(plan: FullPlan, item: PlanItem) -> None:
    """Keep the target's side of a conflict: what is merged besides is the target's content already."""
    item.removes = item.ours.deleted
    if item.removed or item.merged is None:
        item.merged = item.ours.content_values()


def _take_source(plan: FullPlan, item: PlanItem) -> None:
    item.removes = item.theirs.deleted
    if item.removed or item.merged is None:
        item.merged = item.theirs.content_values()
    elif item.for_source is not None:
        item.merged = item.for_source


def _keep_both(plan: FullPlan, item: PlanItem) -> None:
    """Keep the target's version, and the source's as another fact that contests it."""
    if item.removed:
        raise Invalid("One side removed it: choose source, target or skip.", field="choice")
    _keep_target(plan, item)
    other = build_copy(item.theirs)
    plan.written += [other, _build_contest(item.uid, other.uid, item.theirs)]


def build_copy(row: Fact) -> Fact:
    """Return a version of a fact as a fact of its own: under a key only one can stand."""
    copy = Fact(uid=build_copy_uid(row.uid, row.vid), **{**row.content_values(), "path": None})
    copy.compute_hashes()
    return copy


def _edit_version(plan: FullPlan, item: PlanItem) -> None:
    row = item.theirs if item.ours.deleted else item.ours
    base = row.content_values() if item.removed or item.merged is None else item.merged
    item.merged, item.removes = _edit_content(row, base, item.decision), False


def _edit_content(row: Fact, content: dict[str, Any], decision: Decision | None) -> dict[str, Any]:
    assert decision is not None
    if not decision.text.strip():
        raise Invalid("{field} is needed.", field="text")
    text = clean_update({"fact_text": decision.text})["fact_text"]
    return complete_content(row, {**content, "fact_text": text, "essence": compute_essence(text)})


def _build_contest(one: UUID, other: UUID, row: Fact) -> FactLink:
    origin = {name: getattr(row, name) for name in ("session_id", "task_id", "agent_id")}
    return FactLink(from_id=one, to_id=other, link_type=FactLink.Type.CONTESTED_BY, **origin)


# ---- conflicts of two facts ----------------------------------------------------------------------------


def _drop_arriving(plan: FullPlan, item: PlanItem) -> None:
    item.merged, item.removes = item.theirs.content_values(), True


def _supersede_other(plan: FullPlan, item: PlanItem) -> None:
    """Let the arriving fact take the place of the target's."""
    item.removes = False
    item.merged = {**item.theirs.content_values(), "parent_id": item.theirs.parent_id or item.other.uid}
    item.other_content = {"status": Fact.Status.SUPERSEDED, "held_status": ""}


def _keep_both_facts(plan: FullPlan, item: PlanItem) -> None:
    item.merged, item.removes = item.theirs.content_values(), False
    if item.reason == CONTESTED:
        plan.written.append(_build_contest(item.other.uid, item.uid, item.theirs))


def _edit_other(plan: FullPlan, item: PlanItem) -> None:
    _drop_arriving(plan, item)
    content = _edit_content(item.other, item.other.content_values(), item.decision)
    # The rest stays as it is: others may bring tags and confidence to the same fact.
    item.other_content = {name: content[name] for name in ("fact_text", "essence")}


Settle = Callable[[FullPlan, PlanItem], None]
_VERSIONS: dict[str, Settle] = {
    SOURCE: _take_source,
    TARGET: _keep_target,
    BOTH: _keep_both,
    EDIT: _edit_version,
}
_SIMILAR: dict[str, Settle] = {
    SOURCE: _supersede_other,
    TARGET: _drop_arriving,
    BOTH: _keep_both_facts,
    EDIT: _edit_other,
}


def check_strategy(strategy: str, ids: Sequence[UUID]) -> str:
    """Return a known strategy. Raises Invalid, also for a pick of nothing."""
    if strategy not in STRATEGIES:
        raise Invalid("{field} is one of {choices}.", field="strategy", choices=", ".join(STRATEGIES))
    if strategy == CHERRY_PICK and not ids:
        raise Invalid("Name the memories to pick.", field="ids")
    if strategy != CHERRY_PICK and ids:
        raise Invalid("Only the strategy cherry_pick takes ids.", field="ids")
    return strategy


@dataclass(frozen=True)
class MergeOptions:
    """Options of one merge; ``request`` is the merge request that it belongs to, if any."""

    source: Branch
    target: Branch
    strategy: str = AUTO
    ids: tuple[UUID, ...] = ()
    decisions: tuple[Decision, ...] = ()
    request: MergeRequest | None = None

    @property
    def points(self) -> MergePoints:
        """Return both branches at their heads."""
        source, target = self.source, self.target
        return MergePoints(source.project_id, source, source.head, target, target.head)

    @property
    def state(self) -> tuple[int, int, tuple[Decision, ...]]:
        """Return what the checks of a merge depend on: both heads and the decisions."""
        return self.source.head, self.target.head, self.decisions


def require_on_target(actor: Actor, scope: str, target: str) -> None:
    """Check the scope for a merge; admin, which forces one, sets aside the policy that binds all agents.

    Raises ScopeMissing, BranchForbidden, AgentForbidden.
    """
    actor.require_scope(scope, target)
    if scope == "admin":
        actor.require_every_agent()


def find_branches(actor: Actor, source: str, target: str) -> tuple[Branch, Branch]:
    """Return the two branches of a merge.

    Raises BranchNotFound, BranchArchived, and Conflict for a branch that is to be merged into itself.
    """
    if source == target:
        raise Conflict("A branch cannot be merged into itself.")
    branches = find_branch(actor, source), find_branch(actor, target)
    check_live(*branches)
    return branches


def check_live(*branches: Branch) -> None:
    """Check that no branch is archived. Raises BranchArchived."""
    for branch in branches:
        if branch.archived_at:
            raise BranchArchived(name=branch.name)


def parse_strategy(strategy: str, ids: Sequence[Any]) -> tuple[str, tuple[UUID, ...]]:
    """Return the checked strategy and ids, which belong to cherry_pick alone. Raises Invalid."""
    if len(ids) > MAX_IDS:
        raise Invalid("{field} has at most {most} entries.", field="ids", most=MAX_IDS)
    found = tuple(dict.fromkeys(c.parse_uuid(f"ids[{index}]", uid) for index, uid in enumerate(ids)))
    return check_strategy(strategy, found), found
