"""Decisions on the conflicts of a merge request: checked against the plan, stored, and given to the merge."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.utils.translation import gettext_noop as _

from memory.actors import Actor
from memory.db.companions import fetch_all
from memory.engines.fields.merges import CHOICE, DECISION, MAX_DECISIONS, TEXT
from memory.engines.merging.builder import draft_plan, finish_plan
from memory.engines.merging.changes import is_touched
from memory.engines.merging.pairs import Compared
from memory.engines.merging.plan import CONFLICT, CONFLICT_REASONS, Decision, FullPlan, MergePoints, PlanItem
from memory.engines.merging.strategies import MergeOptions, find_rivals
from memory.engines.support import validation as c
from memory.engines.support.batches import batched
from memory.engines.support.usage import count_rows
from memory.engines.versions.kinds import models_by_kind
from memory.exceptions import Conflict, Invalid, UnknownField
from memory.models import MergeDecision, MergeRequest

Choice = MergeDecision.Choice
Key = tuple[str, Any]  # kind and uid of a conflict
DECISIONS_CHANGED = _("The decisions on merge request {number} changed meanwhile: look at them again.")
DECISION_FIELDS = {one.name: one.type.build_check() for one in DECISION.fields}
DECISION_COLUMNS = ("uid", "choice", "token", "text", "kind")
MAX_NAMED = 20  # conflicts that a refusal shows
BATCH_SIZE = 500


def load_plan(options: MergeOptions, points: MergePoints, compared: Compared | None = None) -> FullPlan:
    """Return the whole plan at some points, with the decisions that still hold. What was ``compared`` at
    these points need not be compared again. Raises Conflict as ``settle_plan``.
    """
    return settle_plan(options, draft_plan(points, compared))


def settle_plan(options: MergeOptions, draft: FullPlan) -> FullPlan:
    """Return the plan that the strategy and the decisions that still hold make of a draft.

    Decisions that came with the merge are refused when a conflict has changed since; those of a request are
    left out, so that the conflict is undecided again. Raises Conflict.
    """
    strategy, ids = options.strategy, options.ids
    try:
        return finish_plan(draft, strategy, ids, options.decisions)
    except Conflict as error:
        if "changed" not in error.data:
            raise
    bare = finish_plan(draft, strategy, ids)
    if options.request is None:
        refuse_outdated(bare, options.decisions)
        refuse_rivals(bare, options.decisions)
    return finish_plan(draft, strategy, ids, select_current(bare, options.decisions))


def index_conflicts(plan: FullPlan) -> dict[Key, PlanItem]:
    """Return the conflicts of a plan by kind and id."""
    return {item.key: item for item in plan.with_outcome(CONFLICT)}


def load_decisions(request: MergeRequest) -> tuple[Decision, ...]:
    """Return what was decided about a request's conflicts."""
    rows = sorted(fetch_all(MergeDecision, request=request.pk), key=attrgetter("pk"))
    return tuple(Decision(*(getattr(row, name) for name in DECISION_COLUMNS)) for row in rows)


def check_decided(request: MergeRequest, decisions: Sequence[Decision]) -> None:
    """Check that the decisions on a request are those that were checked. Raises Conflict."""
    if load_decisions(request) != tuple(decisions):
        raise Conflict(DECISIONS_CHANGED, number=request.number)


def check_undecided_since(request: MergeRequest, decided_at: datetime | None) -> None:
    """Check that no decision changed since they were read, where that is said. Raises Conflict."""
    if decided_at not in (None, request.decided_or_opened_at):
        raise Conflict(DECISIONS_CHANGED, number=request.number)


def check_decisions(decisions: Sequence[Decision]) -> list[Decision]:
    """Return checked decisions, up to a thousand. Raises Invalid."""
    if len(decisions) > MAX_DECISIONS:
        raise Invalid("{field} has at most {most} entries.", field="decisions", most=MAX_DECISIONS)
    return [check_decision(one, index) for index, one in enumerate(decisions)]


def check_decision(decision: Decision, index: int) -> Decision:
    """Return a checked decision. Raises Invalid for a choice without its text, or a text without its use."""
    choice = CHOICE.build_check()(f"decisions[{index}].choice", decision.choice)
    text = TEXT.check(f"decisions[{index}].text", decision.text)
    if (choice == Choice.EDITED) != bool(text.strip()):
        raise Invalid(
            "A text belongs to the choice edited, and to no other.", field=f"decisions[{index}].text"
        )
    return Decision(decision.uid, choice, decision.token, text, decision.kind)


def parse_decisions(name: str, value: Any) -> list[Decision]:
    """Parse a list of decisions. Raises Invalid, UnknownField."""
    if not isinstance(value, list | tuple):
        raise Invalid("{field} must be a list of objects.", field=name)
    return [parse_decision(f"{name}[{index}]", item) for index, item in enumerate(value)]


def parse_decision(name: str, value: Any) -> Decision:
    """Parse a decision, which Python makes itself."""
    if isinstance(value, Decision):
        return value
    if not isinstance(value, dict):
        raise Invalid("{field} must be an object.", field=name)
    for key in value.keys() - DECISION_FIELDS.keys():
        field = f"{name}.{key}"
        raise UnknownField(field=field)
    found = {key: DECISION_FIELDS[key](f"{name}.{key}", part) for key, part in value.items()}
    for key in ("id", "choice"):
        if key not in found:
            raise Invalid("{field} is needed.", field=f"{name}.{key}")
    return Decision(
        found["id"], found["choice"], found.get("token", ""), found.get("text", ""), found.get("type", "fact")
    )


def check_given(decisions: Any, choice: str) -> list[Decision]:
    """Return checked decisions; there are some, or else a rule. Raises Invalid."""
    if bool(decisions) == bool(choice):
        raise Invalid("Give decisions, or a choice for all conflicts of a kind.", field="decisions")
    if choice:
        CHOICE.build_check()("choice", choice)
    return check_decisions(parse_decisions("decisions", decisions))


def bind_decisions(decisions: Sequence[Decision], plan: FullPlan) -> list[Decision]:
    """Return the decisions with the tokens of the plan. Raises Conflict where a conflict has changed since,
    or is none any more, and Invalid where there was none.
    """
    conflicts = index_conflicts(plan)
    refuse_outdated(plan, decisions)
    return [
        Decision(one.uid, one.choice, conflicts[one.kind, one.uid].token, one.text, one.kind)
        for one in keep_latest(decisions)
    ]


def keep_latest(decisions: Iterable[Decision]) -> tuple[Decision, ...]:
    """Return one decision for each conflict, the last that was given."""
    return tuple({(one.kind, one.uid): one for one in decisions}.values())


def refuse_outdated(plan: FullPlan, decisions: Iterable[Decision]) -> None:
    """Refuse decisions on conflicts that changed since, with the conflicts as they are now. Raises
    Conflict, and Invalid for an id that no conflict can have had.
    """
    conflicts, items, decided = index_conflicts(plan), plan.index_items(), list(decisions)
    for index, one in enumerate(decided):
        if (one.kind, one.uid) not in items:
            check_id(plan, one, index)
    outdated = [one for one in decided if not is_current(one, conflicts)]
    if outdated:
        present = [conflicts.get((one.kind, one.uid)) for one in outdated[:MAX_NAMED]]
        raise Conflict(
            "Conflicts changed since they were decided: {count}. Decide them again.",
            count=len(outdated),
            ids=[str(one.uid) for one in outdated[:MAX_NAMED]],
            conflicts=[describe_conflict(item) for item in present if item],
        )


def refuse_rivals(plan: FullPlan, decisions: Iterable[Decision]) -> None:
    """Refuse two decisions of which each changes the same fact of the target in its way. Raises Invalid."""
    for one, two, other in find_rivals(plan.index_items(), decisions):
        raise Invalid(
            "{one} and {two} both change fact {other} of the target: where one decision edits it, choose"
            " target, both or skip for the other.",
            one=one.uid,
            two=two.uid,
            other=other,
            field="decisions",
        )


def check_id(plan: FullPlan, decision: Decision, index: int) -> None:
    """Check that the source changed the memory that a decision is on. Raises Invalid.

    One that it changed may have been in conflict before, and settled by another merge.
    """
    model = models_by_kind().get(decision.kind)
    if model is None or not is_touched(model, plan.points, decision.uid):
        raise Invalid(
            "There is no conflict about {kind} {id}: the source has no change of it.",
            kind=decision.kind,
            id=decision.uid,
            field=f"decisions[{index}].id",
        )


def is_current(decision: Decision, conflicts: dict[Key, PlanItem]) -> bool:
    """Return whether a decision is on a conflict as it is now; without a token it is on any state of it."""
    item = conflicts.get((decision.kind, decision.uid))
    return item is not None and decision.token in ("", item.token)


def select_current(plan: FullPlan, decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions on conflicts that are still as they were; of rivals, which two people may have
    made at once, the earlier one.
    """
    conflicts = index_conflicts(plan)
    found = [one for one in decisions if is_current(one, conflicts)]
    while rivals := find_rivals(conflicts, found):
        found = leave_out(found, [later for _, later, _ in rivals])
    return found


def leave_out(decisions: Iterable[Decision], others: Iterable[Decision]) -> list[Decision]:
    """Return the decisions on other conflicts than these."""
    keys = {(one.kind, one.uid) for one in others}
    return [one for one in decisions if (one.kind, one.uid) not in keys]


def join_decisions(
    plan: FullPlan, earlier: Iterable[Decision], later: Iterable[Decision]
) -> tuple[Decision, ...]:
    """Return the later decisions, and the earlier ones that still hold on other conflicts."""
    return keep_latest([*select_current(plan, earlier), *later])


def describe_conflict(item: PlanItem) -> dict[str, str]:
    return {"type": item.kind, "id": str(item.uid), "reason": item.reason, "token": item.token}


def apply_rule(
    plan: FullPlan,
    choice: str,
    reasons: Sequence[str],
    kind: str,
    earlier: Sequence[Decision] = (),
    only_open: bool = False,
) -> list[Decision]:
    """Return the same decision for all conflicts of some reasons and of one kind; for all without any.

    Left out are those that were decided, with ``only_open``, and those whose decision could not hold beside
    an earlier one that stays. Raises Invalid for what is no reason or kind.
    """
    if choice == Choice.EDITED:
        raise Invalid("A text settles one conflict: a rule takes no choice edited.", field="choice")
    for reason in reasons:
        c.one_of(CONFLICT_REASONS)("reasons", reason)
    c.blank_or(c.one_of(models_by_kind()))("type", kind)
    conflicts = index_conflicts(plan)
    chosen = [
        Decision(item.uid, choice, item.token, "", item.kind)
        for item in conflicts.values()
        if (not reasons or item.reason in reasons) and kind in ("", item.kind)
    ]
    found = leave_out(chosen, earlier) if only_open else chosen
    rivals = find_rivals(conflicts, [*leave_out(earlier, found), *found])
    return leave_out(found, [later for _, later, _ in rivals])


def store_decisions(request: MergeRequest, decisions: Sequence[Decision], actor: Actor, at: datetime) -> None:
    """Store decisions; the latest on a conflict replaces an earlier one."""
    for batch in batched(decisions, BATCH_SIZE):
        keys = {(one.kind, one.uid) for one in batch}
        earlier = request.decisions.filter(uid__in=[one.uid for one in batch])
        replaced = [pk for pk, *key in earlier.values_list("pk", "kind", "uid") if tuple(key) in keys]
        MergeDecision.objects.filter(pk__in=replaced).delete()
        rows = [
            MergeDecision(
                request=request,
                kind=one.kind,
                uid=one.uid,
                token=one.token,
                choice=one.choice,
                text=one.text,
                by=actor.label,
                by_kind=actor.kind,
                at=at,
            )
            for one in batch
        ]
        MergeDecision.objects.bulk_create(rows)
        count_rows(actor.project_id, rows)
