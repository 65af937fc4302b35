"""/review-items: the questions that wait for a person."""

from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import shapes
from memory.api.base import Resource, actor_of
from memory.api.filters import ReviewFilterSet
from memory.api.reading import Input
from memory.api.schema import documented
from memory.engines import cleaning as c
from memory.engines.review import ReviewEngine


@documented
class ReviewViewSet(Resource):
    filterset_class = ReviewFilterSet

    def list(self, request: Request) -> Response:
        given = Input(request)
        branch, paging = given.branch(default=""), given.paging()
        wanted = {name: given.take(name, c.plain_text, "") for name in ("status", "kind")}
        given.end()
        page = ReviewEngine().list_items(actor=actor_of(request), branch_name=branch, **wanted, **paging)
        return Response(shapes.page(page, shapes.review))
