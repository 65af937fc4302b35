"""/signing-key: the public half of the key with which the project signs its bundles."""

from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import bundles as shapes
from curation.engines.bundles.keys import BundleKeyEngine
from memory.api.base import ResourceViewSet, get_request_actor
from memory.api.routes import serve_at
from memory.api.schema import document_routes, route
from memory.exceptions import NotFound
from memory.operations.inputs import Input

key_engine = BundleKeyEngine()
ROUTES = {
    "SigningKeyViewSet": {
        "list": route("Read the public key of the project", {200: shapes.SigningKeyShape}),
        "create": route("Make the project's key, or a new one", {201: shapes.SigningKeyShape}),
    }
}


@serve_at("signing-key", "signing-key")
@document_routes(ROUTES, shapes)
class SigningKeyViewSet(ResourceViewSet):
    def list(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        row = key_engine.get_signing_key(actor=get_request_actor(request))
        if row is None:
            raise NotFound("This project has no signing key.")
        return Response(shapes.render_signing_key(row))

    def create(self, request: Request) -> Response:
        Input(request).refuse_unknown()
        row = key_engine.make_signing_key(actor=get_request_actor(request))
        return Response(shapes.render_signing_key(row), status=201)
