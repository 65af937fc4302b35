"""/bundles/upload: a document, which is the whole body of a request."""

from typing import Any

from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from curation.answers import bundles as shapes
from curation.engines.bundles.engine import KnowledgeBundleEngine
from curation.operations.bundles import BUNDLES
from memory.api.base import get_request_actor
from memory.api.operation_views import build_view
from memory.api.routes import serve_at
from memory.api.schema import TEXT, document_routes, query, route
from memory.engines.support import validation as c
from memory.operations.inputs import Input

bundle_engine = KnowledgeBundleEngine()
FLAG = {"type": "boolean", "default": False}
UPLOAD = [
    query("branch", TEXT, "Import it on this branch; without it and dry_run it is only kept."),
    query("import", FLAG, "true imports it without a branch too: on one of its own."),
    query("name", TEXT, "Keep it under another name."),
    query("dry_run", FLAG, "true tells what an import would do, and writes nothing."),
    query("require_trusted", FLAG, "true refuses an import that nobody trusted has signed."),
]
ROUTES = {
    "BundleViewSet": {
        "upload": route(
            "Keep a document, and import it",
            {200: shapes.BundleUploadShape, 201: shapes.BundleUploadShape},
            shapes.BundleDocumentShape,
            UPLOAD,
        ),
    }
}
DeclaredView: Any = build_view(BUNDLES)


@serve_at("bundles", "bundle")
@document_routes(ROUTES, shapes)
class BundleViewSet(DeclaredView):
    @action(detail=False, methods=["post"])
    def upload(self, request: Request) -> Response:
        payload = Input(request)
        document, payload.body = payload.body, {}
        options: dict[str, Any] = {
            "branch_name": payload.take_branch(default=""),
            "dry_run": payload.take_value("dry_run", c.check_flag, False),
            "require_trusted": payload.take_value("require_trusted", c.check_flag, False),
            "name": payload.take_value("name", c.text_check(100), ""),
        }
        imports = payload.take_value("import", c.check_flag, False) or bool(options["branch_name"])
        actor = payload.take_actor(get_request_actor(request))
        payload.refuse_unknown()
        found = bundle_engine.upload_bundle(document=document, imports=imports, actor=actor, **options)
        return Response(shapes.render_upload(found), status=201 if found.bundle else 200)
