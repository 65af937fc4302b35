"""/trusted-keys: whose signatures the project trusts."""

from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import bundles as shapes
from curation.engines.bundles.keys import BundleKeyEngine
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import GONE, document_routes, route
from memory.engines.support import validation as c
from memory.operations.inputs import Input

key_engine = BundleKeyEngine()
ROUTES = {
    "TrustedKeyViewSet": {
        "create": route("Trust a key", {201: shapes.TrustedKeyShape}, shapes.TrustedKeyInput),
        "list": route("List trusted keys by name", {200: shapes.TrustedKeysShape}),
        "destroy": route("Trust a key no more", {204: GONE}),
    }
}


@serve_at("trusted-keys", "trusted-key")
@document_routes(ROUTES, shapes)
class TrustedKeyViewSet(ResourceViewSet):
    lookup_field = "name"
    lookup_value_regex = "[^/]+"

    def create(self, request: Request) -> Response:
        payload = Input(request)
        name = payload.take_value("name", c.plain_text, "")
        public_key = payload.take_value("public_key", c.plain_text, "")
        payload.refuse_unknown()
        made = key_engine.trust_key(name=name, public_key=public_key, actor=get_request_actor(request))
        return Response(shapes.render_trusted_key(made), status=201)

    def list(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        return Response(shapes.render_keys(key_engine.list_trusted_keys(actor=get_request_actor(request))))

    def destroy(self, request: Request, name: str) -> Response:
        Input(request).refuse_unknown()
        key_engine.distrust_key(name=name, actor=get_request_actor(request))
        return Response(status=204)
