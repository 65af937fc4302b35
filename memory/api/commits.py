"""/commits: read, undone."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import shapes
from memory.api.base import Resource, actor_of
from memory.api.reading import Input, identity
from memory.api.schema import documented
from memory.engines.reverts import RevertEngine

ENGINE = RevertEngine()


@documented
class CommitViewSet(Resource):
    lookup_value_regex = "[^/]+"

    def retrieve(self, request: Request, pk: str) -> Response:
        commit_id = identity(pk)
        Input(request).end()
        return Response(shapes.commit(ENGINE.get_commit(commit_id=commit_id, actor=actor_of(request))))

    @action(detail=True, methods=["post"])
    def revert(self, request: Request, pk: str) -> Response:
        commit_id, given = identity(pk), Input(request)
        actor = given.actor(actor_of(request))
        given.end()
        return Response(shapes.commit(ENGINE.revert_commit(commit_id=commit_id, actor=actor)), status=201)
