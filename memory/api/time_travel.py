"""/time-travel: read what a branch held at a point of its past, kind by kind; nothing is written."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from drf_spectacular.drainage import set_override
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from memory.actors import Actor
from memory.answers import capture as capture_shapes
from memory.answers import commits as commit_shapes
from memory.answers import facts as shapes
from memory.answers import rendering
from memory.answers.declared_serializers import POINT
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import BRANCH, PAGING, TEXT, document_routes, query, route
from memory.engines.branches.time_travel import TimeTravelEngine
from memory.engines.facts.engine import FactEngine
from memory.engines.fields.capture import OBSERVATION_FILTERS, RELATION_FILTERS
from memory.engines.fields.facts import FACT_FILTERS
from memory.engines.fields.filters import FilterField
from memory.engines.graph.engine import RelationEngine
from memory.engines.sessions.observations import ObservationEngine, ObservationFilter
from memory.engines.support import validation as c
from memory.engines.support.pagination import Page
from memory.filters import FactFilterSet
from memory.operations.inputs import Input, parse_point

Render = Callable[[Any], dict[str, Any]]
time_travel_engine = TimeTravelEngine()


@dataclass(frozen=True)
class Reader:
    """How a kind of memory is read: its filters, its page, and how a row is shown."""

    filters: Iterable[FilterField]
    list_rows: Callable[..., Page]
    render_rows: Callable[[str, Actor], Render]


def list_facts(filters: dict[str, Any], **options: Any) -> Page:
    return FactEngine().list_facts(filters=FactFilterSet.parse_values(filters), **options)


def list_observations(filters: dict[str, Any], **options: Any) -> Page:
    return ObservationEngine().list_observations(filters=ObservationFilter.from_values(filters), **options)


def list_relations(filters: dict[str, Any], **options: Any) -> Page:
    flag = c.check_flag("open_only", filters.pop("open_only", False))
    names = {name: c.text_check(200)(name, value) for name, value in filters.items()}
    return RelationEngine().list_relations(open_only=flag, **names, **options)


def render_with_branch(render: rendering.Render) -> Callable[[str, Actor], Render]:
    """Return what makes the renderer of rows that are read through a branch."""
    return lambda branch, _actor: lambda row: render(row, branch=branch)


READERS: dict[str, Reader] = {
    "fact": Reader(FACT_FILTERS, list_facts, render_with_branch(shapes.fact)),
    "relation": Reader(RELATION_FILTERS, list_relations, render_with_branch(capture_shapes.relation)),
    "observation": Reader(
        OBSERVATION_FILTERS, list_observations, render_with_branch(capture_shapes.observation)
    ),
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
        reader = READERS[kind]
        filters = payload.take_unchecked(one.name for one in reader.filters)
        payload.refuse_unknown()
        point = time_travel_engine.find_point(branch_name=branch, at=at, actor=actor)
        page = reader.list_rows(filters, actor=actor, branch_name=branch, at=at, **paging)
        commit = commit_shapes.titled_commit(point.commit) if point.commit else None
        about = {"branch": branch, "seq": point.seq, "commit": commit, "type": kind}
        return Response(about | rendering.page_shape(page, reader.render_rows(branch, actor)))
