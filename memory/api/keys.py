"""/keys: create, list, rotate, revoke. A token is returned once."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import keys as key_shapes
from memory.answers import requests as r
from memory.answers.rendering import page_shape
from memory.api.base import Resource, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, list_filter_parameters, page, paging_by, route
from memory.engines.access.keys import KeyEngine
from memory.engines.fields.keys import KEY_FILTERS
from memory.engines.fields.orders import KEYS
from memory.engines.support import validation as c
from memory.filters import KeyFilterSet
from memory.operations.inputs import Input, parse_id, parse_integer, parse_names

key_engine = KeyEngine()
ROUTES = {
    "KeyViewSet": {
        "create": route("Make an API key; its token is told once", {201: key_shapes.NewKeyShape}, r.KeyInput),
        "list": route(
            "List the project's keys, newest first",
            {200: page(key_shapes.KeyShape)},
            None,
            [*list_filter_parameters(KeyFilterSet), *paging_by(KEYS)],
        ),
        "revoke": route("End a key", {200: key_shapes.KeyShape}),
        "rotate": route("A new key in the place of an old one", {201: key_shapes.NewKeyShape}, r.RotateInput),
    },
}


@serve_at("keys", "key")
@document_routes(ROUTES, key_shapes, r)
class KeyViewSet(Resource):
    lookup_value_regex = "[^/]+"
    filterset_class = KeyFilterSet

    def create(self, request: Request) -> Response:
        payload = Input(request)
        requested = {
            "label": payload.take_needed("label", c.plain_text),
            "scopes": payload.take_needed("scopes", parse_names),
            "branch_patterns": payload.take_value("branch_patterns", parse_names, []),
            "agent_id": payload.take_value("agent_id", c.plain_text, ""),
            "default_branch": payload.take_value("default_branch", c.text_check(200), ""),
            "rate_per_minute": payload.take_value("rate_per_minute", parse_integer, 6000),
            "expires_at": payload.take_value("expires_at", c.parse_time),
        }
        payload.refuse_unknown()
        return new_key_response(*key_engine.create_key(actor=get_request_actor(request), **requested))

    def list(self, request: Request) -> Response:
        payload = Input(request)
        filters = payload.take_filters(KEY_FILTERS)
        paging = payload.take_paging(order=KEYS)
        payload.refuse_unknown()
        page = key_engine.list_keys(actor=get_request_actor(request), **filters, **paging)
        return Response(page_shape(page, key_shapes.key))

    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        key_id = parse_id(pk)
        Input(request).refuse_unknown()
        return build_row_response(
            key_shapes.key(key_engine.revoke_key(key_id=key_id, actor=get_request_actor(request)))
        )

    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, pk: str) -> Response:
        key_id, payload = parse_id(pk), Input(request)
        grace = payload.take_value("grace_seconds", parse_integer, 0)
        take_over = payload.take_value("take_over", c.check_boolean, False)
        payload.refuse_unknown()
        actor = get_request_actor(request)
        made = key_engine.rotate_key(key_id=key_id, actor=actor, grace_seconds=grace, take_over=take_over)
        return new_key_response(*made)

    def storable_data(self, data: Any) -> Any:
        """Return the answer without the token: only its hash is stored."""
        return {**data, "token": None} if "token" in data else data


def new_key_response(key: Any, token: str) -> Response:
    return build_row_response({**key_shapes.key(key), "token": token}, 201)
