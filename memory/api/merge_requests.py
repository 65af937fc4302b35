"""/merge-requests: open, list, read, plan, decide, approve, reject, merge, revert."""

import sys
from typing import Any
from uuid import UUID

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import merges as m
from memory.answers.rendering import page_shape
from memory.answers.requests import StatedInput
from memory.api.base import ResourceViewSet, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import PAGING, document_routes, list_filter_parameters, page, paging_by, query, route
from memory.engines.fields.base import Use
from memory.engines.fields.merges import MERGE_REQUEST
from memory.engines.fields.orders import MERGE_REQUESTS
from memory.engines.merging.plan import CLASSES
from memory.engines.merging.requests import MergeRequestEngine
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.filters import MergeRequestFilterSet
from memory.operations.inputs import Input, parse_id, parse_integer, parse_names
from memory.operations.merge_inputs import parse_decisions, take_force, take_page

merge_request_engine = MergeRequestEngine()
REQUEST, DETAIL = m.MergeRequestShape, m.MergeRequestDetailShape
PLAN_FILTERS = [
    query("type", {"type": "string", "maxLength": 20}, "Only this kind of memory."),
    query("class", {"type": "array", "items": {"type": "string", "enum": list(CLASSES)}}, "Only these."),
]
DECIDED = [
    query("id", {"type": "string", "format": "uuid"}, "The memory that was decided."),
    query(
        "decided_at",
        {"type": "string", "format": "date-time"},
        "Without an id: what you decided in one call, whose answer has this time.",
    ),
]
KIND = c.text_check(20, min_length=1)
ROUTES = {
    "MergeRequestViewSet": {
        "create": route("Ask for a merge", {201: REQUEST}, m.MergeRequestInput),
        "list": route(
            "List merge requests, newest first",
            {200: page(REQUEST)},
            None,
            [*list_filter_parameters(MergeRequestFilterSet), *paging_by(MERGE_REQUESTS)],
        ),
        "retrieve": route("Read a merge request with its checks", {200: DETAIL}),
        "plan": route(
            "What it would merge, and what was decided",
            {200: m.MergePlanShape},
            None,
            [*PLAN_FILTERS, *PAGING],
        ),
        "decisions": route(
            "Decide conflicts, one by one or by rule", {200: m.SettledShape}, m.DecisionsInput
        ),
        "withdraw_decision": route(
            "Make conflicts undecided again", {200: REQUEST}, None, [*DECIDED, *PLAN_FILTERS[:1]]
        ),
        "withdraw_approval": route("Take one's own approval back", {200: REQUEST}),
        "approve": route("Approve it as the source is now", {200: DETAIL}, m.ApproveInput),
        "reject": route("Close it without a merge", {200: REQUEST}, m.RejectInput),
        "merge": route("Merge it", {200: m.MergedShape}, m.MergeRequestMergeInput),
        "revert": route("Take its merge back by a new commit", {200: REQUEST}, StatedInput),
    }
}


def parse_key(text: str) -> UUID | int:
    """Parse the id or the number of a merge request. Raises Invalid."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else parse_id(text)


@serve_at("merge-requests", "merge-request")
@document_routes(ROUTES, m, sys.modules[__name__])
class MergeRequestViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = MergeRequestFilterSet
    long_actions = frozenset({"decisions", "approve", "merge"})

    def create(self, request: Request) -> Response:
        payload = Input(request)
        actor = payload.take_actor(get_request_actor(request))
        fields = payload.take_fields(MERGE_REQUEST.field_names(Use.CREATE), needed=["source"])
        checks = MERGE_REQUEST.field_checks(Use.CREATE)
        values = {name: checks[name](name, value) for name, value in fields.items()}
        row = merge_request_engine.create_request(actor=actor, **values)
        return build_row_response(m.request_shape(row), 201)

    def list(self, request: Request) -> Response:
        payload = Input(request)
        filters = {name: payload.take_value(name, c.plain_text, "") for name in ("state", "source", "target")}
        paging = payload.take_paging(order=MERGE_REQUESTS)
        payload.refuse_unknown()
        rows = merge_request_engine.list_requests(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(rows, m.request_shape))

    def retrieve(self, request: Request, pk: str) -> Response:
        request_id = parse_key(pk)
        Input(request).refuse_unknown()
        found = merge_request_engine.check_request(request_id=request_id, actor=get_request_actor(request))
        return Response(m.detail_shape(found))

    @action(detail=True, methods=["get"])
    def plan(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        part = take_page(payload)
        payload.refuse_unknown()
        found = merge_request_engine.plan_request(
            request_id=request_id, actor=get_request_actor(request), **part
        )
        return Response(m.request_plan_shape(found))

    @action(detail=True, methods=["post"])
    def decisions(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        values = {
            "decisions": payload.take_value("decisions", parse_decisions, ()),
            "choice": payload.take_value("choice", c.plain_text, ""),
            "reasons": payload.take_value("reasons", parse_names, ()),
            "kind": payload.take_value("type", c.text_check(20), ""),
            "only_open": payload.take_value("only_open", c.check_boolean, False),
        }
        payload.refuse_unknown()
        keep = self.keep_answer(m.settled_shape)
        found = merge_request_engine.decide_conflicts(request_id=request_id, actor=actor, keep=keep, **values)
        return Response(m.settled_shape(found))

    @decisions.mapping.delete
    def withdraw_decision(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        uid, kind = payload.take_value("id", c.parse_uuid), payload.take_value("type", KIND)
        decided_at = payload.take_value("decided_at", c.parse_time)
        payload.refuse_unknown()
        which: dict[str, Any] = {"request_id": request_id, "actor": actor}
        if (uid is None) == (decided_at is None) or (uid is None and kind):
            raise Invalid("Name one memory by id and type, or a call by decided_at.", field="id")
        if uid is None:
            row = merge_request_engine.withdraw_decisions(decided_at=decided_at, **which)
        else:
            row = merge_request_engine.withdraw_decision(kind=kind or "fact", uid=uid, **which)
        return Response(m.request_shape(row))

    @action(detail=True, methods=["post"])
    def approve(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        read = {
            "source_seq": payload.take_value("source_seq", parse_integer),
            "decided_at": payload.take_value("decided_at", c.parse_time),
        }
        payload.refuse_unknown()
        keep = self.keep_answer(m.detail_shape)
        found = merge_request_engine.approve_request(request_id=request_id, actor=actor, keep=keep, **read)
        return Response(m.detail_shape(found))

    @approve.mapping.delete
    def withdraw_approval(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        row = merge_request_engine.withdraw_approval(request_id=request_id, actor=actor)
        return Response(m.request_shape(row))

    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        reason = payload.take_value("reason", c.plain_text, "")
        payload.refuse_unknown()
        row = merge_request_engine.reject_request(request_id=request_id, actor=actor, reason=reason)
        return Response(m.request_shape(row))

    @action(detail=True, methods=["post"])
    def merge(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        actor, force = payload.take_actor(get_request_actor(request)), take_force(payload)
        payload.refuse_unknown()
        keep = self.keep_answer(m.merged_shape)
        done = merge_request_engine.merge_request(request_id=request_id, actor=actor, keep=keep, **force)
        return Response(m.merged_shape(done))

    @action(detail=True, methods=["post"])
    def revert(self, request: Request, pk: str) -> Response:
        request_id, payload = parse_key(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        row = merge_request_engine.revert_request(request_id=request_id, actor=actor)
        return Response(m.request_shape(row))
