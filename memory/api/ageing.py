"""/ageing: what has aged on a branch and why, the run that archives it, the runs, and the pressure."""

import sys
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import commits as commit_shapes
from memory.answers import facts as shapes
from memory.answers.declared_serializers import request_field
from memory.answers.rendering import build_renderer, format_time, page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, PAGING, document_routes, page, route
from memory.engines.facts.ageing.engine import MAX_IDS, AgedFact, AgeingEngine, AgeingPreview
from memory.engines.facts.ageing.rules import REASONS, Worth
from memory.engines.fields.common import EXPECTED_VERSIONS
from memory.engines.versions.lookup import MAIN
from memory.operations.inputs import Input, parse_id, parse_ids, parse_names, parse_versions

ageing_engine = AgeingEngine()
REASON_CHOICES = [(reason.value, reason.label) for reason in REASONS]


class WorthShape(s.Serializer):
    """What a fact is worth, by its parts; ``total`` is their sum."""

    priority = s.FloatField(help_text="0.3 for P1, a quarter less for each one down.")
    confidence = s.FloatField(help_text="0.2 times the confidence.")
    belief = s.FloatField(help_text="0.2 when it is verified, 0.1 when it is not, 0 when it is invalidated.")
    recency = s.FloatField(
        help_text="0.3, halved for each 30 days since its last recall, change or confirmation."
    )
    total = s.FloatField()


class AgedFactShape(s.Serializer):
    """A fact, and why it goes or has gone."""

    reason = s.ChoiceField(choices=REASON_CHOICES)
    since = s.DateTimeField(allow_null=True, help_text="When the reason began to hold; null for the budget.")
    worth = WorthShape(allow_null=True, help_text="null in the list of what a run archived.")
    fact = shapes.FactShape()


class PreviewShape(s.Serializer):
    """What a run would archive now, with a page of the facts; nothing is written."""

    branch = s.CharField()
    total = s.IntegerField(help_text="Facts of the branch's own that are in use.")
    budget = s.IntegerField(allow_null=True)
    count = s.IntegerField(help_text="How many would be archived, on all pages.")
    counts = s.DictField(child=s.IntegerField(), help_text="Reason -> how many.")
    kept = s.DictField(child=s.IntegerField(), help_text="Why facts are left that would go -> how many.")
    blocked_by = s.IntegerField(
        allow_null=True, help_text="The number of an open merge request from the branch: nothing ages there."
    )
    results = AgedFactShape(many=True)
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)


class RunShape(s.Serializer):
    """What a run archived."""

    commit = commit_shapes.CommitShape(
        allow_null=True, help_text="Reverting it undoes the run; null without any."
    )
    count = s.IntegerField()
    counts = s.DictField(child=s.IntegerField(), help_text="Reason -> how many.")
    remaining = s.IntegerField(help_text="How many wait for another run: a commit has at most 5,000.")
    changed_meanwhile = s.IntegerField(help_text="How many were changed while the run began, and are left.")


class PastRunShape(commit_shapes.CommitShape):
    """A run: its commit, how many it archived for each reason, and whether it is undone."""

    reasons = s.DictField(child=s.IntegerField())
    undone = s.BooleanField()


class PressureShape(s.Serializer):
    """How full a branch is: facts in use against its budget, and what would go."""

    branch = s.CharField()
    facts = s.IntegerField(help_text="Facts of the branch's own that are in use.")
    budget = s.IntegerField(allow_null=True)
    share = s.FloatField(allow_null=True, help_text="Facts through budget; above 1 it is over.")
    counts = s.DictField(child=s.IntegerField(), help_text="Reason -> how many a run would archive now.")
    next = AgedFactShape(many=True, help_text="What the budget would take after those; without one, nothing.")


class PreviewInput(s.Serializer):
    """Which branch to look at, and what of it, as for a run."""

    branch = s.CharField(default=MAIN, max_length=200)
    reasons = s.ListField(child=s.ChoiceField(choices=REASON_CHOICES), required=False)
    fact_ids = s.ListField(child=s.UUIDField(), required=False, max_length=MAX_IDS)
    exclude = s.ListField(child=s.UUIDField(), required=False, max_length=MAX_IDS)
    limit = s.IntegerField(min_value=1, max_value=100, default=50)
    cursor = s.CharField(required=False, max_length=500)


class RunInput(s.Serializer):
    """What to archive; without more than the branch, all that has aged."""

    branch = s.CharField(default=MAIN, max_length=200)
    reasons = s.ListField(child=s.ChoiceField(choices=REASON_CHOICES), required=False)
    fact_ids = s.ListField(
        child=s.UUIDField(), required=False, max_length=MAX_IDS, help_text="Only these, as far as they aged."
    )
    exclude = s.ListField(child=s.UUIDField(), required=False, max_length=MAX_IDS, help_text="Not these.")
    expected_versions = request_field(EXPECTED_VERSIONS)
    session_id = s.CharField(required=False, max_length=200)
    task_id = s.CharField(required=False, max_length=200)
    agent_id = s.CharField(required=False, max_length=200)


ROUTES = {
    "AgeingViewSet": {
        "preview_ageing": route("Show what has aged on a branch, and why", {200: PreviewShape}, PreviewInput),
        "run_ageing": route("Archive what has aged on a branch", {200: RunShape}, RunInput),
        "read_pressure": route("How full a branch is", {200: PressureShape}, None, [BRANCH]),
        "list_runs": route(
            "List the runs of a branch, newest first", {200: page(PastRunShape)}, None, [BRANCH, *PAGING]
        ),
        "list_archived": route("List what a run archived, and why", {200: page(AgedFactShape)}, None, PAGING),
    }
}
_past_run = build_renderer(PastRunShape)


@serve_at("ageing", "ageing")
@document_routes(ROUTES, sys.modules[__name__])
class AgeingViewSet(ResourceViewSet):
    @action(detail=False, methods=["post"], url_path="preview")
    def preview_ageing(self, request: Request) -> Response:
        payload = Input(request)
        where: dict[str, Any] = {"branch_name": payload.take_branch(), **payload.take_paging()}
        where |= take_selection(payload)
        payload.refuse_unknown()
        found = ageing_engine.preview_ageing(actor=get_request_actor(request), **where)
        return Response(preview_shape(found))

    @action(detail=False, methods=["post"], url_path="run")
    def run_ageing(self, request: Request) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        options = {
            "branch_name": payload.take_branch(),
            **take_selection(payload),
            "expected_versions": payload.take_value("expected_versions", parse_versions),
        }
        payload.refuse_unknown()
        done = ageing_engine.run_ageing(actor=actor, **options)
        return Response(
            {
                "commit": done.commit and commit_shapes.commit(done.commit),
                "count": done.count,
                "counts": done.counts,
                "remaining": done.remaining,
                "changed_meanwhile": done.changed_meanwhile,
            }
        )

    @action(detail=False, methods=["get"], url_path="pressure")
    def read_pressure(self, request: Request) -> Response:
        payload = Input(request)
        branch = payload.take_branch()
        payload.refuse_unknown()
        found = ageing_engine.get_pressure(actor=get_request_actor(request), branch_name=branch)
        plain = {"branch": branch, "facts": found.facts, "budget": found.budget, "share": found.share}
        return Response({**plain, "counts": found.counts, "next": list(map(aged_shape, found.next))})

    @extend_schema(operation_id="ageing_runs_list")  # else it is called as one run
    @action(detail=False, methods=["get"], url_path="runs")
    def list_runs(self, request: Request) -> Response:
        payload = Input(request)
        where: dict[str, Any] = {"branch_name": payload.take_branch(), **payload.take_paging()}
        payload.refuse_unknown()
        return Response(
            page_shape(ageing_engine.list_runs(actor=get_request_actor(request), **where), _past_run)
        )

    @action(detail=False, methods=["get"], url_path="runs/(?P<commit_id>[^/]+)")
    def list_archived(self, request: Request, commit_id: str) -> Response:
        payload, run_id = Input(request), parse_id(commit_id)
        paging = payload.take_paging()
        payload.refuse_unknown()
        found = ageing_engine.list_archived(commit_id=run_id, actor=get_request_actor(request), **paging)
        return Response(page_shape(found, aged_shape))


def take_selection(payload: Input) -> dict[str, Any]:
    """Return what of a branch is wanted. Raises Invalid."""
    return {
        "reasons": payload.take_value("reasons", parse_names, []),
        "fact_ids": payload.take_value("fact_ids", parse_ids),
        "exclude": payload.take_value("exclude", parse_ids, []),
    }


def preview_shape(found: AgeingPreview) -> dict[str, Any]:
    return {
        "branch": found.branch.name,
        "total": found.total,
        "budget": found.rules.budget,
        "count": found.count,
        "counts": found.counts,
        "kept": found.kept,
        "blocked_by": found.blocked_by,
        **page_shape(found.page, aged_shape),
    }


def aged_shape(one: AgedFact) -> dict[str, Any]:
    worth = one.worth._asdict() if isinstance(one.worth, Worth) else None
    fact = shapes.fact(one.fact, branch=one.fact.branch.name)
    return {"reason": one.reason, "since": format_time(one.since), "worth": worth, "fact": fact}
