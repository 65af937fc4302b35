"""OpenAPI descriptions of the routes of erasures."""

from memory.answers import erasures as shapes
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, route
from memory.engines.fields.orders import ERASURES
from memory.filters import ErasureFilterSet

PLAN_OR_RESULT = {200: shapes.ErasurePlanShape, 201: shapes.ErasureShape, 202: shapes.ErasureShape}

documented = document_routes(
    {
        "ErasureViewSet": {
            "create": route("Erase, or say what would be erased", PLAN_OR_RESULT, shapes.ErasureInput),
            "list": route(
                "List erasures, newest first",
                {200: page(shapes.ErasureShape)},
                None,
                [*list_filter_parameters(ErasureFilterSet), *paging_by(ERASURES)],
            ),
            "retrieve": route("Read an erasure, and check that it holds", {200: shapes.ErasureCheckShape}),
        },
    },
    shapes,
)
