"""Serializers of merges: plans, checks, requests and their decisions."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers as s

from memory.answers import commits as commit_shapes
from memory.answers.branches import side_value
from memory.answers.declared_serializers import AnswerShape, declare_fields, request_field
from memory.answers.rendering import build_renderer, format_time, page_shape
from memory.answers.requests import Stated
from memory.engines.fields.base import Use
from memory.engines.fields.merges import CHOICE, DECISIONS, FORCE, IDS, MERGE_REQUEST, MESSAGE, STRATEGY
from memory.engines.merging.checked_merge import MergeResult
from memory.engines.merging.engine import MergePreview
from memory.engines.merging.gates import FAILED, HIDDEN, PASSED, WARNING
from memory.engines.merging.plan import CLASSES, CONFLICT, PlanItem
from memory.engines.merging.plan_pages import MergePlan
from memory.engines.merging.request_results import MergedRequest, RequestCheck, RequestPlan, Settled
from memory.models import BranchedModel, MergeDecision, MergeRequest

CHOICES = list(CHOICE.choices)
CLASS_CHOICES = [(name, name) for name in CLASSES]


# ---- requests ------------------------------------------------------------------------------------------


@declare_fields((MESSAGE, FORCE))
class MergeInput(Stated):
    """A merge of the branch into another."""

    target = s.CharField(max_length=200, required=False, help_text="main when it is not given.")
    into = s.CharField(max_length=200, required=False, help_text="Another name of target.")
    strategy = request_field(STRATEGY)
    ids = request_field(IDS)
    decisions = request_field(DECISIONS)
    dry_run = s.BooleanField(required=False, help_text="true shows the plan, and does nothing.")
    type = s.CharField(max_length=20, required=False, help_text="Of a plan: only this kind of memory.")
    # The request's ``class`` is a word of Python.
    limit = s.IntegerField(min_value=1, max_value=100, required=False, help_text="Of a plan.")
    cursor = s.CharField(max_length=500, required=False, help_text="Of a plan.")

    def get_fields(self) -> dict[str, s.Field]:
        child = s.ChoiceField(choices=CLASS_CHOICES)
        return {
            **super().get_fields(),
            "class": s.ListField(child=child, required=False, help_text="Of a plan: only these classes."),
        }


# ---- answers -------------------------------------------------------------------------------------------


class CheckShape(s.Serializer):
    """The result of a gate, or of the approvals."""

    name = s.CharField()
    state = s.ChoiceField(
        choices=[(name, name) for name in (PASSED, WARNING, FAILED, HIDDEN)],
        help_text="hidden from who may not read the target, where it depends on what that holds.",
    )
    reason = s.CharField()
    count = s.IntegerField(help_text="How many memories it is about.")
    ids = s.ListField(child=s.UUIDField(), help_text="The first 20 of them.")
    link = s.CharField(help_text="The query of the plan that shows them.")


class MadeDecisionShape(s.Serializer):
    """A decision on a conflict."""

    choice = s.ChoiceField(choices=CHOICES)
    text = s.CharField()
    by = s.CharField()
    at = s.DateTimeField(allow_null=True)
    counts = s.BooleanField(
        help_text="false when the conflict has changed since, or another one has to be decided first."
    )


CLASS_HIDDEN = '"", as the reason, for who may not read the target.'


class PlanItemShape(s.Serializer):
    """One memory that the source changed, and what the merge does with it."""

    id = s.UUIDField(source="uid")
    type = s.CharField(source="kind")
    reason = s.CharField(help_text="Which conflict it is, or why it is rejected.")
    token = s.CharField(help_text="Names both versions: send it with a decision.")
    base = s.DictField(allow_null=True, help_text="As both, and where they differ the source, had it last.")
    ours = s.DictField(allow_null=True, help_text="As the target shows it.")
    theirs = s.DictField(allow_null=True, help_text="As the source shows it.")
    conflicting = s.ListField(
        child=s.CharField(),
        help_text="The fields that a decision settles, such as fact_text or metadata.owner; all others are "
        "merged. None where all is in conflict.",
    )
    disagreed = s.DictField(
        child=s.ListField(),
        help_text="Of fields about which both last agreed to different values: [the target's, the source's].",
    )
    other = s.DictField(allow_null=True, help_text="The target's fact that it is nearly equal to.")
    score = s.FloatField(allow_null=True, help_text="How near: the cosine of both texts.")
    left_half = s.UUIDField(
        allow_null=True,
        help_text="The fact that it replaces, or that replaces it, where a cherry_pick leaves that one out.",
    )
    decision = MadeDecisionShape(allow_null=True)

    def get_fields(self) -> dict[str, s.Field]:
        """Return the fields, also two that are words of Python and of serializers: ``class``, ``fields``."""
        found = list(super().get_fields().items())
        kind = s.ChoiceField(
            choices=CLASS_CHOICES, source="outcome", allow_blank=True, help_text=CLASS_HIDDEN
        )
        text = "Of what differs: [base, ours, theirs, merged]."
        sides = s.DictField(child=s.ListField(), help_text=text)
        return dict([*found[:2], ("class", kind), *found[2:7], ("fields", sides), *found[7:]])


def count_field() -> s.Field:
    """Return the field of a plan's counts."""
    text = "By type and class; empty for who may not read the target."
    return s.DictField(child=s.DictField(child=s.IntegerField()), help_text=text)


OPEN_CONFLICTS = "Conflicts that are left without a decision, or were skipped."


class MergePlanShape(s.Serializer):
    source_seq = s.IntegerField()
    target = s.CharField(source="target.name")
    target_seq = s.IntegerField()
    strategy = s.ChoiceField(choices=MergeRequest.Strategy.choices)
    counts = count_field()
    open_conflicts = s.IntegerField(
        allow_null=True, help_text=f"{OPEN_CONFLICTS} null for who may not read the target."
    )
    unchecked = s.IntegerField(help_text="Facts without a vector: they were compared with no other.")
    unchecked_reason = s.CharField(help_text="Why: they wait for it, or there is no embedder.")
    results = PlanItemShape(many=True)
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)

    def get_fields(self) -> dict[str, s.Field]:
        """Return the fields; ``source`` is a word of serializers too."""
        return {"source": s.CharField(source="source.name"), **super().get_fields()}


class MergeShape(MergePlanShape):
    """A merge, or its plan with dry_run."""

    source_seq = s.IntegerField(allow_null=True, help_text="null when there was nothing to do.")
    target_seq = s.IntegerField(allow_null=True)
    checks = CheckShape(
        many=True, help_text="What the policy of the target says; after a merge as it was then."
    )
    mergeable = s.BooleanField(help_text="Whether all checks pass; false after a merge that was forced.")
    commit = commit_shapes.CommitShape(allow_null=True, help_text="null for a plan, or with nothing to do.")

    def get_fields(self) -> dict[str, s.Field]:
        return {"dry_run": s.BooleanField(), **super().get_fields()}


@declare_fields(MERGE_REQUEST.select_fields(Use.ANSWER))
class MergeRequestShape(AnswerShape):
    """A merge request."""


class ApprovalShape(s.Serializer):
    actor_kind = s.CharField(source="row.actor_kind")
    actor_id = s.CharField(source="row.actor_id")
    actor_label = s.CharField(source="row.actor_label")
    at = s.DateTimeField(source="row.at")
    source_seq = s.IntegerField(source="row.source_seq")
    counts = s.BooleanField(
        help_text="false when it is outdated, or the author's where the policy wants another."
    )
    outdated = s.BooleanField(help_text="The source has a newer commit since, or a decision was made.")


class MergeRequestDetailShape(MergeRequestShape):
    """A merge request with its approvals; while it is pending, with its checks."""

    approvals = ApprovalShape(many=True)
    checks = CheckShape(many=True)
    not_checked = s.CharField(
        help_text='Why there are no checks: it is closed, or a branch is archived; "" otherwise.'
    )
    mergeable = s.BooleanField(
        allow_null=True,
        help_text="Whether all checks pass; false without any; null where no check fails and one is hidden.",
    )
    counts = count_field()
    decided_at = s.DateTimeField(
        allow_null=True,
        help_text="When a decision was last made or taken back, else when it was opened; null where hidden.",
    )


class SettledShape(MergeRequestShape):
    """A merge request after decisions."""

    decided = s.IntegerField()
    undecided = s.IntegerField(help_text="Conflicts that are left.")
    decided_at = s.DateTimeField(
        allow_null=True, help_text="Names these decisions where they are taken back; null without any."
    )


class MergedShape(MergeRequestShape):
    """A merged request."""

    commit = commit_shapes.CommitShape()
    open_conflicts = s.IntegerField(help_text=OPEN_CONFLICTS)


# ---- rendering -----------------------------------------------------------------------------------------

_request = build_renderer(MergeRequestShape, "source", "target")
_approval = build_renderer(ApprovalShape)
check_shape = build_renderer(CheckShape)
_plan = build_renderer(MergePlanShape, "results", "next", "previous")
_decision = build_renderer(MadeDecisionShape, "counts")
_item = build_renderer(
    PlanItemShape,
    *"base ours theirs fields conflicting disagreed other token left_half decision".split(),
)


def request_shape(row: MergeRequest) -> dict[str, Any]:
    return _request(row, source=row.source.name, target=row.target.name)


def detail_shape(found: RequestCheck) -> dict[str, Any]:
    check = found.check
    points = found.view.points if found.view else found.request
    seqs = {name: getattr(points, name) for name in ("source_seq", "target_seq")}
    return {
        **request_shape(found.request),
        **seqs,
        "approvals": [_approval(one) for one in found.approvals],
        "checks": [check_shape(one) for one in check.results] if check else [],
        "not_checked": found.not_checked,
        "mergeable": check.mergeable if check else False,
        "counts": found.view.counts if found.view else {},
        "decided_at": format_time(found.request.decided_or_opened_at if found.view else None),
    }


def settled_shape(found: Settled) -> dict[str, Any]:
    counts = {"decided": found.decided, "undecided": found.undecided}
    return {**request_shape(found.request), **counts, "decided_at": format_time(found.decided_at)}


def merged_shape(done: MergedRequest) -> dict[str, Any]:
    result = done.result
    assert result.commit is not None, "a request that changes nothing is refused"
    commit = commit_shapes.commit(result.commit)
    return {**request_shape(done.request), "commit": commit, "open_conflicts": result.open_conflicts}


def version_fields(row: BranchedModel | None) -> dict[str, Any] | None:
    """Render a version of any kind of memory: its content, without what is computed from it."""
    if row is None:
        return None
    unseen = row.KIND.derived | row.KIND.unseen
    values = {name: side_value(value) for name, value in row.content_values().items() if name not in unseen}
    return {"id": str(row.uid), "deleted": row.deleted, **values}


def item_shape(item: PlanItem, decision: MergeDecision | None = None) -> dict[str, Any]:
    versions = {name: version_fields(getattr(item, name)) for name in ("ours", "theirs", "other")}
    computed = {
        "base": version_fields(item.build_base()),
        "fields": _list_sides(item.fields),
        "conflicting": list(item.conflicting) if item.outcome == CONFLICT else [],
        "disagreed": _list_sides(item.disagreed),
        "left_half": str(item.left_half[0]) if item.left_half else None,
        "token": item.token if item.outcome == CONFLICT else "",
    }
    return _item(item, **versions, **computed, decision=decision_shape(item, decision))


def _list_sides(fields: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: [side_value(value) for value in sides] for name, sides in fields.items()}


def decision_shape(item: PlanItem, row: MergeDecision | None) -> dict[str, Any] | None:
    """Render what was decided: as it was stored with a request, else as it came with the merge."""
    if row is not None:
        return _decision(row, counts=row.token == item.token and item.decision is not None)
    if item.decision is None:
        return None
    return {"choice": item.decision.choice, "text": item.decision.text, "by": "", "at": None, "counts": True}


def plan_shape(plan: MergePlan, decisions: Mapping[tuple[str, UUID], MergeDecision]) -> dict[str, Any]:
    return _plan(plan, **page_shape(plan.page, lambda item: item_shape(item, decisions.get(item.key))))


def request_plan_shape(found: RequestPlan) -> dict[str, Any]:
    return plan_shape(found.plan, found.decisions)


def preview_shape(found: MergePreview) -> dict[str, Any]:
    checks = [check_shape(one) for one in found.check.results]
    rest = {"checks": checks, "mergeable": found.check.mergeable, "commit": None}
    return in_order(MergeShape, {"dry_run": True, **plan_shape(found.plan, {}), **rest})


def result_shape(result: MergeResult, source: str, target: str, strategy: str) -> dict[str, Any]:
    """Render a merge in the shape of its plan, without the memories."""
    commit = result.commit
    seqs = {"source_seq": commit and commit.source_seq, "target_seq": commit and commit.seq - 1}
    head = {"dry_run": False, "source": source, "target": target, "strategy": strategy, **seqs}
    counts = {"counts": result.counts, "open_conflicts": result.open_conflicts}
    page = {"unchecked": 0, "unchecked_reason": "", "results": [], "next": None, "previous": None}
    checks = [check_shape(one) for one in result.check.results]
    passed = {"checks": checks, "mergeable": result.check.mergeable}
    rest = {**passed, "commit": commit_shapes.commit(commit) if commit else None}
    return in_order(MergeShape, {**head, **counts, **page, **rest})


def in_order(shape: type[s.Serializer], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values in the order of the shape's fields."""
    return {name: values[name] for name in shape().get_fields()}
