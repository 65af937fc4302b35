"""/review-items: the questions that wait for a person, and their answers."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import shapes
from memory.api.base import Resource, actor_of
from memory.api.filters import ReviewFilterSet
from memory.api.reading import Input, identity, versions, word
from memory.api.schema import documented
from memory.engines import cleaning as c
from memory.engines.review import ReviewEngine
from memory.exceptions import Invalid

ENGINE = ReviewEngine()


@documented
class ReviewViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = ReviewFilterSet

    def list(self, request: Request) -> Response:
        given = Input(request)
        branch, paging = given.branch(default=""), given.paging()
        wanted = {name: given.take(name, c.plain_text, "") for name in ("status", "kind")}
        fact_id = given.take("fact_id", c.optional(c.identifier))
        given.end()
        page = ENGINE.list_items(
            actor=actor_of(request), branch_name=branch, fact_id=fact_id, **wanted, **paging
        )
        return Response(shapes.page(page, shapes.review))

    def retrieve(self, request: Request, pk: str) -> Response:
        item_id = identity(pk)
        Input(request).end()
        return Response(shapes.review(ENGINE.get_item(item_id=item_id, actor=actor_of(request))))

    @action(detail=True, methods=["post"])
    def resolve(self, request: Request, pk: str) -> Response:
        item_id, given = identity(pk), Input(request)
        actor = given.actor(actor_of(request))
        wanted = {
            "decision": given.take("decision", word),
            "keep": given.take("keep", c.optional(c.identifier)),
            "expected_versions": given.take("expected_versions", versions),
            **{name: given.take(name, c.plain_text, "") for name in ("reason", "new_fact_text")},
        }
        given.end()
        if wanted["decision"] is None:
            raise Invalid("{field} is needed.", field="decision")
        return Response(shapes.resolved(ENGINE.resolve(item_id=item_id, actor=actor, **wanted)))
