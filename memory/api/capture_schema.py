"""OpenAPI descriptions of the routes of sessions, observations and relations."""

from memory.answers import capture as shapes
from memory.api import capture_requests as r
from memory.api.schema import (
    AT,
    BRANCH,
    PAGING,
    TEXT,
    document_routes,
    list_filter_parameters,
    page,
    paging_by,
    query,
    route,
    search_args,
)
from memory.engines.support.ordering import BY_AGE
from memory.filters import ObservationFilterSet, RelationFilterSet

DEPTH = query("depth", {"type": "integer", "minimum": 1, "maximum": 6, "default": 2}, "Edges away.")
ENTITY = query("entity", {"type": "string", "maxLength": 200}, "Where to begin.", required=True)
OF_TYPE = query("relation_type", TEXT, "Only edges of this type; type is understood too.")
LOOKING = search_args("max_tokens", "include", "current_cycle")
OBSERVATIONS = {200: page(shapes.ObservationShape)}

documented = document_routes(
    {
        "ObservationViewSet": {
            "create": route("Record an observation", {201: shapes.ObservationShape}, r.ObservationInput),
            "list": route(
                "List observations, newest first",
                OBSERVATIONS,
                None,
                [BRANCH, AT, *paging_by(BY_AGE), *list_filter_parameters(ObservationFilterSet)],
            ),
            "timeline": route(
                "What was observed between two times",
                OBSERVATIONS,
                None,
                [BRANCH, *PAGING, *list_filter_parameters(ObservationFilterSet)],
            ),
            "search": route(
                "Search observations",
                {200: shapes.ObservationsFoundShape},
                None,
                [*LOOKING, *list_filter_parameters(ObservationFilterSet)],
            ),
            "retrieve": route("Read an observation", {200: shapes.ObservationShape}, None, [BRANCH, AT]),
        },
        "RelationViewSet": {
            "create": route(
                "State a relation",
                {201: shapes.WrittenRelationShape, 200: shapes.WrittenRelationShape},
                r.RelationInput,
            ),
            "list": route(
                "List relations",
                {200: page(shapes.RelationShape)},
                None,
                [BRANCH, AT, *paging_by(BY_AGE), *list_filter_parameters(RelationFilterSet)],
            ),
            "retrieve": route("Read a relation", {200: shapes.RelationShape}, None, [BRANCH, AT]),
            "graph": route(
                "What is connected to an entity",
                {200: shapes.GraphShape},
                None,
                [ENTITY, OF_TYPE, DEPTH, BRANCH, AT],
            ),
            "close": route("Say until when it was true", {200: shapes.RelationShape}, r.CloseInput),
        },
        "SessionViewSet": {
            "next_context": route(
                "What the next session would be told at its start; nothing is counted as told",
                {200: shapes.NextContextShape},
                None,
                [BRANCH, query("repository", TEXT, "As its hooks name it, such as github.com/acme/shop.")],
            ),
        },
    },
    shapes,
    r,
)
