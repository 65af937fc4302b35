"""/time-travel: read what a branch held at a point of its past, kind by kind; nothing is written."""

import sys
from typing import Any

from drf_spectacular.drainage import set_override
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import commits as commit_shapes
from memory.answers.declared_serializers import POINT
from memory.answers.rendering import page_shape
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, PAGING, TEXT, document_routes, query, route
from memory.engines.branches.time_travel import TimeTravelEngine
from memory.engines.support import validation as c
from memory.operations.base import Operation
from memory.operations.facts import FACTS
from memory.operations.inputs import Input, parse_point
from memory.operations.observations import OBSERVATIONS
from memory.operations.parameters import take_parameters
from memory.operations.relations import RELATIONS

time_travel_engine = TimeTravelEngine()
READERS: dict[str, Operation] = {  # the list of each kind
    "fact": FACTS.operations["list"],
    "relation": RELATIONS.operations["list"],
    "observation": OBSERVATIONS.operations["list"],
}


class PastShape(s.Serializer):
    """What a branch held at a point: a page of one kind of memory."""

    branch = s.CharField()
    seq = s.IntegerField(help_text="The point on the branch; below 0 one of an ancestor, before the fork.")
    commit = commit_shapes.TitledCommitShape(
        allow_null=True, help_text="The newest commit that it shows; null where there was none yet."
    )
    type = s.CharField()
    results = s.ListField(child=s.DictField(), help_text="Rows as the lists of this kind have them.")
    next = s.CharField(allow_null=True)
    previous = s.CharField(allow_null=True)


set_override(PastShape, "many", False)  # the route is that of a list, the answer is one page
POINT_IN_TIME = query("at", {"anyOf": POINT["anyOf"]}, POINT["description"], required=True)
KINDS = ("fact", "relation", "observation", "conversation", "message")  # of all apps, for the document
KIND = query("type", {**TEXT, "enum": list(KINDS), "default": "fact"}, "What to read.")
CONVERSATION = query(
    "conversation_id", {**TEXT, "format": "uuid"}, "Whose messages; needed for them, and for them alone."
)
ROUTES = {
    "TimeTravelViewSet": {
        "list": route(
            "Read what a branch held at a point; with the filters of this kind's list",
            {200: PastShape},
            None,
            [POINT_IN_TIME, KIND, CONVERSATION, BRANCH, *PAGING],
        )
    }
}


@serve_at("time-travel", "time-travel")
@document_routes(ROUTES, sys.modules[__name__])
class TimeTravelViewSet(ResourceViewSet):
    def list(self, request: Request) -> Response:
        payload, actor = Input(request), get_request_actor(request)
        branch, paging = payload.take_branch(), payload.take_paging()
        at = payload.take_value("at", parse_point)
        kind = payload.take_value("type", c.one_of(list(READERS)), "fact")
        operation = READERS[kind]
        arguments = {"branch_name": branch, "at": at, **paging, **take_filters(operation, payload)}
        payload.refuse_unknown()
        point = time_travel_engine.find_point(branch_name=branch, at=at, actor=actor)
        page = operation.run(actor=actor, **arguments)
        commit = commit_shapes.titled_commit(point.commit) if point.commit else None
        about = {"branch": branch, "seq": point.seq, "commit": commit, "type": kind}
        return Response(about | page_shape(page, operation.bind_render({"actor": actor, **arguments})))


def take_filters(operation: Operation, payload: Input) -> dict[str, Any]:
    """Take what narrows a list, and the row that it is about, such as the conversation of messages."""
    places = {name: payload.take_needed(name, c.parse_uuid) for name in operation.places}
    filters = operation.select_unpaged(operation.parameters)
    return places | take_parameters([one for one in filters if one.name not in ("branch", "at")], payload)
