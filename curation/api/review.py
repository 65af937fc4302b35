"""/review-items: questions for a person, and their answers."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import review as shapes
from curation.engines.review.review_queue import ReviewEngine
from curation.filters import ReviewFilterSet
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import PAGING, document_routes, list_filter_parameters, page, route
from memory.engines.support import validation as c
from memory.exceptions import Invalid
from memory.operations.inputs import Input, parse_id, parse_versions, word

review_engine = ReviewEngine()
EXAMPLE = {"decision": "keep_both", "reason": "Two caches."}
ROUTES = {
    "ReviewViewSet": {
        "list": route(
            "What waits for a person, newest first",
            {200: page(shapes.QuestionShape)},
            None,
            [*list_filter_parameters(ReviewFilterSet), *PAGING],
        ),
        "retrieve": route("Read a question", {200: shapes.QuestionShape}),
        "resolve": route(
            "Answer a question", {200: shapes.ResolvedShape}, shapes.ResolveInput, example=EXAMPLE
        ),
    },
}


@serve_at("review-items", "review-item")
@document_routes(ROUTES, shapes)
class ReviewViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"
    filterset_class = ReviewFilterSet

    def list(self, request: Request) -> Response:
        payload = Input(request)
        branch, paging = payload.take_branch(default=""), payload.take_paging()
        requested = {name: payload.take_value(name, c.plain_text, "") for name in ("status", "kind")}
        fact_id = payload.take_value("fact_id", c.optional_check(c.parse_uuid))
        payload.refuse_unknown()
        found = review_engine.list_items(
            actor=get_request_actor(request), branch_name=branch, fact_id=fact_id, **requested, **paging
        )
        return Response(page_shape(found, shapes.review_shape))

    def retrieve(self, request: Request, pk: str) -> Response:
        item_id = parse_id(pk)
        Input(request).refuse_unknown()
        return Response(
            shapes.review_shape(review_engine.get_item(item_id=item_id, actor=get_request_actor(request)))
        )

    @action(detail=True, methods=["post"])
    def resolve(self, request: Request, pk: str) -> Response:
        item_id, payload = parse_id(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        requested = {
            "decision": payload.take_value("decision", word),
            "keep": payload.take_value("keep", c.optional_check(c.parse_uuid)),
            "expected_versions": payload.take_value("expected_versions", parse_versions),
            **{name: payload.take_value(name, c.plain_text, "") for name in ("reason", "new_fact_text")},
        }
        payload.refuse_unknown()
        if requested["decision"] is None:
            raise Invalid("{field} is needed.", field="decision")
        return Response(
            shapes.resolved_shape(review_engine.resolve_item(item_id=item_id, actor=actor, **requested))
        )
