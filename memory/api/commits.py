"""/commits: read and revert."""

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import commits as commit_shapes
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.branch_schema import documented
from memory.api.routes import serve_at
from memory.engines.branches.commit_changes import CommitEngine
from memory.engines.branches.revert import RevertEngine
from memory.operations.inputs import Input, parse_id

commit_engine, revert_engine = CommitEngine(), RevertEngine()


@serve_at("commits", "commit")
@documented
class CommitViewSet(ResourceViewSet):
    lookup_value_regex = "[^/]+"

    def retrieve(self, request: Request, pk: str) -> Response:
        commit_id = parse_id(pk)
        Input(request).refuse_unknown()
        found = commit_engine.get_commit(commit_id=commit_id, actor=get_request_actor(request))
        return Response(commit_shapes.commit_detail(found))

    @action(detail=True, methods=["post"])
    def revert(self, request: Request, pk: str) -> Response:
        commit_id, payload = parse_id(pk), Input(request)
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        return Response(
            commit_shapes.commit(revert_engine.revert_commit(commit_id=commit_id, actor=actor)), status=201
        )
