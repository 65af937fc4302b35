"""/keys: made, listed, rotated, revoked. A token is told once."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from memory.api import shapes
from memory.api.base import Resource, actor_of, one
from memory.api.reading import Input, identity, names, whole
from memory.api.schema import documented
from memory.engines import cleaning as c
from memory.engines.keys import KeyEngine
from memory.exceptions import Invalid

ENGINE = KeyEngine()


@documented
class KeyViewSet(Resource):
    lookup_value_regex = "[^/]+"

    def create(self, request: Request) -> Response:
        given = Input(request)
        wanted = {
            "label": given.take("label", c.plain_text),
            "scopes": given.take("scopes", names),
            "branch_patterns": given.take("branch_patterns", names, []),
            "agent_id": given.take("agent_id", c.plain_text, ""),
            "default_branch": given.take("default_branch", c.text(200), ""),
            "rate_per_minute": given.take("rate_per_minute", whole, 6000),
            "expires_at": given.take("expires_at", c.moment),
        }
        given.end()
        for name in ("label", "scopes"):
            if wanted[name] is None:
                raise Invalid("{field} is needed.", field=name)
        return _told(*ENGINE.create_key(actor=actor_of(request), **wanted))

    def list(self, request: Request) -> Response:
        given = Input(request)
        paging = given.paging()
        given.end()
        page = ENGINE.list_keys(actor=actor_of(request), **paging)
        return Response(shapes.page(page, shapes.key))

    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, pk: str) -> Response:
        key_id = identity(pk)
        Input(request).end()
        return one(shapes.key(ENGINE.revoke_key(key_id=key_id, actor=actor_of(request))))

    @action(detail=True, methods=["post"])
    def rotate(self, request: Request, pk: str) -> Response:
        key_id, given = identity(pk), Input(request)
        grace = given.take("grace_seconds", whole, 0)
        given.end()
        return _told(*ENGINE.rotate_key(key_id=key_id, actor=actor_of(request), grace_seconds=grace))

    def kept(self, data: Any) -> Any:
        """Never the token: only its hash is stored."""
        return {**data, "token": None} if "token" in data else data


def _told(key: Any, token: str) -> Response:
    return one({**shapes.key(key), "token": token}, 201)
