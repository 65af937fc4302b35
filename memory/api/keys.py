"""/keys: create, list, rotate, revoke. A token is returned once."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.answers import facts as shapes
from memory.api.base import Resource, build_row_response, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import documented
from memory.engines.access.keys import KeyEngine
from memory.engines.fields.keys import KEY_FILTERS
from memory.engines.fields.orders import KEYS
from memory.engines.support import validation as c
from memory.filters import KeyFilterSet
from memory.operations.inputs import Input, parse_id, parse_integer, parse_names

key_engine = KeyEngine()


@serve_at("keys", "key")
@documented
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
        return Response(shapes.page_shape(page, shapes.key))

    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        key_id = parse_id(pk)
        Input(request).refuse_unknown()
        return build_row_response(
            shapes.key(key_engine.revoke_key(key_id=key_id, actor=get_request_actor(request)))
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
    return build_row_response({**shapes.key(key), "token": token}, 201)
